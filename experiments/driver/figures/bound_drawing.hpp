// A lower bound as a picture: the network, and what in it proves the bound.
#pragma once

#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/figures/style.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"

namespace tutti {

/// What proves the bound, in the network. A cut: the nodes that it cuts off, and the links across.
/// A path: its ends, and the links of a shortest one. Work: the links that deliveries share.
/// Prices: the links that have one, alone or in a shared group. A closed form: no link more than
/// others. Nodes stand where their network's layout (layout/layout.hpp) has them.
/// Errors: InputError for more than 1,024 nodes, or a layout that draws several as one.
[[nodiscard]] Figure bound_figure(const Heading& heading, const Topology& topology,
                                  const Bound& bound);

} // namespace tutti
