// Quantities as types: bytes, time (integer picoseconds) and bandwidth never mix silently, and text
// always carries a unit. GB = 10^9, GiB = 2^30.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

struct Bytes {
  std::int64_t count = 0;
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) { return count += other.count, *this; }
};
constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }

/// A point in simulated time or a duration, in picoseconds. The range is +-106 days.
struct Time {
  std::int64_t ps = 0;
  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time& operator+=(Time other) { return ps += other.ps, *this; }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ps) * 1e-12; }
};
constexpr Time operator+(Time a, Time b) { return {a.ps + b.ps}; }
constexpr Time operator-(Time a, Time b) { return {a.ps - b.ps}; }

inline constexpr std::int64_t ps_per_s = 1'000'000'000'000;
/// 53 days: the longest that a file may give.
inline constexpr std::int64_t longest_ps = std::int64_t{1} << 62;

/// Bytes per second, decimal.
struct Bandwidth {
  std::int64_t bytes_per_second = 0;
  constexpr auto operator<=>(const Bandwidth&) const = default;
};

/// How long `size` occupies a link of `rate`: size / rate rounded up to a picosecond. The one place
/// where time is rounded; every engine, bound and synthesizer uses it.
/// Pre: size >= 0, rate > 0. Errors: InputError where the result exceeds 53 days.
[[nodiscard]] Time serialization(Bytes size, Bandwidth rate);

/// Text to quantity. A unit is required: `B kB MB GB TB KiB MiB GiB TiB`; the same with `/s`, and
/// bits as `b/s kb/s Mb/s Gb/s Tb/s`; `ps ns us ms s`. Fractions are fine where the result is whole
/// (`0.5us`, `12.5GB/s`). Errors: InputError for a missing or unknown unit, a negative, non-finite,
/// overflowing or too fine value; bandwidth must be positive.
[[nodiscard]] Bytes parse_bytes(std::string_view text);
[[nodiscard]] Time parse_time(std::string_view text);
[[nodiscard]] Bandwidth parse_bandwidth(std::string_view text);

/// The nearest whole picosecond, for what a clock or a model has in seconds.
[[nodiscard]] Time time_of_seconds(double seconds);

/// Exact text that parses back to the same value, in the unit that makes it shortest.
[[nodiscard]] std::string to_text(Bytes size);
[[nodiscard]] std::string to_text(Time time);
[[nodiscard]] std::string to_text(Bandwidth rate);

/// Text for tables: four significant digits and a unit, e.g. `21.42 ms`, `48.29 GB/s`.
[[nodiscard]] std::string short_text(Time time);
[[nodiscard]] std::string short_text(Bytes size); ///< `117.7 KiB`
[[nodiscard]] std::string short_rate_text(double bytes_per_second);
/// `50GiB/s`: to_text() where that is short, else `63.02 GB/s`.
[[nodiscard]] std::string short_text(Bandwidth rate);

} // namespace tutti
