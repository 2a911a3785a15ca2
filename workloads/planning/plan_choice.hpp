// Which plan each collective of a workload uses, where several algorithms have made one.
//
// The plan that is fastest alone needn't be the best: within an iteration collectives share links,
// and of two plans that take equally long one may occupy twice as many. What counts is the
// iteration, so it decides.
#pragma once

#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// A plan for a collective by one algorithm.
struct PlanVariant {
  std::string algorithm;
  Time alone; ///< collective time where nothing else is under way
  Time busy;  ///< for how long its transfers occupy links, summed over links
};

/// Shorter alone; of those that take equally long, the one that leaves more of the links to others.
[[nodiscard]] bool is_better(const PlanVariant& a, const PlanVariant& b);

/// [collective]: index of the variant that it uses.
using PlanChoice = std::vector<std::size_t>;

struct SimulatedChoice {
  Time duration; ///< of the workload
  /// Operations, and crossings of links that were simulated one by one: what it cost.
  std::uint64_t steps = 0;
};
/// None where the workload can't run so.
using SimulateChoice = std::function<std::optional<SimulatedChoice>(const PlanChoice&)>;

/// The choice of the shortest duration among: the best variant of every collective by is_better();
/// for each algorithm, its own variants wherever it has one; then exchanges of single collectives,
/// the longest first, for variants that take at most 5/4 of the shortest alone, until exchanges
/// have cost 2 * 10^7 steps. So no algorithm that could be chosen throughout is faster. Ties: the
/// earlier of these. `cancelled` (may be empty) ends the search, with the best so far.
/// Pre: every collective has a variant. Cost: one simulation per algorithm, plus those of
/// exchanges; none where there is nothing to choose.
[[nodiscard]] PlanChoice best_choice(std::span<const std::vector<PlanVariant>> collectives,
                                     const SimulateChoice& simulate,
                                     const std::function<bool()>& cancelled = {});

} // namespace tutti
