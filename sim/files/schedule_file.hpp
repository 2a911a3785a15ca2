// Schedule files: JSON for people, a compact binary (zstd) for large ones; both carry a format
// version, the fingerprints of topology and collective, and the collective itself.
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// Transfers of which a list still takes little enough memory (some 2 GB while it is expanded).
inline constexpr std::size_t most_listed = 100'000'000;

/// What is written into a file; the pointers are to what others own.
struct ScheduleContent {
  std::string_view topology_name, algorithm;
  TimeModel time_model;
  const Collective* collective = nullptr;
  const Schedule* schedule = nullptr;       ///< or `compact`
  const CompactSchedule* compact = nullptr; ///< goes before `schedule`
};

struct ScheduleFile {
  std::string topology_name;
  std::string algorithm;
  TimeModel time_model; ///< a hint: what the schedule was made for
  Collective collective;
  Schedule schedule; ///< empty where there is a compact one
  /// Instead of a list that would take too much memory.
  std::optional<CompactSchedule> compact = {};

  /// Transfers, in whatever form.
  [[nodiscard]] std::size_t size() const { return compact ? compact->size() : schedule.size(); }
  [[nodiscard]] ScheduleContent content() const {
    return {topology_name, algorithm, time_model,
            &collective,   &schedule, compact ? &*compact : nullptr};
  }
};

/// Text as JSON (one transfer a line) if the name ends in `.json`, else binary. A compact schedule
/// is written as it is, in a few MiB of memory; as JSON it is expanded first.
/// Errors: InputError where the file can't be written; nothing half-written is left.
void write_schedule(const std::string& file, const Topology& topology, const ScheduleFile& content);

/// The binary form, as it stands in a file, piece by piece. Errors: InputError where the schedule
/// repeats itself so much that a reader would refuse it; what the stream throws passes through.
void write_schedule(std::ostream& out, const Topology& topology, const ScheduleContent& content);

/// Reads either format (by its content). A compact schedule of more than `most_listed` transfers
/// stays compact. Errors: InputError for a truncated or malformed file, a newer format version, an
/// unknown key, ids out of range, or a schedule made for another topology (both fingerprints and
/// names in the message).
[[nodiscard]] ScheduleFile read_schedule(const std::string& file, const Topology& topology);

/// Expands a compact one, for what looks at each transfer. Errors: InputError with the file's name
/// where there are too many for any list.
void make_list(const std::string& file, const Topology& topology, ScheduleFile& schedule);

/// The same, from memory; `source_name` stands in messages. Up to `listed_up_to` transfers become a
/// list.
[[nodiscard]] ScheduleFile parse_schedule(std::string_view content, const std::string& source_name,
                                          const Topology& topology,
                                          std::size_t listed_up_to = most_listed);

} // namespace tutti
