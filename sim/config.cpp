// TOML++ is seen by this file only. It is used header-only and without its assertions: those of
// 3.3.0 fire on some malformed text ("\t[==") which it otherwise reports properly. What it doesn't
// guard against itself, keys of so many parts that the tree's depth overflows the stack, is refused
// before parsing.
#include "sim/config.hpp"

#include "sim/files.hpp"
#include "sim/text.hpp"

#pragma push_macro("NDEBUG")
#undef NDEBUG // with it TOML++ would turn its assertions into assumptions
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(condition) static_cast<void>(0)
#define TOML_MAX_NESTED_VALUES 64
#include <fmt/format.h>
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tutti {

namespace {

struct Document {
  std::string name;
  toml::table root;
};

std::string placed(const std::string& file, toml::source_position at, std::string_view message) {
  return fmt::format("{}:{}:{}: {}", file, at.line, at.column, message);
}

/// The end of the string that starts with the quote at `begin`; a newline ends an unclosed one.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const std::string triple(3, quote);
  const bool multiline = text.substr(begin, 3) == triple;
  for (std::size_t i = begin + (multiline ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (multiline && text.substr(i, 3) == triple) {
      return std::min(text.find_first_not_of(quote, i), text.size()); // its own quotes may precede
    } else if (!multiline && (text[i] == quote || text[i] == '\n')) {
      return i + 1;
    }
  }
  return text.size();
}

toml::source_position position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1; // npos + 1 == 0
  return {static_cast<toml::source_index>(lines + 1),
          static_cast<toml::source_index>(offset - line_begin + 1)};
}

/// Errors: InputError at a dotted key of more than 16 parts: each part is a level of the tree.
void refuse_deep_keys(std::string_view text, const std::string& source_name) {
  constexpr int most_parts = 16;
  int parts = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = end_of_string(text, i);
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else {
      if (c == '.') ++parts;
      if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') parts = 1;
      if (parts > most_parts)
        throw InputError(placed(source_name, position_of(text, i),
                                fmt::format("a key of more than {} parts", most_parts)));
      ++i;
    }
  }
}

std::string described(const toml::node& value) {
  switch (value.type()) {
  case toml::node_type::string: return fmt::format("the string \"{}\"", value.as_string()->get());
  case toml::node_type::integer: return fmt::format("the integer {}", value.as_integer()->get());
  case toml::node_type::floating_point:
    return fmt::format("the number {}", value.as_floating_point()->get());
  case toml::node_type::boolean: return value.as_boolean()->get() ? "true" : "false";
  case toml::node_type::array: return "an array";
  case toml::node_type::table: return "a table";
  default: return "a date or time";
  }
}

} // namespace

struct ConfigValue::Node {
  std::shared_ptr<const Document> document;
  const toml::node* value; ///< owned by the document

  [[nodiscard]] InputError error(toml::source_position at, const std::string& message) const {
    return InputError(placed(document->name, at, message));
  }
  [[nodiscard]] InputError error(const std::string& message) const {
    return error(value->source().begin, message);
  }
  [[nodiscard]] InputError expected(std::string_view what) const {
    return error(fmt::format("expected {}, found {}", what, described(*value)));
  }
  [[nodiscard]] const toml::table& table() const { return *value->as_table(); }
};

bool ConfigValue::is_string() const { return node_->value->is_string(); }
bool ConfigValue::is_integer() const { return node_->value->is_integer(); }
bool ConfigValue::is_array() const { return node_->value->is_array(); }
bool ConfigValue::is_table() const { return node_->value->is_table(); }

std::string ConfigValue::string() const {
  if (!is_string()) throw node_->expected("a string");
  return node_->value->as_string()->get();
}

std::int64_t ConfigValue::integer(std::int64_t low, std::int64_t high) const {
  if (!is_integer()) throw node_->expected("an integer");
  const std::int64_t value = node_->value->as_integer()->get();
  if (value < low || value > high)
    throw error(fmt::format("{} is out of range ({} .. {})", value, low, high));
  return value;
}

double ConfigValue::number() const {
  if (is_integer()) return static_cast<double>(node_->value->as_integer()->get());
  if (!node_->value->is_floating_point()) throw node_->expected("a number");
  const double value = node_->value->as_floating_point()->get();
  if (!std::isfinite(value)) throw node_->expected("a finite number");
  return value;
}

