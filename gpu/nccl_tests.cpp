// Columns are found by the names in the table's head, not by their position.

#include "gpu/nccl_tests.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

namespace tutti::gpu {

std::vector<runtime::NcclTiming> read_nccl_tests(std::string_view output) {
  std::vector<runtime::NcclTiming> timings;
  std::istringstream lines{std::string(output)};
  std::size_t size_at = 0, time_at = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool is_head = line.starts_with("#");
    std::istringstream words(is_head ? line.substr(1) : line);
    std::vector<std::string> fields;
    for (std::string word; words >> word;) fields.push_back(word);
    const auto position = [&](const char* name) {
      return static_cast<std::size_t>(std::ranges::find(fields, name) - fields.begin());
    };
    if (is_head) {
      if (position("size") < fields.size() && position("time") < fields.size()) {
        size_at = position("size");
        time_at = position("time");
      }
      continue;
    }
    if (time_at == 0 || fields.size() <= time_at) continue;
    std::int64_t size = 0;
    double microseconds = 0;
    if (std::istringstream(fields[size_at]) >> size &&
        std::istringstream(fields[time_at]) >> microseconds)
      timings.push_back({Bytes{size}, microseconds * 1e-6});
  }
  return timings;
}

} // namespace tutti::gpu
