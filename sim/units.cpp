// Quantities are read exactly, digit by digit in 128 bits: a double would turn 0.1 us into
// something that isn't 100,000 ps. serialization() is the one place where a time is rounded, up to
// a picosecond.

#include "sim/units.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

/// `value` of the text = number * numerator / denominator of the base unit.
struct Unit {
  std::string_view name;
  std::int64_t numerator;
  std::int64_t denominator = 1;
};

constexpr std::int64_t k = 1000, ki = 1024;
constexpr std::array<Unit, 9> byte_units{{{"B", 1},
                                          {"kB", k},
                                          {"MB", k* k},
                                          {"GB", k* k* k},
                                          {"TB", k* k* k* k},
                                          {"KiB", ki},
                                          {"MiB", ki* ki},
                                          {"GiB", ki* ki* ki},
                                          {"TiB", ki* ki* ki* ki}}};
constexpr std::array<Unit, 14> bandwidth_units{{{"B/s", 1},
                                                {"kB/s", k},
                                                {"MB/s", k* k},
                                                {"GB/s", k* k* k},
                                                {"TB/s", k* k* k* k},
                                                {"KiB/s", ki},
                                                {"MiB/s", ki* ki},
                                                {"GiB/s", ki* ki* ki},
                                                {"TiB/s", ki* ki* ki* ki},
                                                {"b/s", 1, 8},
                                                {"kb/s", k, 8},
                                                {"Mb/s", k* k, 8},
                                                {"Gb/s", k* k* k, 8},
                                                {"Tb/s", k* k* k* k, 8}}};
constexpr std::array<Unit, 5> time_units{
    {{"ps", 1}, {"ns", k}, {"us", k* k}, {"ms", k* k* k}, {"s", k* k* k* k}}};

/// Sums of many values must still fit in 64 bits.
constexpr std::int64_t largest = INT64_MAX / 2;

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view why) {
  throw InputError(fmt::format("{} \"{}\" {}", what, text, why));
}

const Unit& find_unit(std::string_view what, std::string_view text, std::string_view name,
                      std::span<const Unit> units) {
  for (const Unit& unit : units)
    if (unit.name == name) return unit;
  std::vector<std::string> known;
  for (const Unit& unit : units) known.emplace_back(unit.name);
  if (name.empty()) refuse(what, text, fmt::format("has no unit (known: {})", joined(known, ", ")));
  if (units.data() == byte_units.data() && name.size() == 1) // "8G", as nccl-tests takes it
    for (const Unit& unit : units)
      if (unit.name.size() == 2 && (unit.name[0] | 0x20) == (name[0] | 0x20)) {
        const std::string_view number = text.substr(0, text.find(name));
        const char letter = static_cast<char>(name[0] & ~0x20);
        refuse(what, text,
               fmt::format("has no unit: did you mean \"{0}{1}iB\" (as nccl-tests' {0}{1}) or "
                           "\"{0}{2}\"?",
                           trimmed(number), letter, unit.name));
      }
  refuse(what, text, "has an " + unknown_name("unit", name, known));
}

/// Decimal digits with an optional fraction and a unit, exactly.
std::int64_t parse_quantity(std::string_view what, std::string_view text,
                            std::span<const Unit> units) {
  const std::string_view body = trimmed(text);
  if (body.starts_with('-')) refuse(what, text, "is negative");
  std::size_t i = 0;
  int128 mantissa = 0, scale = 1;
  bool digits = false, fraction = false;
  for (; i < body.size(); ++i) {
    const char c = body[i];
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (c >= '0' && c <= '9') {
      digits = true;
      mantissa = mantissa * 10 + (c - '0');
      if (fraction) scale *= 10;
      if (mantissa > largest || scale > largest) refuse(what, text, "is out of range");
    } else {
      break;
    }
  }
  if (!digits) refuse(what, text, "is not a number with a unit");
  const Unit& unit = find_unit(what, text, trimmed(body.substr(i)), units);
  const int128 numerator = mantissa * unit.numerator, denominator = scale * unit.denominator;
  if (numerator / denominator > largest) refuse(what, text, "is out of range");
  if (numerator % denominator != 0)
    refuse(what, text, fmt::format("is not a whole number of {}", units.front().name));
  return static_cast<std::int64_t>(numerator / denominator);
}

