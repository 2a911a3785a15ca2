// Why: files of other programs (TACCL's sketches and topologies, and more to come) are JSON, and
// their errors have to name a place. Idea: the document is kept whole; a value is a pointer into it
// and the path that led there.
#include "sim/files/json_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace tutti {

using nlohmann::json;

struct JsonValue::Document {
  std::string source;
  json root;
};

namespace {

const json& at_node(const void* node) { return *static_cast<const json*>(node); }

} // namespace

bool JsonValue::is_null() const { return at_node(node_).is_null(); }
bool JsonValue::is_string() const { return at_node(node_).is_string(); }
bool JsonValue::is_list() const { return at_node(node_).is_array(); }
bool JsonValue::is_object() const { return at_node(node_).is_object(); }

std::string JsonValue::place() const {
  return path_.empty() ? document_->source + ": "
                       : fmt::format("{}: {}: ", document_->source, path_);
}
InputError JsonValue::error(const std::string& message) const {
  return InputError(place() + message);
}
InputError JsonValue::expected(std::string_view what) const {
  return error(fmt::format("expected {}, found {}", what, at_node(node_).type_name()));
}

std::string JsonValue::string() const {
  if (!is_string()) throw expected("a text");
  return at_node(node_).get<std::string>();
}

bool JsonValue::boolean() const {
  if (!at_node(node_).is_boolean()) throw expected("true or false");
  return at_node(node_).get<bool>();
}

std::int64_t JsonValue::integer(std::int64_t low, std::int64_t high) const {
  const json& node = at_node(node_);
  if (!node.is_number_integer()) throw expected("a whole number");
  const bool is_huge =
      node.is_number_unsigned() && node.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  const std::int64_t value = is_huge ? INT64_MAX : node.get<std::int64_t>();
  if (is_huge || value < low || value > high)
    throw error(fmt::format("{} is out of range ({} .. {})", node.dump(), low, high));
  return value;
}

double JsonValue::number(double low, double high) const {
  if (!at_node(node_).is_number()) throw expected("a number");
  const double value = at_node(node_).get<double>();
  if (!std::isfinite(value) || value < low || value > high)
    throw error(fmt::format("{} is out of range ({} .. {})", value, low, high));
  return value;
}

std::vector<JsonValue> JsonValue::list() const {
  if (!is_list()) throw expected("a list");
  std::vector<JsonValue> all;
  const json& node = at_node(node_);
  all.reserve(node.size());
  for (std::size_t i = 0; i < node.size(); ++i)
    all.push_back(JsonValue(document_, &node[i], fmt::format("{}[{}]", path_, i)));
  return all;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  if (!is_object()) throw expected("an object");
  std::vector<std::pair<std::string, JsonValue>> all;
  for (const auto& [key, value] : at_node(node_).items()) all.emplace_back(key, member(key));
  return all;
}

JsonValue JsonValue::member(const std::string& key) const {
  return {document_, &at_node(node_)[key], path_.empty() ? key : path_ + "." + key};
}

bool JsonValue::has(const std::string& key) const { return at_node(node_).contains(key); }

std::optional<JsonValue> JsonValue::find(const std::string& key) const {
  return has(key) ? std::optional(member(key)) : std::nullopt;
}

JsonValue JsonValue::at(const std::string& key) const {
  if (!is_object()) throw expected("an object");
  if (!has(key)) throw error(fmt::format("a key \"{}\" is missing", key));
  return member(key);
}

void JsonValue::allow_only(const std::vector<std::string>& known) const {
  if (!is_object()) throw expected("an object");
  for (const auto& [key, value] : at_node(node_).items())
    if (std::ranges::find(known, key) == known.end()) throw error(unknown_name("key", key, known));
}

JsonValue parse_json(std::string_view text, const std::string& source) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw InputError(
          fmt::format("{}: the key \"{}\" stands twice", source, value.get<std::string>()));
    return true;
  };
  auto document = std::make_shared<JsonValue::Document>();
  document->source = source;
  try {
    document->root = json::parse(text, watch, true, true);
  } catch (const json::parse_error& e) {
    const std::size_t at = std::min(e.byte == 0 ? 0 : e.byte - 1, text.size());
    const std::string_view before = text.substr(0, at);
    const std::size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
    // "[json.exception.parse_error.101] parse error at line 1, column 2: WHAT"
    const std::string_view what = e.what();
    const std::size_t colon = what.find(": ");
    throw InputError(fmt::format("{}:{}:{}: malformed JSON: {}", source,
                                 1 + std::ranges::count(before, '\n'), 1 + at - line_start,
                                 colon == std::string_view::npos ? what : what.substr(colon + 2)));
  } catch (const json::exception&) {
    throw InputError(fmt::format("{}: malformed JSON: a number is out of range", source));
  }
  const json* const root = &document->root;
  return {std::move(document), root, ""};
}

} // namespace tutti
