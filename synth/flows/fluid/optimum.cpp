// Why: the linear program of all trees has exponentially many columns. Idea: column generation. The
// first columns come from a greedy start: trees one by one, at prices that rise exponentially with
// what every resource carries already (Young 1995; Garg and Koenemann 2007). After that the duals
// of the master program are the prices, at which each demand's cheapest tree either improves the
// master or shows that none does. Any prices also prove a lower bound: what all demands pay at
// least, divided by what all resources earn in a second (bounds/price_bound.hpp).

#include "synth/flows/fluid/optimum.hpp"

#include "sim/out_of_reach.hpp"
#include "synth/bounds/price_bound.hpp"
#include "synth/flows/fluid/demand_pricing.hpp"
#include "synth/flows/fluid/master.hpp"
#include "synth/flows/fluid/symmetry.hpp"

#include <algorithm>
#include <cassert>
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
// Greedy passes over all places: between two solutions of the master program, and in all.
constexpr std::size_t passes_at_once = 4, most_passes = 16;

// For the least traffic trees needn't be priced exactly. The effort of a round is places * links:
// up to `most_thorough` pricing tries each Steiner node by itself; above `most_patient` column
// generation ends after `impatient_rounds`, as its tail costs far more than it saves.
constexpr std::size_t most_thorough = 2000, most_patient = 20'000;
constexpr std::uint64_t impatient_rounds = 20;

