// Networks in Graphviz's language:
//
//   graph pod {
//     edge [bandwidth="400Gbps"]
//     a -- tor0; b -- tor0 [latency_us=1.3]
//   }
//
// Why: no library reads it that says where a word stands, and a few lines of groups and defaults
// may stand for as many links as they like. Idea: one function for each rule of the grammar, a word
// at a time; what they make is counted. Braces at an end of a link stand for all nodes that are
// named in them, also within other braces, and later where they have a name.
//
// Two things differ from Graphviz: a second link between two nodes of a strict graph is refused, as
// one of them would be dropped; and a group with a name is one group, wherever it stands.
// Source: graphviz.org/doc/info/lang.html.
#include "topologies/import/graph_meaning.hpp"
#include "topologies/import/list.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

enum class DotKind : std::uint8_t {
  strict,
  graph,
  digraph,
  node,
  edge,
  subgraph,
  id,
  mark, ///< one of {}[];,=:
  link, ///< -- or ->
  end,
};

struct DotToken {
  DotKind kind = DotKind::end;
  std::string_view text; ///< lives as long as the lexer and its file
  std::size_t at = 0;

  [[nodiscard]] bool is(char mark) const { return kind == DotKind::mark && text[0] == mark; }
};

bool is_dot_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalpha(byte) != 0 || c == '_';
}
bool is_dot_digit(char c) { return c >= '0' && c <= '9'; }

