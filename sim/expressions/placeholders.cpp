// A sweep's experiment and a parametric topology file are TOML with names in their texts: one
// grammar for both, and no second one for what the names stand in. Two dollars before a brace are
// one, as far as they go in pairs, so that every text can be written; anywhere else a dollar is
// itself.
#include "sim/expressions/placeholders.hpp"

#include "sim/error.hpp"
#include "sim/expressions/whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tutti {

namespace {

/// The name that the text is nothing but; empty: there is none.
std::string name_alone(std::string_view text) {
  const std::vector<TextPart> parts = parts_of_text(text);
  const bool is_alone =
      parts.size() == 2 && parts.front().before.empty() && parts.back().before.empty();
  return is_alone ? std::string(parts.front().name) : "";
}

// A quantity stays a text with its unit ("1GiB"): TOML has none, and experiments ask for one.
ConfigScalar toml_scalar(const Value& value) {
  if (value.kind == Value::Kind::boolean) return value.number != 0;
  if (value.kind == Value::Kind::text || value.unit != Unit::none) return to_text(value);
  if (is_whole(value.number)) return static_cast<std::int64_t>(value.number);
  return value.number;
}

} // namespace

std::vector<TextPart> parts_of_text(std::string_view text) {
  std::vector<TextPart> parts;
  for (std::string_view rest = text; true;) {
    const std::size_t dollar = rest.find("${");
    if (dollar == std::string_view::npos) {
      parts.push_back({rest, {}});
      return parts;
    }
    std::size_t first = dollar;
    while (first > 0 && rest[first - 1] == '$') --first;
    const std::size_t dollars = dollar + 1 - first;
    const std::string_view before = rest.substr(0, first + dollars / 2);
    if (dollars % 2 == 0) {
      parts.push_back({before, {}});
      rest.remove_prefix(dollar + 1);
      continue;
    }
    const std::size_t begin = dollar + 2, end = rest.find('}', begin);
    const std::string_view name = rest.substr(begin, end - begin);
    if (end == std::string_view::npos || name.empty() || name.find("${") != std::string_view::npos)
      throw InputError(fmt::format("\"{}\": a name stands in ${{...}} ($${{ is ${{ itself)", text));
    parts.push_back({before, name});
    rest.remove_prefix(end + 1);
  }
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const TextPart& part : parts_of_text(text))
    if (!part.name.empty() && std::find(names.begin(), names.end(), part.name) == names.end())
      names.emplace_back(part.name);
  return names;
}

std::vector<std::string> known_names_in(std::string_view text,
                                        const std::vector<std::string>& known) {
  std::vector<std::string> names = names_in(text);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(unknown_name("name", name, known));
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

Value filled_value(std::string_view text, const ValueOf& value_of) {
  const std::string name = name_alone(text);
  return name.empty() ? text_value(filled_in(text, value_of)) : value_of(name);
}

Value scalar_of(const ConfigValue& value) {
  if (value.is_string()) return text_value(value.string());
  if (value.is_boolean()) return boolean_value(value.boolean());
  return number_value(value.number());
}

std::optional<ConfigScalar> filled_scalar(std::string_view text, const ValueOf& value_of) {
  if (text.find("${") == std::string_view::npos) return std::nullopt;
  const std::string name = name_alone(text);
  return name.empty() ? ConfigScalar(filled_in(text, value_of)) : toml_scalar(value_of(name));
}

void for_each_text(ConfigTable table, const std::function<void(const std::string& text)>& each) {
  for (const std::string& key : table.keys()) {
    const ConfigValue value = table.at(key);
    value.located([&] { each(key); });
    for_each_text(value, each);
  }
}

void for_each_text(const ConfigValue& value,
                   const std::function<void(const std::string& text)>& each) {
  if (value.is_string()) value.located([&] { each(value.string()); });
  if (value.is_array())
    for (const ConfigValue& item : value.array()) for_each_text(item, each);
  if (value.is_table()) for_each_text(value.table(), each);
}

} // namespace tutti
