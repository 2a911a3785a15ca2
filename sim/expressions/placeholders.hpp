// Texts with ${names} in them, for which values stand: in sweeps and topology templates. "$${" is
// "${".
#pragma once

#include "sim/expressions/value.hpp"
#include "sim/files/config.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The value of a name.
using ValueOf = std::function<Value(const std::string& name)>;

struct TextPart {
  std::string_view before; ///< as it stands
  std::string_view name;   ///< of the value behind it; empty: none
};
/// The text as parts, the last without a name. Errors: InputError for "${" without an end or a
/// name.
[[nodiscard]] std::vector<TextPart> parts_of_text(std::string_view text);

/// The names in ${...}, each once, in their order. Errors: as parts_of_text().
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);
/// The same, all of which must be known. Errors: InputError.
[[nodiscard]] std::vector<std::string> known_names_in(std::string_view text,
                                                      const std::vector<std::string>& known);
/// The text with values for names.
[[nodiscard]] std::string filled_in(std::string_view text, const ValueOf& value_of);
/// The value of the name, where the text is "${name}" and nothing else; else the text with values
/// for names, a quantity where it reads as one.
[[nodiscard]] Value filled_value(std::string_view text, const ValueOf& value_of);
/// The same as it stands in TOML: a number or a boolean where the value is one (without a unit).
/// Nothing: the text has no names.
[[nodiscard]] std::optional<ConfigScalar> filled_scalar(std::string_view text,
                                                        const ValueOf& value_of);

/// A number, a text (a quantity where it is one), true or false. Errors: InputError with its place.
[[nodiscard]] Value scalar_of(const ConfigValue& value);

/// Calls `each` with every text and every key, wherever in the table or value they stand. Errors:
/// InputError of `each`, with the place.
void for_each_text(ConfigTable table, const std::function<void(const std::string& text)>& each);
void for_each_text(const ConfigValue& value,
                   const std::function<void(const std::string& text)>& each);

} // namespace tutti
