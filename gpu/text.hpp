// Times, commands and figures as a person reads them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::gpu {

[[nodiscard]] std::string seconds_text(double seconds);  ///< "12.3 us", "1.25 s"
[[nodiscard]] std::string size_text(std::int64_t bytes); ///< "3 GiB", "4097 B"
[[nodiscard]] std::string percent_text(double ratio);    ///< "-2.5 %"
[[nodiscard]] std::string clock_text(double seconds);    ///< "3:05", minutes and seconds
/// "12.3 us", "52.1 GB/s", "132": in the unit's multiples where it is s, bytes or bytes/s.
[[nodiscard]] std::string figure_text(double value, std::string_view unit);
/// "90s", "1.5 s", "500ms": rounded up to a millisecond. Errors: InputError naming `what` for a
/// missing or unknown unit, and for what isn't more than nothing or more than a day.
[[nodiscard]] std::chrono::milliseconds parse_duration(std::string_view text,
                                                       const std::string& what);
/// As a shell takes it.
[[nodiscard]] std::string command_text(const std::vector<std::string>& words);

} // namespace tutti::gpu
