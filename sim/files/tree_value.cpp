// Why: files of other programs are JSON or YAML, and their errors have to name a place. Idea: the
// document is kept whole; a value is a pointer into it and the path that led there.
#include "sim/files/tree_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <set>

namespace tutti {

using nlohmann::json;

namespace {

void write_tree_content(const TreeNode& node, std::string& to) {
  to += fmt::format("{}:{}:{}:{};", static_cast<int>(node.kind), node.text.size(), node.text,
                    node.items.size());
  for (const TreeNode& item : node.items) write_tree_content(item, to);
}

/// Letters of a text, of which it is known how many were read: nlohmann's parser tells no places.
struct WatchedLetter {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** seen; ///< the end of what was read

  reference operator*() const { return *at; }
  WatchedLetter& operator++() {
    *seen = ++at;
    return *this;
  }
  bool operator==(const WatchedLetter& other) const { return at == other.at; }
};

/// The word with which `read` ends; behind a number, one letter more may be read.
std::string_view last_word(std::string_view read, json::parse_event_t event, const json& value) {
  if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start)
    return read.substr(read.size() - 1);
  if (value.is_string()) {
    std::size_t at = read.size() - 1;
    while (true) {
      at = read.rfind('"', at - 1);
      const std::size_t before = at == 0 ? 0 : read.find_last_not_of('\\', at - 1);
      if (at == 0 || (at - before) % 2 == 1) return read.substr(at);
    }
  }
  constexpr std::string_view letters = "+-.0123456789Eaeflnrstu"; // of numbers, true, false, null
  read = read.substr(0, read.find_last_of(letters) + 1);
  return read.substr(read.find_last_not_of(letters) + 1); // npos + 1 is 0
}

TreeNode node_of(json::parse_event_t event, const json& value, std::string_view word) {
  using Kind = TreeNode::Kind;
  if (event == json::parse_event_t::object_start) return {Kind::object};
  if (event == json::parse_event_t::array_start) return {Kind::list};
  if (value.is_string()) return {Kind::text, value.get<std::string>()};
  return {value.is_null()             ? Kind::nothing
          : value.is_boolean()        ? Kind::boolean
          : value.is_number_integer() ? Kind::integer
                                      : Kind::number,
          std::string(word)};
}

} // namespace

InputError TreePlace::error(const std::string& message) const {
  if (line == 0) return InputError(fmt::format("{}: {}", *source, message));
  return InputError(fmt::format("{}:{}:{}: {}", *source, line, column, message));
}

std::string TreeValue::place() const {
  const std::string path = path_.empty() ? "" : path_ + ": ";
  if (node_->line == 0) return fmt::format("{}: {}", *document_->source, path);
  return fmt::format("{}:{}:{}: {}", *document_->source, node_->line, node_->column, path);
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
  const bool is_untyped = node_->kind == TreeNode::Kind::text && !document_->has_types;
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
    all.push_back(TreeValue(document_, &item,
                            document_->has_types ? fmt::format("{}[{}]", path_, all.size()) : ""));
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
  return {document_, &node_->items[i + 1],
          !document_->has_types ? ""
          : path_.empty()       ? key
                                : path_ + "." + key};
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
      throw TreeValue(document_, &key, path_)
          .error(unknown_name("key", key.text.substr(0, 64), known));
  }
}

std::string TreeValue::content() const {
  std::string written;
  write_tree_content(*node_, written);
  return written;
}

void TreeBuilder::add(TreeNode node) {
  if (open_.empty())
    root_ = std::move(node);
  else
    open_.back().items.push_back(std::move(node));
}

void TreeBuilder::open(TreeNode node) {
  constexpr std::size_t deepest = 32;
  if (open_.size() >= deepest)
    throw place(node.line, node.column)
        .error(fmt::format("lists and keys within {} others", deepest));
  open_.push_back(std::move(node));
}

void TreeBuilder::close() {
  TreeNode done = std::move(open_.back());
  open_.pop_back();
  std::set<std::string_view> keys;
  for (std::size_t i = 0; done.kind == TreeNode::Kind::object && i < done.items.size(); i += 2)
    if (const TreeNode& key = done.items[i]; !keys.insert(key.text).second)
      throw place(key.line, key.column)
          .error(fmt::format("the key \"{}\" stands twice", key.text.substr(0, 64)));
  add(std::move(done));
}

TreeValue TreeBuilder::take(bool has_types) && {
  const auto document = std::make_shared<const TreeValue::Document>(
      TreeValue::Document{source_, std::move(root_), has_types});
  return {document, &document->root, ""};
}

TreeValue parse_json(std::string_view text, const std::string& source) {
  TreeBuilder builder(source);
  const char* seen = text.data();
  std::size_t line_start = 0, counted = 0; // all before is counted
  int line = 1;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    using Event = json::parse_event_t;
    if (event == Event::object_end || event == Event::array_end) {
      builder.close();
      return true;
    }
    const std::string_view read = text.substr(0, static_cast<std::size_t>(seen - text.data()));
    const std::string_view word = last_word(read, event, value);
    const auto at = static_cast<std::size_t>(word.data() - text.data());
    for (; counted < at; ++counted)
      if (text[counted] == '\n') {
        line_start = counted + 1;
        ++line;
      }
    TreeNode node = node_of(event, value, word);
    node.line = line;
    node.column = static_cast<int>(at - line_start) + 1;
    if (event == Event::object_start || event == Event::array_start)
      builder.open(std::move(node));
    else
      builder.add(std::move(node));
    return true;
  };
  try {
    [[maybe_unused]] const json all =
        json::parse(WatchedLetter{text.data(), &seen},
                    WatchedLetter{text.data() + text.size(), &seen}, watch, true, true);
    return std::move(builder).take(true);
  } catch (const json::parse_error& e) {
    const std::string_view before = text.substr(0, e.byte == 0 ? 0 : e.byte - 1);
    // "[json.exception.parse_error.101] parse error at line 1, column 2: WHAT"
    const std::string_view what = e.what();
    const std::size_t colon = what.find(": ");
    throw builder
        .place(1 + static_cast<int>(std::ranges::count(before, '\n')),
               static_cast<int>(before.size() - (before.rfind('\n') + 1)) + 1) // npos + 1 is 0
        .error(fmt::format("malformed JSON: {}",
                           colon == std::string_view::npos ? what : what.substr(colon + 2)));
  } catch (const json::exception&) {
    throw builder.place(0, 0).error("malformed JSON: a number is out of range");
  }
}

} // namespace tutti
