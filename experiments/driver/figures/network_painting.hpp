// A layout on a canvas, each link and node painted as it is asked for.
#pragma once

#include "experiments/driver/figures/canvas.hpp"
#include "experiments/driver/figures/layout/layout.hpp"

#include <span>
#include <vector>

namespace tutti {

inline constexpr int name_ink = 0x222222; ///< of names beside nodes, and of legends

/// How a link and a node of a layout are painted.
struct LinkPaint {
  int colour = 0x888888;
  double width = 1; ///< points
  int layer = 0;    ///< 0 .. 63: later ones above earlier ones
  bool is_dead = false;
  bool is_marked = false;
};
struct NodePaint {
  int fill = 0xffffff, edge = 0x3c4650, ink = 0x222222;
  bool is_dead = false;
};

/// As NPUs, switches, memories look where nothing is to be said of them.
[[nodiscard]] std::vector<NodePaint> plain_nodes(const Layout& layout);

/// The layout at a place of the canvas: boxes, links, nodes and their names, in layers up to 99.
void paint_network(Canvas& canvas, const Layout& layout, std::span<const LinkPaint> links,
                   std::span<const NodePaint> nodes, Position corner);

/// What is dead is crossed out so, also in a legend.
void paint_cross(Canvas& canvas, int layer, Position at, double half);

[[nodiscard]] double stroke_length(std::span<const Position> stroke);

} // namespace tutti
