// A second objective for tree packing: of the forests that are as fast as can be, one of little
// traffic (Shapley 2025, sec. 2.4). Trees only cross capacity that is there, and any capacities
// will do that leave each terminal its supplies: the cheapest of these are the least traffic.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/flows/packing/edge_splitting.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace tutti {

/// The network with no more capacity than terminals need, of links whose `weights` [link] trees can
/// avoid: into and out of every other node still goes the same, each terminal gets all supplies,
/// and no closed walk can lose any more. The least cost mostly, not always. Links alike keep alike
/// shares of theirs, as far as whole units allow. Nothing changes where every forest has the same
/// traffic, as where a link weighs as many of its ends as are terminals. Nothing is returned where
/// the limit was reached. Pre: as without_switches(); each route is one link, those of an arc weigh
/// the same. Cost: some rounds of a maximum flow to each terminal; for each link that costs
/// something a few reroutes; memory 8 bytes for each terminal and arc.
[[nodiscard]] std::optional<RoutedNetwork>
without_spare_capacity(RoutedNetwork network, std::span<const double> weights,
                       std::span<const std::int64_t> supply,
                       std::span<const std::uint32_t> terminals, const WorkLimit& limit);

} // namespace tutti
