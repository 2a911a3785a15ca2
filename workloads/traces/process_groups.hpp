// Process groups as traces give them: in a JSON file, or in the text of a trace's node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct ProcessGroup {
  std::string name;                   ///< a number, in most traces
  std::vector<std::uint32_t> members; ///< NPUs in rank order
  auto operator<=>(const ProcessGroup&) const = default;
};

/// {"1": [0, 1], "2": []}; a group without members has all `npus`. In the file's order.
/// Errors: InputError "FILE:LINE:COLUMN: ..." for what isn't such JSON, a group that is there
/// twice, a member that isn't there or is named twice.
[[nodiscard]] std::vector<ProcessGroup>
parse_group_file(std::string_view json, const std::string& file, std::uint32_t npus);
/// The inverse.
[[nodiscard]] std::string group_file_text(const std::vector<ProcessGroup>& groups);

/// The same from PyTorch's list in quotes: ['[{"pg_name": "1", "ranks": [0, 1]}]'].
/// Errors: InputError without a place.
[[nodiscard]] std::vector<ProcessGroup> parse_trace_groups(std::string_view text,
                                                           std::uint32_t npus);

} // namespace tutti
