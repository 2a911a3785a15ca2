// Graphs of other programs: nodes and edges with attributes, and the networks that they mean.
#pragma once

#include "sim/topology.hpp"
#include "topologies/import/assumptions.hpp"
#include "topologies/import/text_lines.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topologies {

/// What a file gives, before anyone knows what it means. Texts live as long as their reader.
struct GraphAttribute {
  std::string_view key, text;
  std::size_t at = 0; ///< byte of the text in the file
};
using GraphAttributes = std::vector<GraphAttribute>;

struct GraphNode {
  std::string_view id;
  std::size_t at = 0;
  GraphAttributes attributes;
};

struct GraphEdge {
  std::size_t from = 0, to = 0; ///< indices of nodes
  bool is_directed = false;
  std::size_t at = 0;
  GraphAttributes attributes;
};

struct ForeignGraph {
  std::set<std::string> unknown; ///< attributes that nobody asks for, in quotes
  GraphAttributes attributes;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};

/// Whether an attribute of a node, an edge or a graph matters here.
[[nodiscard]] bool is_known_attribute(std::string_view key);

/// NPUs first. Errors: InputError with the place.
[[nodiscard]] TopologyParts graph_parts(const ForeignGraph& graph, const TextPlaces& places,
                                        Assumptions& assumed);

} // namespace tutti::topologies
