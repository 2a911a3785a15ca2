// One cheapest tree for every demand, at prices of which many are 0 and equal, is a schedule in
// which nobody gets what he has already: a path that costs nothing must not be taken for nothing.
#include "synth/flows/fluid/demand_pricing.hpp"

#include "sim/error.hpp"
#include "sim/feasibility.hpp"
#include "sim/random.hpp"
#include "sim/synthesizer.hpp"
#include "sim/verify.hpp"
#include "synth/flows/fluid/check.hpp"
#include "synth/flows/fluid/orbits.hpp"
#include "synth/flows/rounding/fluid_steps.hpp"
#include "tests/catch.hpp"
#include "tests/synth/ability_cases.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace demand_pricing_test {

using namespace tutti;

namespace {

/// A tree of share 1 for each demand, All-Reduce at any root; nothing where there is none.
std::vector<FlowTree> random_trees(Random& random, const FlowProblem& problem) {
  DemandPricing pricing(problem);
  std::vector<double> prices;
  for (std::uint32_t l = 0; l < problem.network.link_count(); ++l)
    prices.push_back(static_cast<double>(random.below(3)));
  pricing.set_prices(prices);
  using enum DemandPricing::Aim;
  const auto aim = std::vector{shallow, cheapest, thorough}[random.below(3)];
  std::vector<FlowTree> trees;
  for (std::uint32_t d = 0; d < problem.demands.size(); ++d) {
    std::uint32_t root = 0;
    if (problem.demands[d].kind == FlowKind::both) {
      const std::vector<std::uint32_t> roots = combining_roots(problem, problem.demands[d]);
      if (roots.empty()) return {};
      root = roots[random.below(roots.size())];
    }
    std::optional<PricedTree> found = pricing.priced(d, root, aim);
    if (!found) return {};
    found->tree.share = 1;
    trees.push_back(std::move(found->tree));
  }
  return trees;
}

bool can_be_asked(const samples::AbilityCase& given) {
  return missing_ability(given.topology, given.collective).empty() &&
         infeasibility(given.topology, given.collective).empty();
}

} // namespace

TEST_CASE("the cheapest trees bring nothing to where it is, whatever costs nothing") {
  std::size_t of_two_phases = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Random random(seed);
    for (int i = 0; i < 1500; ++i) {
      const samples::AbilityCase given = samples::random_ability_case(random);
      if (!can_be_asked(given)) continue;
      const FlowProblem problem = flow_problem(given.topology, given.collective);
      const std::vector<FlowTree> trees = random_trees(random, problem);
      if (trees.empty()) continue;
      INFO("seed " << seed << ", case " << i << ": " << given.collective.name());
      CHECK(check_fluid(problem, trees).fault == "");
      const Verdict verdict = verify(given.topology, given.collective,
                                     stepped(given.topology, given.collective, problem, trees));
      CHECK((verdict.fault ? verdict.fault->text : "") == "");
      CHECK(verdict.redundant == 0);
      for (const FlowTree& tree : trees)
        of_two_phases += problem.demands[tree.demand].kind == FlowKind::both ? 1 : 0;
    }
  }
  CHECK(of_two_phases > 300);
}

} // namespace demand_pricing_test
