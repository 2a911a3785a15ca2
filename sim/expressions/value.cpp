// A text is a quantity just if the simulator's own parsers read it as one, so that "1GiB" means the
// same in a sweep as in an experiment. A double holds bytes and bytes per second exactly up to
// 2^53; texts are made of the whole number of bytes, picoseconds or bytes per second nearest to it.
#include "sim/expressions/value.hpp"

#include "sim/error.hpp"
#include "sim/expressions/whole_number.hpp"
#include "sim/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace tutti {

namespace {

constexpr std::array all_units{Unit::none, Unit::bytes, Unit::seconds, Unit::bytes_per_second};

// What `parse` makes of the text, where it accepts it.
template <typename Parse>
std::optional<double> quantity_in(std::string_view text, const Parse& parse) {
  try {
    return parse(text);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::string number_text(double number) {
  return is_whole(number) ? fmt::format("{:.0f}", number + 0.0) // not "-0"
                          : fmt::format("{}", number);
}

} // namespace

std::string_view to_text(Unit unit) {
  switch (unit) {
  case Unit::none: return "";
  case Unit::bytes: return "bytes";
  case Unit::seconds: return "seconds";
  case Unit::bytes_per_second: break;
  }
  return "bytes_per_second";
}

Unit parse_unit(std::string_view text) {
  std::vector<std::string> known;
  for (const Unit unit : all_units) {
    if (to_text(unit) == text) return unit;
    if (unit != Unit::none) known.emplace_back(to_text(unit));
  }
  throw InputError(unknown_name("unit", text, known));
}

Value number_value(double number, Unit unit) { return {Value::Kind::number, unit, number, {}}; }

Value boolean_value(bool holds) {
  return {Value::Kind::boolean, Unit::none, holds ? 1.0 : 0.0, {}};
}

Value text_value(std::string_view text) {
  if (const auto size =
          quantity_in(text, [](auto each) { return static_cast<double>(parse_bytes(each).count); }))
    return number_value(*size, Unit::bytes);
  // Not a product with 1e-12, which isn't exact: 0.5 us are 5e-07 s.
  if (const auto time = quantity_in(text, [](auto each) {
        return static_cast<double>(parse_time(each).ps) / static_cast<double>(ps_per_s);
      }))
    return number_value(*time, Unit::seconds);
  if (const auto rate = quantity_in(text, [](auto each) {
        return static_cast<double>(parse_bandwidth(each).bytes_per_second);
      }))
    return number_value(*rate, Unit::bytes_per_second);
  return {Value::Kind::text, Unit::none, 0, std::string(text)};
}

std::string to_text(const Value& value) {
  switch (value.kind) {
  case Value::Kind::text: return value.text;
  case Value::Kind::boolean: return value.number != 0 ? "true" : "false";
  case Value::Kind::number: break;
  }
  switch (value.unit) {
  case Unit::bytes: return to_text(Bytes{std::llround(value.number)});
  case Unit::seconds: return to_text(Time{std::llround(value.number * 1e12)});
  case Unit::bytes_per_second: return to_text(Bandwidth{std::llround(value.number)});
  case Unit::none: break;
  }
  return number_text(value.number);
}

} // namespace tutti
