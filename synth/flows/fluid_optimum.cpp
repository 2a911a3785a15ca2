// Columns come first from a greedy start: trees one by one, at prices that rise exponentially with
// what every resource carries already (Young 1995; Garg and Koenemann 2007). Then the duals of the
// master are the prices. Each set of prices is also a lower bound, by what all demands pay at least.
#include "synth/flows/fluid_optimum.hpp"

#include "sim/error.hpp"
#include "synth/flows/demand_pricing.hpp"
#include "synth/flows/flow_symmetry.hpp"
#include "synth/flows/fluid_master.hpp"
#include "synth/flows/price_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

constexpr double precision = 1e-9;    // of the answer, relative
constexpr double improvement = 1e-10; // of what a tree pays, where all together pay 1
constexpr double smoothing = 0.5;     // of prices towards the best so far (Wentges 1997)
constexpr double steepness = 50;      // of the greedy start's prices
constexpr std::size_t greedy_trees = 4096, least_passes = 4, most_passes = 32;

using Aim = FluidMaster::Aim;

class Search {
public:
  Search(const FlowProblem& problem, const FluidOptions& options, const WorkLimit& limit,
         std::span<const FlowAutomorphism> symmetry)
      : problem_(problem), options_(options), limit_(limit),
        orbits_(flow_orbits(problem, symmetry)), pricing_(problem),
        exact_(std::ranges::all_of(problem.demands,
                                   [&](const auto& demand) { return pricing_.is_exact(demand); })) {
  }

  /// Fills all but the symmetry.
  void run(FluidSolution& solution) {
    start();
    const bool least_time = improve(Aim::time);
    if (least_time && !options_.weights.empty()) {
      master_->aim_at(Aim::traffic);
      improve(Aim::traffic);
    }
    if (least_time && !limit_.reached()) {
      master_->aim_at(Aim::hops);
      (void)master_->solve(limit_);
    }
    solution.rounds = rounds_;
    master_->read_off(solution);
    prove(solution);
  }

private:
  struct Place { // where trees are looked for
    std::uint32_t representative, root;
  };

  [[nodiscard]] std::vector<Place> places() const {
    std::vector<Place> result;
    for (std::uint32_t i = 0; i < orbits_.representatives.size(); ++i) {
      const Representative& one = orbits_.representatives[i];
      if (problem_.demands[one.demand].kind != FlowKind::both) result.push_back({i, 0});
      for (const std::uint32_t root : one.roots) result.push_back({i, root});
    }
    return result;
  }

  [[nodiscard]] std::uint32_t demand_of(const Place& place) const {
    return orbits_.representatives[place.representative].demand;
  }

  FlowTree shallow_tree(const Place& place) {
    std::optional<PricedTree> found = pricing_.shallow(demand_of(place), place.root);
    if (!found) throw InputError("a flow can't get where it is wanted");
    return std::move(found->tree);
  }

  void start() {
    // what one tree of each takes at equal prices is the unit of time
    std::vector<double> ones(orbits_.size.size(), 1);
    const FluidMaster measure(problem_, orbits_, options_.weights, 1);
    pricing_.set_prices(measure.link_prices(ones));
    const std::vector<Place> all = places();
    std::vector<double> loads(orbits_.size.size());
    std::vector<double> roots(orbits_.representatives.size());
    for (const Place& place : all) roots[place.representative] += 1;
    const auto put = [&](const FluidMaster& on, const Place& place, const FlowTree& tree,
                         double share) {
      for (const auto& [orbit, time] : on.load(place.representative, tree))
        loads[orbit] += share / roots[place.representative] * time;
    };
    for (const Place& place : all) put(measure, place, shallow_tree(place), 1);
    const double unit = *std::ranges::max_element(loads);
    master_.emplace(problem_, orbits_, options_.weights, unit);

    std::ranges::fill(loads, 0);
    const std::size_t passes = std::clamp(greedy_trees / all.size(), least_passes, most_passes);
    std::vector<double> prices(loads.size());
    for (std::size_t pass = 0; pass < passes && !limit_.reached(); ++pass)
      for (const Place& place : all) {
        const double most = *std::ranges::max_element(loads);
        for (std::size_t orbit = 0; orbit < loads.size(); ++orbit)
          prices[orbit] = std::exp(steepness * (loads[orbit] - most));
        pricing_.set_prices(master_->link_prices(prices));
        FlowTree tree = shallow_tree(place);
        put(*master_, place, tree, 1.0 / static_cast<double>(passes));
        master_->add(place.representative, std::move(tree));
      }
  }