/// The shortest exact text over the whole-number units; decimals in the largest unit that needs at
/// most three, else the base unit.
std::string quantity_text(std::int64_t value, std::span<const Unit> units) {
  std::string best = fmt::format("{}{}", value, units.front().name);
  for (const Unit& unit : units) {
    if (unit.denominator != 1 || value < unit.numerator) continue;
    const int128 thousandths = static_cast<int128>(value % unit.numerator) * 1000;
    if (thousandths % unit.numerator != 0) continue;
    std::string text = fmt::format("{}", value / unit.numerator);
    if (thousandths != 0) {
      text += fmt::format(".{:03}", static_cast<int>(thousandths / unit.numerator));
      while (text.back() == '0') text.pop_back();
    }
    text += unit.name;
    if (text.size() < best.size()) best = text;
  }
  return best;
}

/// Four significant digits with a prefix from `units` (ascending).
std::string short_quantity(double value, std::span<const Unit> units) {
  const Unit* chosen = &units.front();
  for (const Unit& unit : units)
    if (unit.denominator == 1 && value >= static_cast<double>(unit.numerator)) chosen = &unit;
  const double scaled = value / static_cast<double>(chosen->numerator);
  const int decimals = scaled >= 1000 ? 0 : scaled >= 100 ? 1 : scaled >= 10 ? 2 : 3;
  return fmt::format("{:.{}f} {}", scaled, decimals, chosen->name);
}

} // namespace

Time serialization(Bytes size, Bandwidth rate) {
  if (size.count <= largest / ps_per_s) { // 64-bit division is several times faster
    const std::int64_t scaled = size.count * ps_per_s;
    return {scaled / rate.bytes_per_second + (scaled % rate.bytes_per_second != 0 ? 1 : 0)};
  }
  const int128 scaled = static_cast<int128>(size.count) * ps_per_s;
  const int128 ps = (scaled + rate.bytes_per_second - 1) / rate.bytes_per_second;
  if (ps > largest)
    throw InputError(
        fmt::format("{} at {} take longer than 53 days", to_text(size), to_text(rate)));
  return {static_cast<std::int64_t>(ps)};
}

Bytes parse_bytes(std::string_view text) { return {parse_quantity("size", text, byte_units)}; }

Time parse_time(std::string_view text) { return {parse_quantity("time", text, time_units)}; }

Bandwidth parse_bandwidth(std::string_view text) {
  const std::int64_t value = parse_quantity("bandwidth", text, bandwidth_units);
  if (value == 0) refuse("bandwidth", text, "must be positive");
  return {value};
}

std::string to_text(Bytes size) { return quantity_text(size.count, byte_units); }
std::string to_text(Time time) { return quantity_text(time.ps, time_units); }
std::string to_text(Bandwidth rate) {
  return quantity_text(rate.bytes_per_second, bandwidth_units);
}

Time time_of_seconds(double seconds) {
  return {std::llround(seconds * static_cast<double>(ps_per_s))};
}

std::string short_text(Time time) {
  return short_quantity(static_cast<double>(time.ps), time_units);
}

std::string short_text(Bytes size) {
  constexpr auto binary = std::span(byte_units).last(4); // KiB and up
  return short_quantity(static_cast<double>(size.count), binary);
}

std::string short_rate_text(double bytes_per_second) {
  return short_quantity(bytes_per_second, std::span(bandwidth_units).first(5));
}

std::string short_text(Bandwidth rate) {
  constexpr std::size_t longest = 11; // "123.456GB/s"
  std::string exact = to_text(rate);
  return exact.size() <= longest ? exact
                                 : short_rate_text(static_cast<double>(rate.bytes_per_second));
}

} // namespace tutti