bool ConfigValue::boolean() const {
  if (!node_->value->is_boolean()) throw node_->expected("true or false");
  return node_->value->as_boolean()->get();
}

Bytes ConfigValue::bytes() const {
  if (!is_string()) throw node_->expected("a size such as \"1GiB\"");
  return located([&] { return parse_bytes(string()); });
}

Time ConfigValue::time() const {
  if (!is_string()) throw node_->expected("a time such as \"0.5us\"");
  return located([&] { return parse_time(string()); });
}

Bandwidth ConfigValue::bandwidth() const {
  if (!is_string()) throw node_->expected("a bandwidth such as \"50GB/s\"");
  return located([&] { return parse_bandwidth(string()); });
}

std::vector<ConfigValue> ConfigValue::array() const {
  if (!is_array()) throw node_->expected("an array");
  std::vector<ConfigValue> values;
  for (const toml::node& element : *node_->value->as_array())
    values.push_back(ConfigValue(std::make_shared<Node>(Node{node_->document, &element})));
  return values;
}

ConfigTable ConfigValue::table() const {
  if (!is_table()) throw node_->expected("a table");
  return ConfigTable(node_);
}

InputError ConfigValue::error(const std::string& message) const { return node_->error(message); }

ConfigTable::ConfigTable(std::shared_ptr<const ConfigValue::Node> node)
    : node_(std::move(node)), asked_(std::make_shared<std::vector<std::string>>()) {}

bool ConfigTable::has(const std::string& key) const { return node_->table().contains(key); }

std::optional<ConfigValue> ConfigTable::find(const std::string& key) {
  if (std::find(asked_->begin(), asked_->end(), key) == asked_->end()) asked_->push_back(key);
  const toml::node* value = node_->table().get(key);
  if (value == nullptr) return std::nullopt;
  return ConfigValue(
      std::make_shared<ConfigValue::Node>(ConfigValue::Node{node_->document, value}));
}

ConfigValue ConfigTable::at(const std::string& key) {
  std::optional<ConfigValue> value = find(key);
  if (!value)
    throw error(
        fmt::format("this table needs a key \"{}\" (it has: {})", key, joined(keys(), ", ")));
  return *value;
}

std::vector<std::string> ConfigTable::keys() const {
  std::vector<const toml::key*> keys;
  for (auto entry = node_->table().cbegin(); entry != node_->table().cend(); ++entry)
    keys.push_back(&entry->first);
  std::sort(keys.begin(), keys.end(), [](const toml::key* a, const toml::key* b) {
    return a->source().begin < b->source().begin;
  });
  std::vector<std::string> names;
  for (const toml::key* key : keys) names.emplace_back(key->str());
  return names;
}

std::vector<ConfigTable> ConfigTable::tables(const std::string& key) {
  const std::optional<ConfigValue> value = find(key);
  if (!value) return {};
  if (value->is_table()) return {value->table()};
  if (!value->is_array()) throw value->node_->expected("a table or an array of tables");
  std::vector<ConfigTable> tables;
  for (const ConfigValue& element : value->array()) tables.push_back(element.table());
  return tables;
}

void ConfigTable::finish() const {
  for (const std::string& name : keys()) {
    if (std::find(asked_->begin(), asked_->end(), name) != asked_->end()) continue;
    const auto entry = node_->table().find(name);
    throw node_->error(entry->first.source().begin, unknown_name("key", name, *asked_));
  }
}

InputError ConfigTable::error(const std::string& message) const { return node_->error(message); }

ConfigTable read_config(const std::string& file) { return parse_config(read_file(file), file); }

ConfigTable parse_config(std::string_view text, const std::string& source_name) {
  refuse_deep_keys(text, source_name);
  auto document = std::make_shared<Document>();
  document->name = source_name;
  try {
    document->root = toml::parse(text, source_name);
  } catch (const toml::parse_error& e) {
    throw InputError(placed(source_name, e.source().begin, e.description()));
  }
  const toml::node* root = &document->root;
  return ConfigTable(
      std::make_shared<ConfigValue::Node>(ConfigValue::Node{std::move(document), root}));
}

} // namespace tutti
