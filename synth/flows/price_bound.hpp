// Prices on bandwidth as a certificate: whatever carries the data pays for it, and nothing can earn
// more than its bandwidth allows.
#pragma once

#include "sim/bounds.hpp"
#include "sim/time_model.hpp"
#include "synth/flows/flow_orbits.hpp"
#include "synth/flows/flow_problem.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// The fluid bound that prices [resource] prove, whatever they are (negative ones count as 0): all
/// demands need at least so much when each takes its cheapest way, and in a second all resources
/// together give sum(price * bandwidth). Evaluated in integers (prices scaled and rounded), so that
/// no rounding error can make it too high. In seconds, rounded down; 0 for prices of no use.
///   paths    shortest ways
///   spread   minimum arborescences from the sources over nodes that copy (Edmonds 1967); where
///            others than sinks copy, Steiner arborescences, bounded by dual ascent (Wong 1984)
///   combine  the same backwards
///   both     the least over roots of both, where only sources reduce and are the sinks too: of the
///            transfers of a chunk those whose data makes the first of them complete are an
///            in-tree, and what it contributed spreads to all others by the remaining ones (each
///            carries a sum that it is part of, which none of the in-tree's does). Else the larger.
[[nodiscard]] double price_bound(const FlowProblem& problem, std::span<const double> prices);
/// The same for prices that a symmetry leaves as they are, looking only at what stands for all.
[[nodiscard]] double price_bound(const FlowProblem& problem, std::span<const double> prices,
                                 std::span<const Representative> representatives);

/// What must leave these nodes (inside [node]) over links and shared groups out of them needs so
/// many seconds: the price bound where exactly these have a price. Cost: O(set sizes + links).
[[nodiscard]] double cut_seconds(const FlowProblem& problem, const std::vector<bool>& inside);

} // namespace tutti
