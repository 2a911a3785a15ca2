// What the two forms of schedule files share: the version, and the checks of what a file says of
// its topology and collective.
#pragma once

#include "sim/collective_builder.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/error.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::schedule_format {

inline constexpr std::int64_t version = 6; ///< the newest
/// What a schedule is written as: 6 says shares that differ; 5, reductions in compact form; 4, what
/// shares a send; 3, dependencies; 2, all else; 1 had other names for keys of JSON.
[[nodiscard]] inline std::int64_t version_of(const Schedule& schedule) {
  return schedule.has_contiguous() ? 4 : schedule.has_dependencies() ? 3 : 2;
}
[[nodiscard]] inline std::int64_t version_of(const CompactSchedule& compact) {
  return compact.reductions.size() > 0 ? 5 : 2;
}
/// The same with what its collective needs.
template <typename Form>
[[nodiscard]] std::int64_t version_of(const Form& schedule, const Collective& collective) {
  const auto are_said = [](const CollectivePart& part) { return part.shares.are_said(); };
  return std::ranges::any_of(collective.parts, are_said) ? 6 : version_of(schedule);
}

/// Errors: InputError for a version that this program doesn't know.
void check_version(std::int64_t found);
/// Errors: InputError with both names and fingerprints.
void check_topology(const std::string& name, std::uint64_t fingerprint, const Topology& topology);
/// Errors: InputError where the collective that the file describes isn't the one it was written
/// for.
void check_collective(std::uint64_t fingerprint, const Collective& collective);

/// The spec of a named part. Errors: InputError for a root outside the group.
[[nodiscard]] CollectiveSpec named_part(CollectiveKind kind, Bytes size, std::vector<NodeId> group,
                                        NodeId root, std::uint32_t chunks_per_shard);
/// How many chunks a file may ask for: all but half of them move in any collective (all_to_all
/// over 2), and a million are free.
[[nodiscard]] std::uint64_t most_chunks(std::uint64_t transfers);

/// Runs `body`; puts `place()` and a colon in front of an InputError that it throws.
template <typename Place, typename Body> auto located(const Place& place, const Body& body) {
  try {
    return body();
  } catch (const InputError& e) {
    throw InputError(place() + ": " + e.what());
  }
}

} // namespace tutti::schedule_format