constexpr std::uint64_t work_of_a_look = 30; // a number of a pivot counts 1

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
    master_->read_off(solution);
    if (solution.trees.empty()) { // stopped before the first answer
      solution.status = Status::timed_out;
      solution.bound_seconds = options_.bound_seconds;
      return;
    }
    if (least_time) prefer_few_hops(solution);
    if (least_time && !options_.weights.empty()) {
      solution.direct_trees = solution.trees;
      master_->aim_at(Aim::traffic);
      improve(Aim::traffic);
      keep_if_as_fast(solution);
      prefer_few_hops(solution);
    }
    solution.is_cut_short = is_used_up();
    solution.rounds = rounds_;
    solution.columns = master_->column_count();
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
    auto found = pricing_.priced(demand_of(place), place.root, DemandPricing::Aim::shallow);
    assert(found); // there was one at first
    return std::move(found->tree);
  }

  /// One for each place; of a demand with several roots, those are left out from which there is
  /// none, since of what lies between some node can't copy or reduce.
  std::vector<FlowTree> first_trees() {
    std::vector<FlowTree> trees;
    std::erase_if(places_, [&](const Place& place) {
      double& roots = roots_[place.representative];
      auto found = pricing_.priced(demand_of(place), place.root, DemandPricing::Aim::shallow);
      if (found) trees.push_back(std::move(found->tree));
      if (!found) roots -= 1;
      return !found;
    });
    if (std::ranges::any_of(roots_, [](double roots) { return roots < 1; }))
      throw OutOfReach("what nodes can do leaves no tree that a flow could take");
    return trees;
  }

  /// What one tree of each takes at equal prices is the first unit of time, what the greedy start
  /// takes the master's: near the optimum, so that numbers are about 1.
  void start() {
    places_ = places();
    roots_.resize(orbits_.representatives.size());
    for (const Place& place : places_) roots_[place.representative] += 1;
    loads_.resize(orbits_.size.size());
    const FluidMaster in_seconds(problem_, orbits_, {}, 1);
    pricing_.set_prices(in_seconds.link_prices(std::vector<double>(loads_.size(), 1)));
    const std::vector<FlowTree> first = first_trees();
    for (std::size_t i = 0; i < places_.size(); ++i) put(in_seconds, places_[i], first[i]);
    const double first_unit = *std::ranges::max_element(loads_);
    std::ranges::fill(loads_, 0);
    FluidMaster scaled(problem_, orbits_, {}, first_unit);
    std::vector<std::pair<Place, FlowTree>> trees;
    greedy_pass(scaled, trees);
    const double unit = first_unit * *std::ranges::max_element(loads_);
    for (double& load : loads_) load *= first_unit / unit;
    master_.emplace(problem_, orbits_, options_.weights, unit);
    for (auto& [place, tree] : trees) master_->add(place.representative, std::move(tree));
  }

  /// One more tree for each place, at prices by the loads of all trees put before.
  void greedy_pass(const FluidMaster& on, std::vector<std::pair<Place, FlowTree>>& trees) {
    ++passes_;
    std::vector<double> prices(loads_.size());
    for (const Place& place : places_) {
      if (limit_.reached()) return;
      const double most = *std::ranges::max_element(loads_);
      const double scale = steepness / static_cast<double>(passes_);
      for (std::size_t orbit = 0; orbit < loads_.size(); ++orbit)
        prices[orbit] = std::exp(scale * (loads_[orbit] - most));
      pricing_.set_prices(on.link_prices(prices));
      FlowTree tree = shallow_tree(place);
      put(on, place, tree);
      trees.emplace_back(place, std::move(tree));
    }
  }

  void put(const FluidMaster& on, const Place& place, const FlowTree& tree) {
    for (const auto& [orbit, time] : on.load(place.representative, tree))
      loads_[orbit] += time / roots_[place.representative];
  }

  void add_greedy_trees() {
    std::vector<std::pair<Place, FlowTree>> trees;
    for (std::size_t i = 0; i < passes_at_once; ++i) greedy_pass(*master_, trees);
    for (auto& [place, tree] : trees) master_->add(place.representative, std::move(tree));
  }

  void prefer_few_hops(FluidSolution& solution) {
    if (is_over()) return;
    master_->aim_at(Aim::hops);
    if (solve()) keep_if_as_fast(solution);
  }

  /// The first solution is made whatever it takes.
  bool solve() {
    const std::uint64_t looked_at = looks_ * work_of_a_look;
    const std::uint64_t left = options_.most_work - std::min(options_.most_work, looked_at);
    const bool is_first = master_->time_prices().empty();
    return master_->solve(limit_, is_first ? UINT64_MAX : left);
  }
  /// Too little is left for one pivot.
  [[nodiscard]] bool is_used_up() const {
    return master_->work() + master_->pivot_work() + looks_ * work_of_a_look > options_.most_work;
  }
  [[nodiscard]] bool is_over() const { return limit_.reached() || is_used_up(); }

  /// The same but for other aims; not where numerical noise has made it slower.
  void keep_if_as_fast(FluidSolution& solution) const {
    FluidSolution other = solution;
    master_->read_off(other);
    if (other.seconds <= solution.seconds * (1 + precision / 4)) solution = std::move(other);
  }

  /// Adds trees until there is no better solution (or, of traffic, while that is worth the time);
  /// false where the limit is reached.
  bool improve(Aim aim) {
    bool shallow = true; // trees do while they improve anything
    const bool patient = aim == Aim::time || effort() <= most_patient;
    const std::uint64_t last = patient ? UINT64_MAX : rounds_ + impatient_rounds;
    for (;; ++rounds_) {
      if (!solve()) return false;
      if (rounds_ == last) return true;
      if (aim == Aim::time && is_proven(master_->value())) return true;
      if (aim == Aim::time && passes_ < most_passes) {
        add_greedy_trees();
        continue;
      }
      const MasterPrices& now = master_->prices();
      if (shallow && add_trees(now.orbits, DemandPricing::Aim::shallow).improved) continue;
      shallow = false;
      bool improved = false;
      if (aim == Aim::time && !best_prices_.empty()) {
        std::vector<double> between(now.orbits.size());
        for (std::size_t i = 0; i < between.size(); ++i)
          between[i] = smoothing * best_prices_[i] + (1 - smoothing) * now.orbits[i];
        improved = price(between, aim);
      }
      if (!improved && !price(now.orbits, aim)) return !is_over();
      if (is_over()) return false;
    }
  }

  /// Exact pricing, which is also a bound.
  bool price(const std::vector<double>& prices, Aim aim) {
    // worth it only where traffic is at stake, and the network small or symmetric
    const bool thorough = aim == Aim::traffic && effort() <= most_thorough;
    const Added added =
        add_trees(prices, thorough ? DemandPricing::Aim::thorough : DemandPricing::Aim::cheapest);
    const double all = std::accumulate(prices.begin(), prices.end(), 0.0);
    if (aim == Aim::time && exact_ && added.paid / all > best_bound_) {
      best_bound_ = added.paid / all;
      best_prices_ = prices;
    }
    return added.improved;
  }

  [[nodiscard]] std::size_t effort() const {
    return places_.size() * problem_.network.link_count();
  }

  struct Added {
    double paid = 0; ///< by the cheapest trees of all, at the given prices
    bool improved = false;
  };

  Added add_trees(std::span<const double> prices, DemandPricing::Aim how) {
    Added added;
    pricing_.set_prices(master_->link_prices(prices));
    std::vector<double> least(orbits_.representatives.size(),
                              std::numeric_limits<double>::infinity());
    for (const Place& place : places_) {
      if (is_over()) break;
      looks_ += problem_.network.link_count();
      const std::uint32_t i = place.representative;
      auto found = pricing_.priced(demand_of(place), place.root, how);
      if (!found) continue;
      least[i] = std::min(least[i], found->price * master_->sent(i));
      if (master_->paid(i, found->tree) < master_->prices().shares[i] - improvement)
        added.improved = master_->add(i, std::move(found->tree)) || added.improved;
    }
    if (!is_over()) added.paid = std::accumulate(least.begin(), least.end(), 0.0);
    return added;
  }

  [[nodiscard]] bool is_proven(double time) const {
    const double known = std::max(best_bound_, options_.bound_seconds / unit());
    return time <= known * (1 + precision / 2);
  }

  [[nodiscard]] double unit() const { return master_->unit_seconds(); }

  void prove(FluidSolution& solution) const {
    solution.bound_seconds = options_.bound_seconds;
    std::vector<std::vector<double>> candidates;
    if (!best_prices_.empty()) candidates.push_back(best_prices_);
    candidates.push_back(master_->time_prices());
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
    solution.bound_seconds = std::min(solution.bound_seconds, solution.seconds); // rounding
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
  std::vector<Place> places_;
  std::vector<double> roots_; ///< [representative]
  std::vector<double> loads_; ///< [orbit]: by the greedy start, in the master's units, each pass 1
  std::size_t passes_ = 0;
  std::vector<double> best_prices_; ///< [orbit]
  double best_bound_ = 0;           ///< in the master's units
  std::uint64_t rounds_ = 0;
  std::uint64_t looks_ = 0; ///< at links, by pricing
};

/// A group in which all elements leave what links count as it is.
std::vector<FlowAutomorphism> symmetry_of(const FlowProblem& problem,
                                          const std::vector<double>& weights,
                                          const WorkLimit& limit) {
  std::vector<FlowAutomorphism> symmetry =
      free_flow_symmetry(problem, flow_automorphisms(problem, {}, limit), limit);
  std::erase_if(symmetry, [&](const FlowAutomorphism& one) {
    for (std::uint32_t link = 0; link < weights.size(); ++link)
      if (weights[one.links[link]] != weights[link]) return true;
    return false;
  });
  return symmetry;
}

} // namespace

FluidSolution fluid_optimum(const FlowProblem& problem, const FluidOptions& options,
                            const WorkLimit& limit) {
  FluidSolution solution;
  if (problem.demands.empty()) {
    solution.status = Status::optimal;
    return solution;
  }
  if (options.mirrored) solution.symmetry = symmetry_of(problem, options.weights, limit);
  Search(problem, options, limit, solution.symmetry).run(solution);
  return solution;
}

} // namespace tutti
