// Networks in GraphML (NetworkX, Gephi, yEd, the Internet Topology Zoo):
//
//   <edge source="a" target="tor0">
//     <data key="bandwidth">400Gbps</data>
//   </edge>
//
// pugixml reads it, as Boost's reader keeps the ids of nodes to itself, makes nodes of misspelt
// ends, passes over nested graphs and has no places.
// Sources: graphml.graphdrawing.org's primer; topology-zoo.org.
#include "sim/text.hpp"
#include "topologies/import/graph_meaning.hpp"
#include "topologies/import/list.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

class GraphmlReader {
public:
  explicit GraphmlReader(const ForeignFile& file)
      : content_(file.content), places_(file.content, file.source) {}

  TopologyParts read(Assumptions& assumed) {
    constexpr std::int64_t most_elements = 12'000'000;
    if (std::ranges::count(content_, '<') > most_elements)
      throw places_.error(0, fmt::format("more than {} elements", most_elements));
    constexpr unsigned options = pugi::parse_default | pugi::parse_doctype;
    const pugi::xml_parse_result parsed =
        document_.load_buffer(content_.data(), content_.size(), options, pugi::encoding_utf8);
    if (!parsed) throw places_.error(static_cast<std::size_t>(parsed.offset), parsed.description());
    for (const pugi::xml_node node : document_.children())
      if (node.type() == pugi::node_doctype)
        throw error(node, "a document type, which may define entities, isn't read");
    const pugi::xml_node root = document_.document_element();
    if (local(root) != "graphml") throw error(root, "the outermost element isn't <graphml>");
    pugi::xml_node graph;
    for (const pugi::xml_node child : root.children()) {
      if (local(child) == "key") read_key(child);
      if (local(child) != "graph") continue;
      if (graph) throw error(child, "a second graph");
      graph = child;
    }
    if (!graph) throw error(root, "no <graph>");
    read_graph(graph);
    return graph_parts(graph_, places_, assumed);
  }

private:
  struct GraphmlKey {
    std::string_view name, of; ///< of: "node", "edge", "graph", "all"
    std::optional<GraphAttribute> preset;
  };

