// Texts with ${...} in them, which values take the place of.
#pragma once

#include "sim/expressions/value.hpp"
#include "sim/files/config.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The value of what stands within ${...}.
using ValueOf = std::function<Value(const std::string& name)>;

/// The names in ${...}, each once, in their order. Errors: InputError for "${" without an end.
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);
/// The text with values for names.
[[nodiscard]] std::string filled_in(std::string_view text, const ValueOf& value_of);
/// A number, a text (a quantity where it is one), true or false. Errors: InputError with its place.
[[nodiscard]] Value scalar_of(const ConfigValue& value);
/// What stands in a TOML file instead of the text; nothing where it has no names. A text that is
/// "${name}" and nothing else becomes a number or a boolean where the value is one (without a
/// unit).
[[nodiscard]] std::optional<ConfigScalar> value_for(std::string_view text, const ValueOf& value_of);

} // namespace tutti
