// A sweep's experiment and a parametric topology file are TOML with names in their texts: one
// grammar for both, and no second one for what the names stand in.
#include "sim/expressions/placeholders.hpp"

#include "sim/error.hpp"
#include "sim/expressions/whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tutti {

namespace {

struct TextPart {
  std::string_view before; ///< as it stands
  std::string_view name;   ///< of the value behind it; empty: the text ends
};

// The text as parts, the last without a name. Errors: InputError for "${" without an end.
std::vector<TextPart> parts_of_text(std::string_view text) {
  std::vector<TextPart> parts;
  while (true) {
    const std::size_t begin = text.find("${");
    if (begin == std::string_view::npos) {
      parts.push_back({text, {}});
      return parts;
    }
    const std::size_t end = text.find('}', begin);
    if (end == std::string_view::npos || end == begin + 2)
      throw InputError(fmt::format("\"{}\": a name stands in ${{...}}", text));
    parts.push_back({text.substr(0, begin), text.substr(begin + 2, end - begin - 2)});
    text.remove_prefix(end + 1);
  }
}

// A quantity stays a text with its unit ("1GiB"): TOML has none, and experiments ask for one.
ConfigScalar toml_scalar(const Value& value) {
  if (value.kind == Value::Kind::boolean) return value.number != 0;
  if (value.kind == Value::Kind::text || value.unit != Unit::none) return to_text(value);
  if (is_whole(value.number)) return static_cast<std::int64_t>(value.number);
  return value.number;
}

} // namespace

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const TextPart& part : parts_of_text(text))
    if (!part.name.empty() && std::find(names.begin(), names.end(), part.name) == names.end())
      names.emplace_back(part.name);
  return names;
}

std::string filled_in(std::string_view text, const ValueOf& value_of) {
  std::string filled;
  for (const TextPart& part : parts_of_text(text)) {
    filled += part.before;
    if (!part.name.empty()) filled += to_text(value_of(std::string(part.name)));
  }
  return filled;
}

Value scalar_of(const ConfigValue& value) {
  if (value.is_string()) return text_value(value.string());
  if (value.is_boolean()) return boolean_value(value.boolean());
  return number_value(value.number());
}

std::optional<ConfigScalar> value_for(std::string_view text, const ValueOf& value_of) {
  if (text.find("${") == std::string_view::npos) return std::nullopt;
  const std::vector<TextPart> parts = parts_of_text(text);
  const bool is_name_alone =
      parts.size() == 2 && parts.front().before.empty() && parts.back().before.empty();
  return is_name_alone ? toml_scalar(value_of(std::string(parts.front().name)))
                       : ConfigScalar(filled_in(text, value_of));
}

} // namespace tutti
