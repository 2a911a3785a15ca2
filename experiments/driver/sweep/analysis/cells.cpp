// One number is written in two ways: exactly and in SI units where programs read it, and with four
// digits and a prefixed unit where people do. Sizes count in powers of 1024, times and rates in
// powers of 10, as everywhere in this program.
#include "experiments/driver/sweep/analysis/cells.hpp"

#include "sim/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti::sweep {

namespace {

std::string_view symbol(Unit unit) {
  switch (unit) {
  case Unit::none: return "";
  case Unit::bytes: return "bytes";
  case Unit::seconds: return "s";
  case Unit::bytes_per_second: break;
  }
  return "bytes/s";
}

// What a column's own name may end with already, so that its title needn't say the unit again.
std::string_view suffix(Unit unit) {
  switch (unit) {
  case Unit::none: return "";
  case Unit::bytes: return "_bytes";
  case Unit::seconds: return "_s";
  case Unit::bytes_per_second: break;
  }
  return "_bytes_per_s";
}

// "1.500 ms" as "1.5 ms".
std::string without_zeros(std::string text) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos || text.find('e') != std::string::npos) return text;
  std::size_t end = text.find_first_not_of("0123456789", point + 1);
  if (end == std::string::npos) end = text.size();
  std::size_t kept = end;
  while (text[kept - 1] == '0') --kept;
  if (text[kept - 1] == '.') --kept;
  return text.erase(kept, end - kept);
}

// Four significant digits with a prefixed unit.
std::string short_number(double number, Unit unit) {
  switch (unit) {
  case Unit::bytes: return short_text(Bytes{std::llround(number)});
  case Unit::seconds: return short_text(Time{std::llround(number * 1e12)});
  case Unit::bytes_per_second: return short_rate_text(number);
  case Unit::none: break;
  }
  return fmt::format("{:.4g}", number);
}

// A prefixed unit of a quantity; steps_of() has the largest first.
struct Step {
  double factor;
  std::string_view text;
};

std::span<const Step> steps_of(Unit unit) {
  static constexpr std::array<Step, 5> times{
      Step{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {1e-12, "ps"}};
  static constexpr std::array<Step, 5> sizes{
      Step{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}};
  static constexpr std::array<Step, 5> rates{
      Step{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}};
  switch (unit) {
  case Unit::none: return {};
  case Unit::bytes: return sizes;
  case Unit::seconds: return times;
  case Unit::bytes_per_second: break;
  }
  return rates;
}

} // namespace

std::string exact_text(double number) {
  if (std::isnan(number)) return "";
  return fmt::format("{}", number + 0.0); // not "-0"
}

std::string exact_text(const Value& value) {
  return value.kind == Value::Kind::number ? exact_text(value.number) : to_text(value);
}

std::string column_title(const std::string& name, Unit unit) {
  if (unit == Unit::none || name.ends_with(suffix(unit))) return name;
  return fmt::format("{} [{}]", name, symbol(unit));
}

std::string display_text(const Value& value) {
  if (value.kind != Value::Kind::number) return to_text(value);
  // Not "1.201e+05".
  if (value.unit == Unit::none && std::abs(value.number) >= 9999.5 && std::abs(value.number) < 1e9)
    return fmt::format("{:.0f}", value.number);
  return without_zeros(short_number(value.number, value.unit));
}

std::string display_text(double number, Unit unit) {
  return display_text(number_value(number, unit));
}

std::string times_text(double ratio) {
  if (std::isnan(ratio)) return "";
  // Three digits whatever the size; the thresholds are where rounding adds a digit.
  if (ratio >= 1e6) return fmt::format("{:.3g}x", ratio);
  return fmt::format("{:.{}f}x", ratio, ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

std::string values_text(std::span<const Levels* const> columns, std::uint32_t row) {
  std::string text;
  for (const Levels* column : columns)
    text += (text.empty() ? "" : ", ") + display_text(column->values[column->of_row[row]]);
  return text;
}

std::string values_words(std::span<const Levels* const> columns, std::uint32_t row,
                         std::string_view between) {
  std::string text;
  for (const Levels* column : columns) {
    if (!text.empty()) text += between;
    if (column->numeric()) text += column->name + " ";
    text += display_text(column->values[column->of_row[row]]);
  }
  return text;
}

std::string AxisUnit::label(std::string_view what) const {
  return text.empty() ? std::string(what) : fmt::format("{} [{}]", what, text);
}

AxisUnit axis_unit(Unit unit, double typical) {
  const std::span<const Step> steps = steps_of(unit);
  if (steps.empty()) return {};
  // A little below a whole unit still counts as one, so that roundings don't make 1 ms 1000 us.
  const auto found = std::find_if(steps.begin(), steps.end() - 1, [&](const Step& step) {
    return std::abs(typical) >= 0.9999 * step.factor;
  });
  return {found->factor, std::string(found->text)};
}

AxisUnit axis_unit(Unit unit, double least, double largest, bool logarithmic) {
  return axis_unit(unit, logarithmic ? std::sqrt(least) * std::sqrt(largest)
                                     : std::max(std::abs(least), std::abs(largest)));
}

} // namespace tutti::sweep
