// Schedule files: JSON for people, a compact binary (zstd) for large ones; both carry a format
// version, the fingerprints of topology and collective, and the collective itself.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <string>
#include <string_view>

namespace tutti {

struct ScheduleFile {
  std::string topology_name;
  std::string algorithm;
  TimeModel time_model; ///< a hint: what the schedule was made for
  Collective collective;
  Schedule schedule;
};

/// Text as JSON (one transfer a line) if the name ends in `.json`, else binary.
/// Errors: InputError where the file can't be written; nothing half-written is left.
void write_schedule(const std::string& file, const Topology& topology, const ScheduleFile& content);

/// Reads either format (told by content). Errors: InputError for a truncated or malformed file, a
/// newer format version, an unknown key, ids out of range, or a schedule made for another topology
/// (both fingerprints and names in the message).
[[nodiscard]] ScheduleFile read_schedule(const std::string& file, const Topology& topology);

/// The same, from memory; `source_name` stands in messages.
[[nodiscard]] ScheduleFile parse_schedule(std::string_view content, const std::string& source_name,
                                          const Topology& topology);

} // namespace tutti
