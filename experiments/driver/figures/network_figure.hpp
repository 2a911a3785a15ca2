// A network as a picture: alone, or with what a run did to its links. From a run to its picture:
// network_figure(heading, topology, report), and steps_figure(heading, topology, report) for how it
// went; where there are several pictures of one network, its layout is made once and given.
#pragma once

#include "experiments/driver/figures/canvas.hpp"
#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/figures/layout/layout.hpp"
#include "experiments/driver/figures/link_values.hpp"
#include "experiments/driver/figures/style.hpp"
#include "sim/ids.hpp"
#include "sim/report.hpp"
#include "sim/topology.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What is crossed out.
struct DeadParts {
  std::vector<NodeId> nodes; ///< with all their links
  std::vector<LinkId> links;
};

/// The network alone: links coloured by bandwidth and latency, which the legend says.
/// Pre, here and below: the layout is of this topology.
[[nodiscard]] Figure network_figure(const Heading& heading, const Topology& topology,
                                    const Layout& layout, const DeadParts& dead = {});

/// Links coloured and widened by their values, the hottest one marked and named. Links that are
/// drawn as one show their mean utilisation, weighted by bandwidth, or the sum of their bytes.
[[nodiscard]] Figure network_figure(const Heading& heading, const Topology& topology,
                                    const Layout& layout, const LinkValues& values,
                                    const DeadParts& dead = {});

/// One small picture for each of the values (six, three beside each other), on one scale.
/// Errors: InputError without a picture.
[[nodiscard]] Figure steps_figure(const Heading& heading, const Topology& topology,
                                  const Layout& layout, std::span<const LinkValues> steps);

/// From a run on this topology; of steps with hops.
[[nodiscard]] Figure network_figure(const Heading& heading, const Topology& topology,
                                    const Report& report,
                                    LinkQuantity quantity = LinkQuantity::utilisation,
                                    const DeadParts& dead = {});
[[nodiscard]] Figure steps_figure(const Heading& heading, const Topology& topology,
                                  const Report& report);

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

/// A title at the top and a note at the bottom, each on as many lines as the width demands, and
/// between them room for a picture. From layer 100 on.
class FigureFrame {
public:
  FigureFrame(const Heading& heading, double width);
  /// Points that the picture of a layout should be wide: a paper's column at least, and more for a
  /// long title.
  [[nodiscard]] static double width_for(const Heading& heading, double layout_width);
  [[nodiscard]] double top() const;                        ///< where the picture begins
  [[nodiscard]] double height(double picture) const;       ///< of the whole figure
  void paint(Canvas& canvas, double picture_height) const; ///< picture: with its legend
private:
  std::vector<std::string> title_, note_;
};

} // namespace tutti
