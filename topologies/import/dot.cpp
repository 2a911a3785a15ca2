// Networks in Graphviz's language:
//
//   graph pod {
//     edge [bandwidth="400Gbps"]
//     a -- tor0; b -- tor0 [latency_us=1.3]
//   }
//
// Boost.Graph parses it, in words that are numbers (dot_words.hpp): what it gives back then has its
// place, and its order, as Boost sorts nodes by name.
// Sources: graphviz.org/doc/info/lang.html; Boost 1.74.
#include "topologies/import/dot_words.hpp"
#include "topologies/import/graph_meaning.hpp"
#include "topologies/import/list.hpp"
#include "topologies/parts.hpp"

#include <boost/graph/graphviz.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

/// Boost's callbacks, which speak in numbers of tokens.
class DotGraph : public boost::detail::graph::mutate_graph {
public:
  using Number = std::size_t;
  struct Properties : std::vector<std::pair<Number, Number>> {};
  struct Edge {
    Number from, to;
    Properties properties;
  };
  std::map<Number, Properties> nodes; ///< in the order of the file
  std::vector<Edge> edges;
  Properties properties;

  explicit DotGraph(bool is_digraph) : is_digraph_(is_digraph) {}
  [[nodiscard]] bool is_directed() const override { return is_digraph_; }
  void do_add_vertex(const std::string& node) override { nodes[number(node)]; }
  void do_add_edge(const boost::detail::graph::edge_t& /*edge*/, const std::string& source,
                   const std::string& target) override {
    edges.push_back({number(source), number(target), {}});
  }
  void set_node_property(const std::string& key, const std::string& node,
                         const std::string& value) override {
    nodes[number(node)].emplace_back(number(key), number(value));
  }
  void set_edge_property(const std::string& key, const boost::detail::graph::edge_t& /*edge*/,
                         const std::string& value) override {
    edges.back().properties.emplace_back(number(key), number(value)); // that which came last
  }
  void set_graph_property(const std::string& key, const std::string& value) override {
    properties.emplace_back(number(key), number(value));
  }
  void finish_building_graph() override {}

  /// "true" is Boost's value of an attribute without one.
  static constexpr Number no_value = static_cast<Number>(-1);

private:
  static Number number(const std::string& text) {
    Number value = no_value;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  bool is_digraph_;
};

class DotReader {
public:
  explicit DotReader(const ForeignFile& file)
      : content_(file.content), places_(file.content, file.source),
        dot_(dot_words(content_, places_)) {}

  TopologyParts read(Assumptions& assumed) const {
    DotGraph parsed(dot_.is_digraph);
    if (const auto fault = parse(0, dot_.words.size(), parsed)) throw syntax_error(*fault);
    return graph_parts(graph_of(parsed), places_, assumed);
  }

private:
  /// Its complaint about some words; where they begin within the graph, a graph is opened first.
  std::optional<std::string> parse(std::size_t begin, std::size_t end, DotGraph& parsed) const {
    std::string text;
    if (begin > 0) text = dot_.is_digraph ? "digraph {" : "graph {";
    for (std::size_t i = begin; i < end; ++i) text += dot_.words[i].first + "\n";
    try {
      boost::detail::graph::read_graphviz_new(text, &parsed);
    } catch (const std::exception& e) {
      return e.what();
    }
    return std::nullopt;
  }

