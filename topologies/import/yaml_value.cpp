// Why: a few hundred bytes of YAML can stand for gigabytes, or for lists so deep that no stack
// holds them; and a reader has to say where a wrong value stands. So the parser's events become a
// tree here, within limits and without aliases, and each value of it knows its place.
#include "topologies/import/yaml_value.hpp"

#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

namespace tutti::topologies {

namespace {

constexpr std::size_t most_yaml_bytes = std::size_t{16} << 20;
constexpr std::size_t most_yaml_values = 3'000'000;
constexpr std::size_t most_yaml_depth = 32;

class YamlTree : public YAML::EventHandler {
public:
  explicit YamlTree(YamlPlace file) : file_(std::move(file)) { root_.at = file_; }

  [[nodiscard]] YamlValue take() { return std::move(root_); }
  [[nodiscard]] YamlPlace place(const YAML::Mark& mark) const {
    if (mark.is_null()) return file_;
    return {file_.source, mark.line + 1, mark.column + 1};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw place(mark).error("a second document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(value(mark, anchor, YamlValue::Kind::nothing));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw place(mark).error("aliases aren't read");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& text) override {
    YamlValue word = value(mark, anchor, YamlValue::Kind::word);
    word.text = text;
    add(std::move(word));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(value(mark, anchor, YamlValue::Kind::list));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(value(mark, anchor, YamlValue::Kind::keys));
  }
  void OnMapEnd() override { close(); }

private:
  YamlValue value(const YAML::Mark& mark, YAML::anchor_t anchor, YamlValue::Kind kind) {
    if (anchor != 0) throw place(mark).error("anchors aren't read");
    if (++values_ > most_yaml_values)
      throw place(mark).error(fmt::format("more than {} values", most_yaml_values));
    return {kind, {}, place(mark), {}};
  }
  void add(YamlValue done) {
    if (open_.empty())
      root_ = std::move(done);
    else
      open_.back().items.push_back(std::move(done));
  }
  void open(YamlValue begun) {
    if (open_.size() >= most_yaml_depth)
      throw begun.error(fmt::format("lists and keys within {} others", most_yaml_depth));
    open_.push_back(std::move(begun));
  }
  void close() {
    YamlValue done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done));
  }

  YamlPlace file_;
  std::size_t documents_ = 0, values_ = 0;
  std::vector<YamlValue> open_;
  YamlValue root_;
};

void write_yaml_content(const YamlValue& value, std::string& to) {
  to += fmt::format("{}:{}:{}:{};", static_cast<int>(value.kind), value.text.size(), value.text,
                    value.items.size());
  for (const YamlValue& item : value.items) write_yaml_content(item, to);
}

} // namespace

InputError YamlPlace::error(const std::string& message) const {
  if (line == 0) return InputError(fmt::format("{}: {}", *source, message));
  return InputError(fmt::format("{}:{}:{}: {}", *source, line, column, message));
}

const std::string& YamlValue::word() const {
  if (kind != Kind::word || text.empty()) throw error("expected a word");
  return text;
}

long double YamlValue::number() const {
  long double found = 0;
  const std::string& digits = word();
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), found);
  if (fault != std::errc() || end != digits.data() + digits.size() || !std::isfinite(found))
    throw error(fmt::format("{} is no number", short_quote(digits)));
  return found;
}

std::span<const YamlValue> YamlValue::list() const {
  if (kind != Kind::list) throw error("expected a list");
  return items;
}

bool YamlValue::has_key(std::string_view key) const {
  if (kind != Kind::keys) return false;
  for (std::size_t i = 0; i < items.size(); i += 2)
    if (items[i].text == key) return true;
  return false;
}

std::string YamlValue::content() const {
  std::string written;
  write_yaml_content(*this, written);
  return written;
}

YamlFields::YamlFields(const YamlValue& value, const std::vector<std::string>& known)
    : value_(value) {
  if (value.kind != YamlValue::Kind::keys) throw value.error("expected keys");
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const YamlValue& key = value.items[i];
    if (std::ranges::find(known, key.text) == known.end())
      throw key.error(unknown_name("key", key.text.substr(0, 64), known));
    if (!values_.emplace(key.text, &value.items[i + 1]).second)
      throw key.error(fmt::format("the key \"{}\" stands twice", key.text));
  }
}

const YamlValue* YamlFields::find(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end() || found->second->kind == YamlValue::Kind::nothing) return nullptr;
  return found->second;
}

const YamlValue& YamlFields::need(std::string_view key) const {
  const YamlValue* value = find(key);
  if (value == nullptr) throw value_.error(fmt::format("no \"{}\"", key));
  return *value;
}

std::span<const YamlValue> YamlFields::list(std::string_view key) const {
  const YamlValue* value = find(key);
  return value == nullptr ? std::span<const YamlValue>() : value->list();
}

YamlValue parse_yaml(std::string_view content, const std::string& source) {
  const YamlPlace file{std::make_shared<const std::string>(source), 0, 0};
  if (content.size() > most_yaml_bytes)
    throw file.error(fmt::format("{} bytes of YAML (at most 16 MiB)", content.size()));
  if (first_no_text(content) != std::string_view::npos) throw file.error("no text in UTF-8");
  YamlTree tree(file);
  try {
    std::istringstream stream{std::string(content)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(tree)) continue;
  } catch (const YAML::Exception& e) {
    throw tree.place(e.mark).error(e.msg);
  }
  return tree.take();
}

} // namespace tutti::topologies
