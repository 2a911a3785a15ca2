// Numbers with units as people and programs write them, in the words of sim/units.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::topologies {

/// "Gbps", "gbit/s" and "Gb/s" are bits ("Gb/s"), "GBps" and "GByte/s" bytes ("GB/s"). None: no
/// unit of a rate.
[[nodiscard]] std::optional<std::string> rate_unit(std::string_view unit);
/// "us" of "US" and of the micro sign. None: no unit of a time.
[[nodiscard]] std::optional<std::string> time_unit(std::string_view unit);

/// How much of the text is a number: digits, a fraction, a power of ten. None: 0.
[[nodiscard]] std::size_t number_length(std::string_view text);
/// "1.25e-3" as "0.00125", since units are read exactly. Empty: beyond all bounds.
[[nodiscard]] std::string without_power(std::string_view number);

/// "1e2 gbit/s" as "100Gb/s", "1e-6 s" as "0.000001s"; what isn't a number with a known unit stays
/// as it is.
[[nodiscard]] std::string plain_rate(std::string_view text);
[[nodiscard]] std::string plain_time(std::string_view text);
/// A message that quotes what was made of a `text`, with the text itself.
[[nodiscard]] std::string quoting(std::string message, const std::string& plain,
                                  std::string_view text);

} // namespace tutti::topologies
