// Which links are hot: the link heat map of the TACOS paper (Fig. 1: source x destination, absent
// links left blank), and the same numbers as a curve, links sorted from the hottest to the coolest.
#pragma once

#include "experiments/driver/figures/link_values.hpp"
#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/figures/style.hpp"
#include "sim/report.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// One panel of a heat map, and one curve of the sorted picture: what one run did to each link.
struct LinkMap {
  std::string title;               ///< the algorithm
  std::string network = {};        ///< where panels differ in it; else empty
  std::uint32_t nodes = 0;         ///< rows and columns
  std::uint32_t npus = 0;          ///< the first of them
  std::vector<std::string> others; ///< names of the rest: switches and memories
  /// Names of NPUs where these aren't npu0, npu1, ... in order, as after failures; else empty.
  std::vector<std::string> npu_names = {};
  /// cells[source * nodes + destination]; NaN where there is no link. Parallel links: bytes are
  /// summed, utilisation is their mean.
  std::vector<double> cells;
  std::vector<double> links; ///< per link, in the order of LinkId

  /// "tacos on Mesh"
  [[nodiscard]] std::string name() const {
    return network.empty() ? title : title + " on " + network;
  }
};

/// Pre: the report is of a run on this topology. Cost: O(nodes^2 + links).
[[nodiscard]] LinkMap link_map(std::string title, const Topology& topology, const Report& report,
                               LinkQuantity quantity);

/// Heat maps side by side (a grid from four panels on) on one colour scale, which
/// ends as link_values.hpp says. Switches and memories stand
/// behind the NPUs, set off by a thin line, under their names. Readable for 1 to about 16 panels of
/// 2 to 256 nodes.
/// Errors: InputError without a panel.
[[nodiscard]] Figure heatmap_figure(const Heading& heading, std::span<const LinkMap> maps,
                                    LinkQuantity quantity);

/// One curve per run: links by descending value over the share of the links (so that networks of
/// different sizes compare), with the mean behind its name. Errors: InputError without a curve.
[[nodiscard]] Figure sorted_links_figure(const Heading& heading, std::span<const LinkMap> maps,
                                         LinkQuantity quantity);

} // namespace tutti
