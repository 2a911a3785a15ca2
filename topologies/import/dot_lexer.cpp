// Why: Boost's parser of Graphviz's language says nothing of where words stand. What a word is
// follows Graphviz: keywords in whichever case, names, numbers, strings in quotes (which + joins)
// and in <>.
// Source: graphviz.org/doc/info/lang.html.
#include "topologies/import/dot_lexer.hpp"

#include "topologies/import/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tutti::topologies {

namespace {

bool is_dot_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalpha(byte) != 0 || c == '_';
}
bool is_dot_digit(char c) { return c >= '0' && c <= '9'; }

} // namespace

DotLexer::DotLexer(std::string_view content, const TextPlaces& places)
    : content_(content), places_(places) {
  if (content_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

DotToken DotLexer::next() {
  skip();
  const std::size_t from = at_;
  if (at_ == content_.size()) return {DotKind::end, "", from};
  const char c = content_[at_];
  if (std::string_view("{}[];,=:").find(c) != std::string_view::npos) {
    ++at_;
    return {DotKind::mark, std::string(1, c), from};
  }
  const std::string_view two = content_.substr(at_, 2);
  if (two == "--" || two == "->") {
    at_ += 2;
    return {DotKind::link, std::string(two), from};
  }
  if (is_dot_letter(c)) {
    while (at_ < content_.size() && (is_dot_letter(content_[at_]) || is_dot_digit(content_[at_])))
      ++at_;
    std::string word(content_.substr(from, at_ - from));
    constexpr std::array keywords{
        std::pair{"strict", DotKind::strict},   std::pair{"graph", DotKind::graph},
        std::pair{"digraph", DotKind::digraph}, std::pair{"node", DotKind::node},
        std::pair{"edge", DotKind::edge},       std::pair{"subgraph", DotKind::subgraph}};
    for (const auto& [name, kind] : keywords)
      if (same_but_for_case(word, name)) return {kind, name, from};
    return {DotKind::id, std::move(word), from};
  }
  if (is_dot_digit(c) || c == '.' || c == '-') return number();
  if (c == '"') return {DotKind::id, strings(), from};
  if (c == '<') return {DotKind::id, html(), from};
  throw places_.error(from, fmt::format("\"{}\" begins no word of a graph", c));
}

void DotLexer::skip() {
  while (at_ < content_.size()) {
    const std::string_view two = content_.substr(at_, 2);
    if (std::isspace(static_cast<unsigned char>(content_[at_])) != 0) {
      ++at_;
    } else if (two == "//" || (two[0] == '#' && (at_ == 0 || content_[at_ - 1] == '\n'))) {
      at_ = std::min(content_.find('\n', at_), content_.size());
    } else if (two == "/*") {
      const std::size_t close = content_.find("*/", at_ + 2);
      if (close == std::string_view::npos) throw places_.error(at_, "a comment without an end");
      at_ = close + 2;
    } else {
      return;
    }
  }
}

DotToken DotLexer::number() {
  const std::size_t from = at_;
  if (content_[at_] == '-') ++at_;
  std::size_t digits = 0;
  for (bool point = false; at_ < content_.size(); ++at_) {
    if (is_dot_digit(content_[at_]))
      ++digits;
    else if (content_[at_] == '.' && !point)
      point = true;
    else
      break;
  }
  if (digits == 0)
    throw places_.error(from, fmt::format("\"{}\" begins no word of a graph", content_[from]));
  if (at_ < content_.size() && is_dot_letter(content_[at_]))
    throw places_.error(from, "a number with letters after it has to stand in quotes");
  return {DotKind::id, std::string(content_.substr(from, at_ - from)), from};
}

std::string DotLexer::strings() {
  std::string text = quoted();
  while (true) {
    const std::size_t before = at_;
    skip();
    if (at_ == content_.size() || content_[at_] != '+') {
      at_ = before;
      return text;
    }
    ++at_;
    skip();
    if (at_ == content_.size() || content_[at_] != '"')
      throw places_.error(std::min(at_, content_.size()), "a string has to follow +");
    text += quoted();
  }
}

std::string DotLexer::quoted() {
  const std::size_t from = at_++;
  std::string text;
  while (at_ < content_.size() && content_[at_] != '"') {
    const std::string_view two = content_.substr(at_, 2);
    if (two == "\\\"" || two == "\\\\") { // Graphviz keeps \\ as it is
      text += two == "\\\"" ? "\"" : "\\\\";
      at_ += 2;
    } else if (two == "\\\n") {
      at_ += 2;
    } else {
      text += content_[at_++];
    }
  }
  if (at_ == content_.size()) throw places_.error(from, "a string without an end");
  ++at_;
  return text;
}

std::string DotLexer::html() {
  const std::size_t from = at_;
  std::size_t depth = 0;
  do {
    depth += content_[at_] == '<' ? 1U : 0U;
    depth -= content_[at_] == '>' ? 1U : 0U;
    ++at_;
  } while (at_ < content_.size() && depth > 0);
  if (depth > 0) throw places_.error(from, "a string in <> without an end");
  return std::string(content_.substr(from, at_ - from));
}

bool is_dot(std::string_view content) {
  // [strict] (graph | digraph) [name] {
  try {
    const TextPlaces nowhere(content, "");
    DotLexer lexer(content, nowhere);
    DotToken token = lexer.next();
    if (token.kind == DotKind::strict) token = lexer.next();
    if (token.kind != DotKind::graph && token.kind != DotKind::digraph) return false;
    token = lexer.next();
    if (token.kind == DotKind::id) token = lexer.next();
    return token.is('{');
  } catch (const InputError&) {
    return false;
  }
}

} // namespace tutti::topologies