  /// The word that it trips over is the last of the shortest beginning that it refuses for
  /// something else than its end.
  InputError syntax_error(const std::string& fault) const {
    const auto ends_early = [](const std::string& text) {
      return text.find("<eof>") != std::string::npos;
    };
    const std::string message = lower_first(fault.substr(0, fault.find(" (token is")));
    if (ends_early(fault))
      return places_.error(content_.size(), fmt::format("the graph ends early: {}", message));
    // `low` words are fine, `high` are not; what is fine needn't be parsed again.
    const std::vector<std::size_t> starts = statement_starts();
    std::size_t low = 0, high = dot_.words.size(), begin = 0;
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      DotGraph ignored(dot_.is_digraph);
      const auto found = parse(begin, middle, ignored);
      (found && !ends_early(*found) ? high : low) = middle;
      const auto after = std::ranges::upper_bound(starts, low);
      if (after != starts.begin()) begin = *std::prev(after);
    }
    const DotToken& token = dot_.tokens[dot_.words[high - 1].second];
    return places_.error(token.at, fmt::format("{} isn't what a graph has here: {}",
                                               short_quote(token.text), message));
  }
  /// Where one begins that is in no braces but the graph's, as far as words beside each other tell.
  [[nodiscard]] std::vector<std::size_t> statement_starts() const {
    std::vector<std::size_t> starts;
    std::size_t braces = 0, brackets = 0;
    const auto is_number = [&](std::size_t word) {
      return std::isdigit(static_cast<unsigned char>(dot_.words[word].first[0])) != 0;
    };
    for (std::size_t w = 1; w < dot_.words.size(); ++w) {
      const std::string& before = dot_.words[w - 1].first;
      braces += before == "{" ? 1U : 0U;
      braces -= before == "}" && braces > 0 ? 1U : 0U;
      brackets += before == "[" ? 1U : 0U;
      brackets -= before == "]" && brackets > 0 ? 1U : 0U;
      if (braces == 1 && brackets == 0 && is_number(w) &&
          (is_number(w - 1) || before == "]" || before == "}" || before == ";"))
        starts.push_back(w);
    }
    return starts;
  }

  static std::string lower_first(std::string text) {
    if (!text.empty())
      text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
  }

  [[nodiscard]] GraphAttributes attributes_of(const DotGraph::Properties& properties) const {
    GraphAttributes attributes;
    for (const auto& [key, value] : properties)
      if (value != DotGraph::no_value)
        attributes.push_back(
            {dot_.tokens[key].text, dot_.tokens[value].text, dot_.tokens[value].at});
      else
        attributes.push_back({dot_.tokens[key].text, "true", dot_.tokens[key].at});
    return attributes;
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
        throw places_.error(attribute.at, fmt::format("unknown dir \"{}\" (known: forward, back, "
                                                      "both, none)",
                                                      attribute.text));
    }
  }

  [[nodiscard]] ForeignGraph graph_of(const DotGraph& parsed) const {
    ForeignGraph graph;
    graph.unknown = dot_.unknown;
    graph.attributes = attributes_of(parsed.properties);
    std::unordered_map<DotGraph::Number, std::size_t> index;
    for (const auto& [number, properties] : parsed.nodes) {
      index.emplace(number, graph.nodes.size());
      graph.nodes.push_back(
          {dot_.tokens[number].text, dot_.tokens[number].at, attributes_of(properties)});
    }
    if (graph.nodes.size() > most_npus)
      throw places_.error(0, fmt::format("more than {} nodes", most_npus));
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const DotGraph::Edge& edge : parsed.edges) {
      const std::size_t from = index.at(edge.from), to = index.at(edge.to);
      graph.edges.push_back(
          {from, to, dot_.is_digraph, dot_.tokens[edge.from].at, attributes_of(edge.properties)});
      if (dot_.is_digraph) turn(graph.edges.back());
      if (!dot_.is_strict) continue;
      const bool swapped = !dot_.is_digraph && from > to;
      if (!pairs.emplace(swapped ? to : from, swapped ? from : to).second)
        throw places_.error(dot_.tokens[edge.from].at,
                            fmt::format("a second link from \"{}\" to \"{}\" in a strict graph",
                                        dot_.tokens[edge.from].text, dot_.tokens[edge.to].text));
    }
    return graph;
  }

  std::string_view content_;
  TextPlaces places_;
  DotWords dot_;
};

} // namespace

TopologyParts read_dot(const ForeignFile& file, Assumptions& assumed) {
  return DotReader(file).read(assumed);
}

} // namespace tutti::topologies
