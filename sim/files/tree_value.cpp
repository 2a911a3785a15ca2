// Why: files of other programs are JSON or YAML, and their errors have to name a place. Idea: the
// document is kept whole; a value is a pointer into it and, where no line is known, the path that led
// there.
#include "sim/files/tree_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

namespace tutti {

using nlohmann::json;

namespace {

void write_tree_content(const TreeNode& node, std::string& to) {
  to += fmt::format("{}:{}:{}:{};", static_cast<int>(node.kind), node.text.size(), node.text,
                    node.items.size());
  for (const TreeNode& item : node.items) write_tree_content(item, to);
}

/// `source` is for errors.
TreeNode tree_of(const json& value, const std::string& source, std::size_t depth) {
  if (depth > most_tree_depth)
    throw InputError(fmt::format("{}: lists and keys within {} others", source, most_tree_depth));
  using Kind = TreeNode::Kind;
  if (value.is_null()) return {};
  if (value.is_string()) return {Kind::text, value.get<std::string>()};
  if (value.is_boolean()) return {Kind::boolean, value.dump()};
  if (value.is_number_integer()) return {Kind::integer, value.dump()};
  if (value.is_number()) return {Kind::number, value.dump()};
  TreeNode node{value.is_object() ? Kind::object : Kind::list};
  for (const auto& [key, item] : value.items()) {
    if (value.is_object()) node.items.push_back({Kind::text, key});
    node.items.push_back(tree_of(item, source, depth + 1));
  }
  return node;
}

} // namespace

InputError TreePlace::error(const std::string& message) const {
  if (line == 0) return InputError(fmt::format("{}: {}", *source, message));
  return InputError(fmt::format("{}:{}:{}: {}", *source, line, column, message));
}

TreeValue::TreeValue(const std::string& source, TreeNode root) {
  document_ = std::make_shared<const Document>(
      Document{std::make_shared<const std::string>(source), std::move(root)});
  node_ = &document_->root;
}

std::string TreeValue::place() const {
  if (node_->line > 0)
    return fmt::format("{}:{}:{}: ", *document_->source, node_->line, node_->column);
  return path_.empty() ? *document_->source + ": "
                       : fmt::format("{}: {}: ", *document_->source, path_);
}
InputError TreeValue::error(const std::string& message) const {
  return InputError(place() + message);
}
InputError TreeValue::expected(std::string_view what) const {
  constexpr std::array names{"null", "boolean", "number", "number", "string", "array", "object"};
  return error(
      fmt::format("expected {}, found {}", what, names.at(static_cast<std::size_t>(node_->kind))));
}
TreePlace TreeValue::tree_place() const { return {document_->source, node_->line, node_->column}; }

const std::string& TreeValue::string() const {
  if (!is_string()) throw expected("a text");
  return node_->text;
}

const std::string& TreeValue::word() const {
  if (string().empty()) throw error("expected a word");
  return node_->text;
}

bool TreeValue::boolean() const {
  if (node_->kind != TreeNode::Kind::boolean) throw expected("true or false");
  return node_->text == "true";
}

std::int64_t TreeValue::integer(std::int64_t low, std::int64_t high) const {
  if (node_->kind != TreeNode::Kind::integer) throw expected("a whole number");
  std::int64_t value = 0;
  const std::string& text = node_->text;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || value < low || value > high)
    throw error(fmt::format("{} is out of range ({} .. {})", text, low, high));
  return value;
}

template <typename Real> Real TreeValue::real() const {
  const bool is_untyped = node_->kind == TreeNode::Kind::text && node_->line > 0;
  if (!is_untyped && node_->kind != TreeNode::Kind::integer &&
      node_->kind != TreeNode::Kind::number)
    throw expected("a number");
  Real value = 0;
  const std::string& text = node_->text;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw error(
        fmt::format("\"{}\" is {}", text.substr(0, 64),
                    fault == std::errc::result_out_of_range ? "out of range" : "no number"));
  return value;
}

double TreeValue::number(double low, double high) const {
  const auto value = real<double>();
  if (value < low || value > high)
    throw error(fmt::format("{} is out of range ({} .. {})", value, low, high));
  return value;
}

long double TreeValue::precise_number() const { return real<long double>(); }

std::vector<TreeValue> TreeValue::list() const {
  if (node_->kind != TreeNode::Kind::list) throw expected("a list");
  std::vector<TreeValue> all;
  all.reserve(node_->items.size());
  for (const TreeNode& item : node_->items)
    all.push_back(
        TreeValue(document_, &item, item.line > 0 ? "" : fmt::format("{}[{}]", path_, all.size())));
  return all;
}

std::vector<TreeValue> TreeValue::list(std::string_view key) const {
  const std::optional<TreeValue> found = given(key);
  return found ? found->list() : std::vector<TreeValue>();
}

std::vector<std::pair<std::string, TreeValue>> TreeValue::members() const {
  if (!is_object()) throw expected("an object");
  std::vector<std::pair<std::string, TreeValue>> all;
  for (std::size_t i = 0; i < node_->items.size(); i += 2)
    all.emplace_back(node_->items[i].text, member(i));
  return all;
}

TreeValue TreeValue::member(std::size_t i) const {
  const std::string& key = node_->items[i].text;
  return {document_, &node_->items[i + 1], path_.empty() ? key : path_ + "." + key};
}

bool TreeValue::has(std::string_view key) const { return find(key).has_value(); }

std::optional<TreeValue> TreeValue::find(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  for (std::size_t i = 0; i < node_->items.size(); i += 2)
    if (node_->items[i].text == key) return member(i);
  return std::nullopt;
}

std::optional<TreeValue> TreeValue::given(std::string_view key) const {
  const std::optional<TreeValue> found = find(key);
  return found && !found->is_null() ? found : std::nullopt;
}

TreeValue TreeValue::at(std::string_view key) const {
  if (!is_object()) throw expected("an object");
  if (const std::optional<TreeValue> found = find(key)) return *found;
  throw error(fmt::format("a key \"{}\" is missing", key));
}

void TreeValue::allow_only(const std::vector<std::string>& known) const {
  if (!is_object()) throw expected("an object");
  for (std::size_t i = 0; i < node_->items.size(); i += 2) {
    const TreeNode& key = node_->items[i];
    if (std::ranges::find(known, key.text) == known.end())
      throw TreeValue(document_, key.line > 0 ? &key : node_, path_)
          .error(unknown_name("key", key.text.substr(0, 64), known));
  }
}

std::string TreeValue::content() const {
  std::string written;
  write_tree_content(*node_, written);
  return written;
}

TreeValue parse_json(std::string_view text, const std::string& source) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw InputError(
          fmt::format("{}: the key \"{}\" stands twice", source, value.get<std::string>()));
    return true;
  };
  try {
    return {source, tree_of(json::parse(text, watch, true, true), source, 0)};
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
}

} // namespace tutti