/// The words of a file: keywords in whichever case, names, numbers, strings in quotes (which +
/// joins) and in <>.
class DotLexer {
public:
  explicit DotLexer(const ForeignFile& file)
      : content_(file.content), places_(file.content, file.source) {
    if (content_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  [[nodiscard]] const TextPlaces& places() const { return places_; }

  /// After the last one: ends. Errors: InputError with the place.
  DotToken next() {
    skip();
    const std::size_t from = at_;
    if (at_ == content_.size()) return {DotKind::end, "", from};
    const char c = content_[at_];
    if (std::string_view("{}[];,=:").find(c) != std::string_view::npos)
      return {DotKind::mark, passed(1), from};
    if (const std::string_view two = content_.substr(at_, 2); two == "--" || two == "->")
      return {DotKind::link, passed(2), from};
    if (is_dot_letter(c)) return word();
    if (is_dot_digit(c) || c == '.' || c == '-') return {DotKind::id, number(), from};
    if (c == '"') return {DotKind::id, strings(), from};
    if (c == '<') return {DotKind::id, html(), from};
    throw places_.error(from, fmt::format("\"{}\" begins no word of a graph", c));
  }

private:
  void pass(bool (*is_part)(char)) {
    while (at_ < content_.size() && is_part(content_[at_])) ++at_;
  }
  std::string_view passed(std::size_t length) {
    at_ += length;
    return content_.substr(at_ - length, length);
  }

  /// Spaces and comments.
  void skip() {
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

  DotToken word() {
    const std::size_t from = at_;
    pass([](char c) { return is_dot_letter(c) || is_dot_digit(c); });
    const std::string_view word = content_.substr(from, at_ - from);
    constexpr std::array keywords{
        std::pair{"strict", DotKind::strict},   std::pair{"graph", DotKind::graph},
        std::pair{"digraph", DotKind::digraph}, std::pair{"node", DotKind::node},
        std::pair{"edge", DotKind::edge},       std::pair{"subgraph", DotKind::subgraph}};
    for (const auto& [name, kind] : keywords)
      if (same_but_for_case(word, name)) return {kind, word, from};
    return {DotKind::id, word, from};
  }

  std::string_view number() {
    const std::size_t from = at_;
    if (content_[at_] == '-') ++at_;
    pass(is_dot_digit);
    if (content_.substr(at_, 1) == ".") {
      ++at_;
      pass(is_dot_digit);
    }
    if (std::ranges::none_of(content_.substr(from, at_ - from), is_dot_digit))
      throw places_.error(from, fmt::format("\"{}\" begins no word of a graph", content_[from]));
    if (at_ < content_.size() && is_dot_letter(content_[at_]))
      throw places_.error(from, "a number with letters after it has to stand in quotes");
    return content_.substr(from, at_ - from);
  }

  /// "a" + "b" is one.
  std::string_view strings() {
    std::string& text = texts_.emplace_back();
    add_quoted(text);
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
        throw places_.error(at_, "a string has to follow +");
      add_quoted(text);
    }
  }

  void add_quoted(std::string& text) {
    const std::size_t from = at_++;
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
  }

  /// Between < and >, which may nest.
  std::string_view html() {
    const std::size_t from = at_;
    std::size_t depth = 0;
    do {
      depth += content_[at_] == '<' ? 1U : 0U;
      depth -= content_[at_] == '>' ? 1U : 0U;
      ++at_;
    } while (at_ < content_.size() && depth > 0);
    if (depth > 0) throw places_.error(from, "a string in <> without an end");
    return content_.substr(from, at_ - from);
  }

  std::string_view content_;
  TextPlaces places_;
  std::size_t at_ = 0;
  std::deque<std::string> texts_; ///< of strings in quotes
};

class DotReader {
public:
  explicit DotReader(const ForeignFile& file) : lexer_(file), token_(lexer_.next()) {}

  /// As far as its brace. Errors: InputError where it is none.
  void read_head() {
    if (token_.kind == DotKind::strict) is_strict_ = true, take();
    is_digraph_ = token_.kind == DotKind::digraph;
    if (!is_digraph_ && token_.kind != DotKind::graph) throw unexpected(R"("graph" or "digraph")");
    take();
    const bool has_name = token_.kind == DotKind::id;
    if (has_name) take();
    if (!token_.is('{')) throw unexpected(has_name ? "\"{\"" : "a name or \"{\"");
  }

  TopologyParts read(Assumptions& assumed) {
    read_head();
    DotGroup& whole = groups_.emplace_back();
    read_body(whole);
    if (token_.kind != DotKind::end) throw unexpected("the end of the file");
    graph_.attributes = whole.of_graph;
    return graph_parts(graph_, lexer_.places(), assumed);
  }

private:
  /// What stands in braces.
  struct DotGroup {
    GraphAttributes of_graph, of_nodes, of_edges; ///< the latter two: what new ones get
    std::vector<std::size_t> nodes, groups;       ///< named in it
  };
  /// One end of a link.
  struct DotEnd {
    bool is_group = false;
    std::size_t number = 0; ///< of the node, or of the group
    std::size_t at = 0;
  };

  DotToken take() { return std::exchange(token_, lexer_.next()); }
  bool took(char mark) {
    if (!token_.is(mark)) return false;
    take();
    return true;
  }
  [[nodiscard]] InputError error(std::size_t at, const std::string& message) const {
    return lexer_.places().error(at, message);
  }
  [[nodiscard]] InputError unexpected(std::string_view expected) const {
    const std::string found =
        token_.kind == DotKind::end ? "the end of the file" : short_quote(token_.text);
    return error(token_.at, fmt::format("expected {}, found {}", expected, found));
  }

  void spend(std::size_t units) {
    constexpr std::size_t most = 8'000'000; // some 100 bytes each
    spent_ += std::min(units, most + 1);
    if (spent_ > most)
      throw error(token_.at, "groups and defaults make more links and attributes than fit");
  }

  /// `{ ... }`
  void read_body(DotGroup& group) {
    constexpr std::size_t deepest = 100;
    if (++depth_ > deepest)
      throw error(token_.at, fmt::format("more than {} braces within each other", deepest));
    take();
    while (!took('}')) {
      read_statement(group);
      took(';');
    }
    --depth_;
  }

  void read_statement(DotGroup& group) {
    const DotKind kind = token_.kind;
    if (kind == DotKind::graph || kind == DotKind::node || kind == DotKind::edge) {
      take();
      if (!token_.is('[')) throw unexpected("\"[\"");
      read_attributes(kind == DotKind::graph  ? group.of_graph
                      : kind == DotKind::node ? group.of_nodes
                                              : group.of_edges);
      return;
    }
    std::vector<DotEnd> ends;
    if (kind == DotKind::id) {
      const DotToken name = take();
      if (took('=')) return set(group.of_graph, name, value());
      ends.push_back(node(name, group));
    } else {
      ends.push_back(read_end(group, "a node, a link, an attribute or \"}\""));
    }
    while (token_.kind == DotKind::link) {
      if ((token_.text == "->") != is_digraph_)
        throw unexpected(is_digraph_ ? "\"->\", as in every digraph" : "\"--\", as in every graph");
      take();
      ends.push_back(read_end(group, "a node or \"{\""));
    }
    if (ends.size() == 1) {
      if (!ends[0].is_group) read_attributes(graph_.nodes[ends[0].number].attributes);
      return;
    }
    GraphAttributes attributes = group.of_edges;
    read_attributes(attributes);
    for (std::size_t i = 1; i < ends.size(); ++i) add_edges(ends[i - 1], ends[i], attributes);
  }

  /// `[a=b, c] [d=e]`, as many lists as there are; of the same name the last one holds.
  void read_attributes(GraphAttributes& to) {
    while (took('['))
      while (!took(']')) {
        if (token_.kind != DotKind::id) throw unexpected("the name of an attribute or \"]\"");
        const DotToken name = take();
        set(to, name, took('=') ? value() : DotToken{DotKind::id, "true", name.at});
        if (!took(',')) took(';');
      }
  }
  DotToken value() {
    if (token_.kind != DotKind::id) throw unexpected("a value");
    return take();
  }
  void set(GraphAttributes& attributes, const DotToken& name, const DotToken& value) {
    if (!is_known_attribute(name.text)) {
      graph_.unknown.insert(short_quote(name.text));
      return;
    }
    const auto same = std::ranges::find(attributes, name.text, &GraphAttribute::key);
    if (same != attributes.end()) {
      *same = {name.text, value.text, value.at};
      return;
    }
    constexpr std::size_t most = 100;
    if (attributes.size() == most)
      throw error(name.at, fmt::format("more than {} attributes", most));
    attributes.push_back({name.text, value.text, value.at});
  }

  /// A node or a group, which is then in the `group`, too.
  DotEnd read_end(DotGroup& group, std::string_view expected) {
    if (token_.kind == DotKind::id) return node(take(), group);
    if (token_.kind != DotKind::subgraph && !token_.is('{')) throw unexpected(expected);
    const std::size_t at = token_.at;
    std::size_t number = groups_.size();
    bool has_name = false;
    if (token_.kind == DotKind::subgraph) {
      take();
      has_name = token_.kind == DotKind::id;
      if (has_name) number = named_.emplace(take().text, number).first->second;
      if (!has_name && !token_.is('{')) throw unexpected("a name or \"{\"");
    }
    if (number == groups_.size()) {
      spend(1 + group.of_nodes.size() + group.of_edges.size());
      groups_.push_back({{}, group.of_nodes, group.of_edges, {}, {}});
    }
    if (token_.is('{')) read_body(groups_[number]);
    group.groups.push_back(number);
    return {true, number, at};
  }

  DotEnd node(const DotToken& name, DotGroup& group) {
    const auto [found, is_new] = numbers_.emplace(name.text, graph_.nodes.size());
    spend(1 + (is_new ? group.of_nodes.size() : 0));
    if (is_new) {
      if (graph_.nodes.size() == most_npus)
        throw error(name.at, fmt::format("more than {} nodes", most_npus));
      graph_.nodes.push_back({name.text, name.at, group.of_nodes});
    }
    while (took(':')) { // ports
      if (token_.kind != DotKind::id) throw unexpected("a port");
      take();
    }
    group.nodes.push_back(found->second);
    return {false, found->second, name.at};
  }

  /// In the order in which they are first named.
  std::vector<std::size_t> nodes_of(const DotEnd& end) {
    if (!end.is_group) return {end.number};
    std::vector<std::size_t> nodes, open{end.number};
    for (std::set<std::size_t> seen(open.begin(), open.end()); !open.empty();) {
      const DotGroup& group = groups_[open.back()];
      open.pop_back();
      spend(1 + (group.nodes.size() + group.groups.size()) / 16);
      nodes.insert(nodes.end(), group.nodes.begin(), group.nodes.end());
      for (const std::size_t inner : group.groups)
        if (seen.insert(inner).second) open.push_back(inner);
    }
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  void add_edges(const DotEnd& left, const DotEnd& right, const GraphAttributes& attributes) {
    const std::vector<std::size_t> sources = nodes_of(left), targets = nodes_of(right);
    spend(sources.size() * targets.size() * (4 + attributes.size()));
    for (const std::size_t from : sources)
      for (const std::size_t to : targets) {
        const std::pair pair = is_digraph_ ? std::pair(from, to) : std::minmax({from, to});
        if (is_strict_ && !pairs_.insert(pair).second)
          throw error(left.at, fmt::format("a second link from \"{}\" to \"{}\" in a strict graph",
                                           graph_.nodes[from].id, graph_.nodes[to].id));
        graph_.edges.push_back({from, to, is_digraph_, left.at, attributes});
        if (is_digraph_) turn(graph_.edges.back());
      }
  }

  /// By Graphviz's `dir`, which says where arrows are drawn.
  void turn(GraphEdge& edge) const {
    for (const GraphAttribute& attribute : edge.attributes) {
      if (attribute.key != "dir" || attribute.text == "forward") continue;
      if (attribute.text == "back")
        std::swap(edge.from, edge.to);
      else if (attribute.text == "both" || attribute.text == "none")
        edge.is_directed = false;
      else
        throw error(
            attribute.at,
            fmt::format("unknown dir \"{}\" (known: forward, back, both, none)", attribute.text));
    }
  }

  DotLexer lexer_;
  DotToken token_; ///< the next one
  ForeignGraph graph_;
  std::unordered_map<std::string_view, std::size_t> numbers_; ///< of nodes
  std::deque<DotGroup> groups_;                               ///< the first is the whole graph
  std::unordered_map<std::string_view, std::size_t> named_;   ///< groups
  std::set<std::pair<std::size_t, std::size_t>> pairs_;       ///< of strict graphs: with a link
  std::size_t depth_ = 0, spent_ = 0;
  bool is_digraph_ = false, is_strict_ = false;
};

} // namespace

bool is_dot(std::string_view content) {
  try {
    DotReader({content, ""}).read_head();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

TopologyParts read_dot(const ForeignFile& file, Assumptions& assumed) {
  return DotReader(file).read(assumed);
}

} // namespace tutti::topologies
