// What a parameter of a sweep or of a topology file can be: a number, perhaps with a unit, a text,
// or true or false. Numbers are in SI units everywhere (bytes, seconds, bytes per second): in
// expressions, in the store, in tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

enum class Unit : std::uint8_t { none, bytes, seconds, bytes_per_second };
[[nodiscard]] std::string_view to_text(Unit unit); ///< "", "bytes", "seconds", "bytes_per_second"
/// Errors: InputError with the known names.
[[nodiscard]] Unit parse_unit(std::string_view text);

struct Value {
  enum class Kind : std::uint8_t { number, text, boolean };
  Kind kind = Kind::text;
  Unit unit = Unit::none; ///< of a number
  double number = 0;      ///< of a number; 1 and 0 of a boolean
  std::string text = {};  ///< of a text
  bool operator==(const Value&) const = default;
};

[[nodiscard]] Value number_value(double number, Unit unit = Unit::none);
[[nodiscard]] Value boolean_value(bool holds);
/// A quantity where the text is one ("1GiB", "0.5us", "50GB/s"), else a text.
[[nodiscard]] Value text_value(std::string_view text);

/// As it stands in an experiment: "1GiB", "0.5us", "50GB/s", "8", "0.25", "true", the text. Parses
/// back to the same quantity; one that isn't whole in bytes, picoseconds or bytes per second is
/// rounded to it.
[[nodiscard]] std::string to_text(const Value& value);

} // namespace tutti
