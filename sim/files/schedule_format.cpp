// A schedule is only as good as the topology and collective that it is read for: fingerprints tell
// others apart, and messages name both sides.

#include "sim/files/schedule_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::schedule_format {

void check_version(std::int64_t found) {
  if (found > version)
    throw InputError(
        fmt::format("format version {} is newer than this program reads ({})", found, version));
  if (found < 1) throw InputError(fmt::format("there is no format version {}", found));
}

void check_topology(const std::string& name, std::uint64_t fingerprint, const Topology& topology) {
  if (fingerprint == topology.fingerprint()) return;
  throw InputError(fmt::format("schedule was made for topology \"{}\" (fingerprint {:016x}), "
                               "not for \"{}\" (fingerprint {:016x})",
                               name, fingerprint, topology.name(), topology.fingerprint()));
}

void check_collective(std::uint64_t fingerprint, const Collective& collective) {
  if (fingerprint == collective.fingerprint()) return;
  throw InputError(fmt::format("schedule was made for a collective with fingerprint {:016x}, but "
                               "what the file describes ({}) has {:016x}",
                               fingerprint, collective.name(), collective.fingerprint()));
}

CollectiveSpec named_part(CollectiveKind kind, Bytes size, std::vector<NodeId> group, NodeId root,
                          std::uint32_t chunks_per_shard) {
  CollectiveSpec spec{kind, size, std::move(group), 0, chunks_per_shard};
  if (!has_root(kind)) return spec;
  const auto member = std::find(spec.group.begin(), spec.group.end(), root);
  if (member == spec.group.end())
    throw InputError(fmt::format("root {} is not in the group", root.value));
  spec.root = static_cast<std::uint32_t>(member - spec.group.begin());
  return spec;
}

std::uint64_t most_chunks(std::uint64_t transfers) { return 1'000'000 + 2 * transfers; }

} // namespace tutti::schedule_format
