// One file for a network of any size: a parameter says how large it is, and a table with a `for` is
// read as often as that needs. Values replace texts in the parsed table and not in its text, so
// that errors keep their places and a value can't become syntax; a text that needs what a `for`
// counts stays until that has a value.
#include "topologies/topology_template.hpp"

#include "sim/expressions/expression.hpp"
#include "sim/expressions/placeholders.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace tutti::topologies {

namespace {

constexpr std::int64_t most_repeats = 1'000'000;

/// The value that a text is for a parameter that has another one.
Value parsed_like(const Value& one, std::string_view text) {
  if (one.kind == Value::Kind::boolean) {
    if (text != "true" && text != "false") throw InputError("expected true or false");
    return boolean_value(text == "true");
  }
  if (one.kind == Value::Kind::number && one.unit == Unit::none) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
      throw InputError("expected a number");
    return number_value(number);
  }
  Value value = text_value(text);
  if (one.kind == Value::Kind::number && value.unit != one.unit)
    throw InputError(fmt::format("expected one such as {}", to_text(one)));
  return value;
}

} // namespace

TopologyTemplate::TopologyTemplate(const ConfigTable& whole) {
  ConfigTable root = whole; // which keeps for itself what it was asked for
  if (const std::optional<ConfigValue> value = root.find("template")) {
    ConfigTable table = value->table();
    for (const std::string& name : table.keys()) {
      add_name(name, table);
      values_.emplace(name, scalar_of(table.at(name)));
    }
    parameters_ = names_;
  }
  for (const char* const key : {"nodes", "links", "groups"})
    for (ConfigTable& table : root.tables(key))
      if (const std::optional<ConfigValue> loops = table.find("for"))
        for (const std::string& name : loops->table().keys()) {
          if (std::ranges::find(parameters_, name) != parameters_.end())
            throw loops->error(fmt::format("\"{}\" is a parameter", name));
          if (std::ranges::find(names_, name) == names_.end()) add_name(name, loops->table());
        }
}

void TopologyTemplate::add_name(const std::string& name, const ConfigTable& table) {
  bool is_name = false;
  try {
    is_name = Expression(name, {&name, 1}).names().size() == 1;
  } catch (const InputError&) { // another word of expressions, or several
  }
  if (!is_name)
    throw table.error(fmt::format("\"{}\" is no name that an expression could have", name));
  names_.push_back(name);
}

void TopologyTemplate::set(const std::string& parameter, std::string_view text) {
  Value& value = values_.at(parameter);
  try {
    value = parsed_like(value, text);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}={}: {}", parameter, text, e.what()));
  }
}

std::optional<ConfigScalar> TopologyTemplate::value_for(const std::string& text,
                                                        const Values& values) const {
  bool is_for_later = false;
  const auto value_of = [&](const std::string& said) {
    if (const auto found = values.find(trimmed(said)); found != values.end()) return found->second;
    const Expression expression(said, names_);
    std::vector<const Value*> operands;
    for (const std::string& name : expression.names()) {
      const auto found = values.find(name);
      is_for_later = is_for_later || found == values.end();
      operands.push_back(is_for_later ? nullptr : &found->second);
    }
    return is_for_later ? Value() : *expression.evaluate(operands);
  };
  std::optional<ConfigScalar> value = filled_scalar(text, value_of);
  return is_for_later ? std::nullopt : value;
}

ConfigTable TopologyTemplate::filled(const ConfigTable& root) const {
  if (names_.empty()) return root;
  return root.replaced(
      [this](const std::string& text, const auto&) { return value_for(text, values_); });
}

struct TopologyTemplate::Repeats {
  const std::function<void(ConfigTable&)>& body;
  std::vector<std::string> names;
  Values values;
  std::int64_t count = 0;
};

void TopologyTemplate::for_each(ConfigTable table,
                                const std::function<void(ConfigTable&)>& body) const {
  const std::optional<ConfigValue> loops = table.find("for");
  if (!loops) return body(table);
  Repeats repeats{body, loops->table().keys(), values_};
  repeat(table, repeats, 0);
}

/// How far one counts may depend on those before it.
void TopologyTemplate::repeat(const ConfigTable& table, Repeats& repeats, std::size_t level) const {
  const auto value = [&](const std::string& text, const auto&) {
    return value_for(text, repeats.values);
  };
  if (level == repeats.names.size()) {
    ConfigTable one = table.replaced(value);
    (void)one.find("for");
    return repeats.body(one);
  }
  ConfigTable whole = table;
  ConfigTable loops = whole.at("for").table().replaced(value);
  const std::int64_t end = loops.at(repeats.names[level]).integer(0, most_repeats);
  if ((repeats.count += end) > most_repeats)
    throw whole.at("for").error(fmt::format("more than {} repetitions", most_repeats));
  for (std::int64_t i = 0; i < end; ++i) {
    repeats.values[repeats.names[level]] = number_value(static_cast<double>(i));
    repeat(table, repeats, level + 1);
  }
  repeats.values.erase(repeats.names[level]);
}

} // namespace tutti::topologies