  /// Adds trees until there is no better solution (true) or the limit is reached.
  bool improve(Aim aim) {
    bool shallow = true; // trees do while they improve anything
    for (;; ++rounds_) {
      if (!master_->solve(limit_)) return false;
      if (aim == Aim::time && is_proven(master_->value())) return true;
      const MasterPrices& now = master_->prices();
      if (shallow && add_trees(now.orbits, true).improved) continue;
      shallow = false;
      bool improved = false;
      if (aim == Aim::time && !best_prices_.empty()) {
        std::vector<double> between(now.orbits.size());
        for (std::size_t i = 0; i < between.size(); ++i)
          between[i] = smoothing * best_prices_[i] + (1 - smoothing) * now.orbits[i];
        improved = price(between, aim);
      }
      if (!improved && !price(now.orbits, aim)) return true;
      if (limit_.reached()) return false;
    }
  }

  /// Exact pricing, which is also a bound.
  bool price(const std::vector<double>& prices, Aim aim) {
    const Added added = add_trees(prices, false);
    const double all = std::accumulate(prices.begin(), prices.end(), 0.0);
    if (aim == Aim::time && exact_ && added.paid / all > best_bound_) {
      best_bound_ = added.paid / all;
      best_prices_ = prices;
    }
    return added.improved;
  }

  struct Added {
    double paid = 0; ///< by the cheapest trees of all, at the given prices
    bool improved = false;
  };

  Added add_trees(std::span<const double> prices, bool shallow) {
    Added added;
    pricing_.set_prices(master_->link_prices(prices));
    std::vector<double> least(orbits_.representatives.size(),
                              std::numeric_limits<double>::infinity());
    for (const Place& place : places()) {
      if (limit_.reached()) break;
      const std::uint32_t i = place.representative;
      auto found = shallow ? pricing_.shallow(demand_of(place), place.root)
                           : pricing_.cheapest(demand_of(place), place.root);
      if (!found) continue;
      least[i] = std::min(least[i], found->price * master_->sent(i));
      if (master_->paid(i, found->tree) < master_->prices().shares[i] - improvement)
        added.improved = master_->add(i, std::move(found->tree)) || added.improved;
    }
    if (!limit_.reached()) added.paid = std::accumulate(least.begin(), least.end(), 0.0);
    return added;
  }

  [[nodiscard]] bool is_proven(double time) const {
    const double known = std::max(best_bound_, options_.bound_seconds / unit());
    return time <= known * (1 + precision / 2);
  }

  [[nodiscard]] double unit() const { return master_->unit_seconds(); }

  void prove(FluidSolution& solution) const {
    solution.bound_seconds = options_.bound_seconds;
    std::vector<std::vector<double>> candidates{master_->time_prices()};
    if (!best_prices_.empty()) candidates.push_back(best_prices_);
    for (const std::vector<double>& prices : candidates) {
      if (solution.bound_seconds * (1 + precision) >= solution.seconds) break;
      std::vector<double> each(problem_.network.resource_count());
      for (std::uint32_t r = 0; r < each.size(); ++r) {
        const std::uint32_t orbit = orbits_.of_resource[r];
        each[r] = prices[orbit] / (orbits_.size[orbit] * orbits_.bandwidth[orbit]);
      }
      solution.bound_seconds =
          std::max(solution.bound_seconds, price_bound(problem_, each, orbits_.representatives));
    }
    solution.status = solution.seconds <= solution.bound_seconds * (1 + precision) ? Status::optimal
                      : limit_.reached() ? Status::timed_out
                                         : Status::feasible;
  }

  const FlowProblem& problem_;
  const FluidOptions& options_;
  const WorkLimit& limit_;
  FlowOrbits orbits_;
  DemandPricing pricing_;
  bool exact_;
  std::optional<FluidMaster> master_;
  std::vector<double> best_prices_; ///< [orbit]
  double best_bound_ = 0;           ///< in the master's units
  std::uint64_t rounds_ = 0;
};

} // namespace

FluidSolution fluid_optimum(const FlowProblem& problem, const FluidOptions& options,
                            const WorkLimit& limit) {
  FluidSolution solution;
  if (problem.demands.empty()) {
    solution.status = Status::optimal;
    return solution;
  }
  if (options.mirrored)
    solution.symmetry = free_flow_symmetry(problem, flow_automorphisms(problem));
  Search(problem, options, limit, solution.symmetry).run(solution);
  return solution;
}

} // namespace tutti
