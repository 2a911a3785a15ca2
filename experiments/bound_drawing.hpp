// A lower bound as a picture: the network, the nodes that a cut separates from the others, and the
// links between them, over which everything must pass.
#pragma once

#include "experiments/figure_style.hpp"
#include "experiments/gnuplot.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"

#include <span>

namespace tutti {

/// The best of those that cut nodes off. Errors: InputError where none does.
[[nodiscard]] const Bound& best_cut(std::span<const Bound> bounds);

/// NPUs stand at their coordinates where they form a mesh of two dimensions (or one), else on a
/// circle with switches and memories within it. Pre: the bound has nodes inside.
/// Errors: InputError for more than 128 nodes: nobody could read it.
[[nodiscard]] Figure cut_figure(const Heading& heading, const Topology& topology, const Bound& cut);

} // namespace tutti
