// Where everything of a network stands in a picture, as values: whoever draws (network_figure.hpp,
// a page in a browser) only paints them. All lengths are points; x grows to the right, y downwards.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct Position {
  double x = 0, y = 0;
  bool operator==(const Position&) const = default;
};
inline Position operator+(Position a, Position b) { return {a.x + b.x, a.y + b.y}; }
inline Position operator-(Position a, Position b) { return {a.x - b.x, a.y - b.y}; }
inline Position operator*(Position a, double factor) { return {a.x * factor, a.y * factor}; }

enum class NodeClass : std::uint8_t {
  npu,       ///< a disc
  switching, ///< a square
  nic,       ///< a small square: a switch between a server's nodes and what is outside
  cpu,       ///< a square: what forwards between a server's buses
  memory,    ///< a square
  many,      ///< several nodes drawn as one, NPUs among them: a large square
};

/// Where a text stands, and how large it is.
struct LayoutLabel {
  std::string text;    ///< empty: there is none
  Position at;         ///< the middle of its box
  double font = 0;     ///< size in points
  bool inside = false; ///< on its node
};

struct LayoutNode {
  Position at;
  double radius = 0; ///< of a disc; half the side of a square
  NodeClass kind = NodeClass::npu;
  LayoutLabel label;
  std::vector<NodeId> nodes; ///< ascending; one, or several where they are drawn as one
};

/// A server, a group, a layer of a grid: a closed line around nodes.
struct LayoutBox {
  std::vector<Position> outline; ///< corners; the last is joined to the first
  LayoutLabel label;
  std::vector<std::uint32_t> nodes; ///< indices into Layout::nodes, ascending
};

enum class LinkCourse : std::uint8_t {
  straight,
  bent,  ///< around what stands between its ends
  stubs, ///< only its two ends are drawn: a torus's wrap-around, links between layers
};

/// A link as it is drawn, from the edge of its first node to that of its second. Those of both
/// directions, and parallel ones, lie side by side, each to the right of its middle line.
struct LayoutLink {
  std::uint32_t from = 0, to = 0; ///< indices into Layout::nodes
  LinkCourse course = LinkCourse::straight;
  std::vector<std::vector<Position>> strokes; ///< open lines in its direction; two where stubs
  std::vector<LinkId> links; ///< ascending; one, or several where they are drawn as one
};

struct Layout {
  std::string_view arrangement; ///< "grid", "circle", "tree", ...
  std::string note;             ///< what the reader must know: what is aggregated, what stubs are
  double width = 0, height = 0; ///< everything lies within (0, 0) and this corner
  double lane = 0;              ///< distance of links side by side: no link may be wider
  std::vector<LayoutNode> nodes;
  std::vector<LayoutBox> boxes;
  std::vector<LayoutLink> links;      ///< by their ends, parallel ones from left to right
  std::vector<std::uint32_t> node_of; ///< [NodeId]: index into nodes
  std::vector<std::uint32_t> link_of; ///< [LinkId]: index into links; UINT32_MAX within a node
};

/// By the network's own structure (rings, grids, trees, servers, groups; else by forces), never by
/// its name. Above 1,024 NPUs, and where a tree has more leaves than a page is wide, what belongs
/// together is drawn as one node; up to 64 nodes, each is drawn. The same for any order of the
/// links.
/// Cost: up to a second at 1,024 nodes without structure.
[[nodiscard]] Layout layout_of(const Topology& topology);

/// NPUs on a circle, all else on a smaller one, all links straight: for pictures that need as much
/// room at each node. Readable for up to some 64 nodes.
[[nodiscard]] Layout layout_around(const Topology& topology);

/// Everything smaller or larger by this factor; fonts are not, and labels that no longer fit go.
[[nodiscard]] Layout scaled(const Layout& layout, double factor);

/// About how much room a text takes.
[[nodiscard]] double label_width(std::string_view text, double font);
[[nodiscard]] double label_height(double font);

} // namespace tutti