  [[nodiscard]] static std::size_t at(pugi::xml_node node) {
    // pugixml says where its name begins.
    const std::ptrdiff_t offset = node.offset_debug() - (node.type() == pugi::node_element ? 1 : 0);
    return offset < 0 ? 0 : static_cast<std::size_t>(offset);
  }
  [[nodiscard]] InputError error(pugi::xml_node node, std::string_view message) const {
    return places_.error(at(node), message);
  }
  /// Without the prefix of a namespace.
  static std::string_view local(pugi::xml_node node) {
    const std::string_view name = node.name();
    const std::size_t colon = name.find(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
  }
  [[nodiscard]] std::string_view needed(pugi::xml_node node, const char* attribute) const {
    const pugi::xml_attribute found = node.attribute(attribute);
    if (!found) throw error(node, fmt::format("<{}> without {}", node.name(), attribute));
    return found.value();
  }

  /// The text in it; with elements or in pieces it means something else.
  [[nodiscard]] GraphAttribute text_of(pugi::xml_node node, std::string_view key) const {
    GraphAttribute attribute{key, "", at(node)};
    for (const pugi::xml_node child : node.children()) {
      if (child.type() != pugi::node_pcdata && child.type() != pugi::node_cdata)
        throw error(child, fmt::format("\"{}\" has an element in it, not a value", key));
      if (!attribute.text.empty())
        throw error(child, fmt::format("the value of \"{}\" stands in two pieces", key));
      attribute.text = trimmed(child.value());
      attribute.at = at(child);
    }
    return attribute;
  }

  void read_key(pugi::xml_node node) {
    GraphmlKey key{node.attribute("attr.name").value(), "all", std::nullopt};
    if (const pugi::xml_attribute of = node.attribute("for")) key.of = of.value();
    const bool is_known = is_known_attribute(key.name);
    const std::string_view drawn = node.attribute("yfiles.type").value(); // names none otherwise
    if (const std::string_view name = key.name.empty() ? drawn : key.name;
        !is_known && !name.empty())
      graph_.unknown.insert(short_quote(name));
    for (const pugi::xml_node child : node.children())
      if (is_known && local(child) == "default") key.preset = text_of(child, key.name);
    const std::string_view id = needed(node, "id");
    if (!keys_.emplace(id, key).second)
      throw error(node, fmt::format("key \"{}\" stands twice", id));
  }

  /// <data> of an element, then defaults.
  GraphAttributes attributes_of(pugi::xml_node node, std::string_view kind) const {
    GraphAttributes attributes;
    std::vector<const GraphmlKey*> said;
    for (const pugi::xml_node child : node.children()) {
      if (local(child) != "data") continue;
      const std::string_view id = needed(child, "key");
      const auto key = keys_.find(id);
      if (key == keys_.end()) throw error(child, fmt::format("no <key> has the id \"{}\"", id));
      if (!is_known_attribute(key->second.name)) continue;
      if (std::ranges::find(said, &key->second) != said.end())
        throw error(child, fmt::format("\"{}\" stands twice", key->second.name));
      said.push_back(&key->second);
      attributes.push_back(text_of(child, key->second.name));
      constexpr std::size_t most = 100;
      if (said.size() > most) throw error(child, fmt::format("more than {} attributes", most));
    }
    for (const GraphmlKey* key : presets_)
      if ((key->of == kind || key->of == "all") && std::ranges::find(said, key) == said.end())
        attributes.push_back(*key->preset);
    return attributes;
  }

  void read_graph(pugi::xml_node graph) {
    for (const auto& [id, key] : keys_)
      if (key.preset) presets_.push_back(&key);
    constexpr std::size_t most_presets = 20;
    if (presets_.size() > most_presets)
      throw error(graph, fmt::format("more than {} attributes with defaults", most_presets));
    const std::string_view edges = needed(graph, "edgedefault");
    if (edges != "directed" && edges != "undirected")
      throw error(graph,
                  fmt::format("edgedefault is \"{}\", neither directed nor undirected", edges));
    graph_.attributes = attributes_of(graph, "graph");
    for (const pugi::xml_node child : graph.children()) {
      if (local(child) == "node") read_node(child);
      if (local(child) == "hyperedge") throw error(child, "hyperedges aren't read");
    }
    for (const pugi::xml_node child : graph.children())
      if (local(child) == "edge") read_edge(child, edges == "directed");
  }

  void refuse_nested(pugi::xml_node node) const {
    for (const pugi::xml_node child : node.children())
      if (local(child) == "graph") throw error(child, "graphs within nodes or edges aren't read");
  }

  void read_node(pugi::xml_node node) {
    refuse_nested(node);
    const std::string_view id = needed(node, "id");
    if (!ids_.emplace(id, graph_.nodes.size()).second)
      throw error(node, fmt::format("node \"{}\" stands twice", id));
    graph_.nodes.push_back({id, at(node), attributes_of(node, "node")});
    if (graph_.nodes.size() > most_npus)
      throw error(node, fmt::format("more than {} nodes", most_npus));
  }

  void read_edge(pugi::xml_node node, bool is_directed) {
    refuse_nested(node);
    GraphEdge edge;
    edge.at = at(node);
    edge.is_directed = is_directed;
    for (const auto& [key, end] :
         {std::pair{"source", &GraphEdge::from}, {"target", &GraphEdge::to}}) {
      const std::string_view id = needed(node, key);
      const auto found = ids_.find(id);
      if (found == ids_.end()) throw error(node, fmt::format("there is no node \"{}\"", id));
      edge.*end = found->second;
    }
    if (const pugi::xml_attribute directed = node.attribute("directed")) {
      const std::string_view word = directed.value();
      edge.is_directed = word == "true" || word == "1";
      if (!edge.is_directed && word != "false" && word != "0")
        throw error(node, fmt::format("directed is \"{}\", neither true nor false", word));
    }
    edge.attributes = attributes_of(node, "edge");
    graph_.edges.push_back(std::move(edge));
  }

  std::string_view content_;
  TextPlaces places_;
  pugi::xml_document document_;
  ForeignGraph graph_;
  std::map<std::string_view, GraphmlKey> keys_;
  std::vector<const GraphmlKey*> presets_; ///< with defaults
  std::unordered_map<std::string_view, std::size_t> ids_;
};

} // namespace

bool is_graphml(std::string_view content) {
  constexpr std::size_t head = std::size_t{1} << 16;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  return first_character(content) == '<' &&
         content.substr(0, head).find("<graphml") != std::string_view::npos;
}

TopologyParts read_graphml(const ForeignFile& file, Assumptions& assumed) {
  return GraphmlReader(file).read(assumed);
}

} // namespace tutti::topologies
