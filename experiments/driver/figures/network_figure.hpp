// A network as a picture: alone, or with what a run did to its links. From a run to its picture:
// network_figure(heading, topology, report), and steps_figure(heading, topology, report) for how it
// went; where there are several pictures of one network, its layout is made once and given.
#pragma once

#include "experiments/driver/figures/canvas.hpp"
#include "experiments/driver/figures/layout/layout.hpp"
#include "experiments/driver/figures/link_values.hpp"
#include "experiments/driver/figures/picture.hpp"
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

/// The same from a run on this topology; for steps its hops must be recorded.
[[nodiscard]] Figure network_figure(const Heading& heading, const Topology& topology,
                                    const Report& report,
                                    LinkQuantity quantity = LinkQuantity::utilisation,
                                    const DeadParts& dead = {});
[[nodiscard]] Figure steps_figure(const Heading& heading, const Topology& topology,
                                  const Report& report);

} // namespace tutti
