// Prices become integers of 38 bits, what is paid and earned is exact in 128 bits, and divisions
// round downwards. What a demand pays at least is a combinatorial search in scaled prices: shortest
// paths, arborescences, or dual ascent where a Steiner tree would be needed.

#include "synth/bounds/price_bound.hpp"

#include "sim/ids.hpp"
#include "synth/bounds/least_times.hpp"
#include "synth/bounds/steiner_bound.hpp"
#include "synth/flows/fluid/cheapest_paths.hpp"
#include "synth/flows/fluid/demand_pricing.hpp"
#include "synth/flows/fluid/logical_network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

double rounded_down(int128 numerator, int128 denominator) {
  if (denominator <= 0 || numerator <= 0) return 0;
  const long double quotient =
      static_cast<long double>(numerator) / static_cast<long double>(denominator);
  const auto near = static_cast<double>(quotient);
  return std::nextafter(std::nextafter(near, 0.0), 0.0);
}

/// Data that spreads: on the network, or for contributions on the reversed one.
class PriceSpreading {
public:
  PriceSpreading(FlowNetwork network, const std::vector<bool>& members,
                 std::span<const std::int64_t> costs)
      : network_(std::move(network)), logical_(network_, members) {
    logical_.set_costs(costs);
  }
  PriceSpreading(const PriceSpreading&) = delete;
  PriceSpreading& operator=(const PriceSpreading&) = delete;

  /// The least cost of a tree from the sources to all sinks, or a lower bound on it.
  [[nodiscard]] std::int64_t least_cost(std::span<const std::uint32_t> sources,
                                        std::span<const std::uint32_t> sinks) const {
    std::vector<std::uint32_t> number(network_.node_count(), no_index);
    for (const std::uint32_t source : sources) number[source] = 0;
    std::uint32_t vertices = 1;
    std::vector<std::uint32_t> terminals;
    for (const std::uint32_t sink : sinks)
      if (number[sink] == no_index) {
        terminals.push_back(vertices);
        number[sink] = vertices++;
      }
    const bool others = [&] {
      bool some = false;
      for (std::uint32_t v = 0; v < number.size(); ++v)
        if (number[v] == no_index && network_.copies[v]) {
          number[v] = vertices++;
          some = true;
        }
      return some;
    }();
    std::vector<CostedArc> arcs;
    for (const CostedArc& arc : logical_.arcs())
      if (number[arc.from] != no_index && number[arc.to] != no_index && number[arc.to] != 0)
        arcs.push_back({number[arc.from], number[arc.to], arc.cost});
    if (others) return steiner_bound(vertices, 0, terminals, arcs);
    std::int64_t sum = 0;
    const std::vector<std::uint32_t> into = minimum_arborescence(vertices, 0, arcs);
    for (const std::uint32_t arc : into)
      if (arc != no_index) sum += arcs[arc].cost;
    return sum;
  }

private:
  FlowNetwork network_;
  LogicalNetwork logical_;
};

class Payments {
public:
  Payments(const FlowProblem& problem, std::vector<std::int64_t> costs)
      : problem_(problem), costs_(std::move(costs)), members_(problem.network.node_count()) {
    for (const std::vector<std::uint32_t>& set : problem.sets)
      for (const std::uint32_t node : set) members_[node] = true;
  }

  /// What a byte of the demand pays at least (of paths: one for each sink, together).
  [[nodiscard]] std::int64_t least(const FlowDemand& demand, std::span<const std::uint32_t> roots) {
    const auto sources = problem_.sources(demand), sinks = problem_.sinks(demand);
    switch (demand.kind) {
    case FlowKind::paths: return cheapest_paths(demand.sources, sinks);
    case FlowKind::spread: return forwards().least_cost(sources, sinks);
    case FlowKind::combine: return inverted().least_cost(sinks, sources);
    case FlowKind::both: break;
    }
    return least_of_both(demand, roots);
  }

private:
  [[nodiscard]] std::int64_t least_of_both(const FlowDemand& demand,
                                           std::span<const std::uint32_t> roots) {
    const auto sources = problem_.sources(demand), sinks = problem_.sinks(demand);
    const bool adds_up = all_alike(demand);
    std::int64_t least = INT64_MAX, most = 0;
    for (const std::uint32_t& root : roots) {
      const std::span<const std::uint32_t> at(&root, 1);
      const std::int64_t in = std::ranges::binary_search(sinks, root) || adds_up
                                  ? inverted().least_cost(at, sources)
                                  : 0;
      const std::int64_t out = std::ranges::binary_search(sources, root) || adds_up
                                   ? forwards().least_cost(at, sinks)
                                   : 0;
      least = std::min(least, in + out);
      most = std::max({most, in, out});
    }
    if (roots.empty()) return 0;
    return adds_up ? least : most;
  }

  /// Only sources reduce, each of them does and copies, and they are the sinks.
  [[nodiscard]] bool all_alike(const FlowDemand& demand) const {
    if (demand.sources != demand.sinks) return false;
    const FlowNetwork& network = problem_.network;
    const auto sources = problem_.sources(demand);
    const auto reducers = std::ranges::count(network.reduces, true);
    return static_cast<std::size_t>(reducers) == sources.size() &&
           std::ranges::all_of(
               sources, [&](std::uint32_t v) { return network.reduces[v] && network.copies[v]; });
  }

  [[nodiscard]] std::int64_t cheapest_paths(FlowSet sources, std::span<const std::uint32_t> sinks) {
    if (searched_ != sources) paths_.search(problem_.network, costs_, problem_.sets[sources]);
    searched_ = sources;
    std::int64_t sum = 0;
    for (const std::uint32_t sink : sinks)
      sum += paths_.cost[sink] == INT64_MAX ? 0 : paths_.cost[sink];
    return sum;
  }

  const PriceSpreading& forwards() {
    if (!forwards_) forwards_.emplace(problem_.network, members_, costs_);
    return *forwards_;
  }
  const PriceSpreading& inverted() {
    if (!inverted_) inverted_.emplace(reversed(problem_.network), members_, costs_);
    return *inverted_;
  }

  const FlowProblem& problem_;
  std::vector<std::int64_t> costs_; ///< [link]
  std::vector<bool> members_;
  CheapestPaths paths_;
  std::optional<FlowSet> searched_; // whose paths these are
  std::optional<PriceSpreading> forwards_, inverted_;
};

/// Both sides of the bound, in scaled prices.
struct Balance {
  std::vector<int128> earnings; ///< [resource]: in a second
  int128 paid = 0;              ///< by all demands, at least
};

Balance balance(const FlowProblem& problem, std::span<const double> prices,
                std::span<const Representative> representatives) {
  const FlowNetwork& network = problem.network;
  const ScaledPrices scaled = scaled_prices(prices, most_tree_links);
  std::vector<std::int64_t> costs(network.link_count());
  for (std::uint32_t link = 0; link < costs.size(); ++link)
    for (const std::uint32_t resource : network.resources_of[link])
      costs[link] += scaled.links[resource];
  Balance result;
  for (std::uint32_t r = 0; r < network.resource_count(); ++r)
    result.earnings.push_back(static_cast<int128>(scaled.links[r]) *
                              network.resources[r].bandwidth);
  Payments payments(problem, std::move(costs));
  for (const Representative& one : representatives) {
    const FlowDemand& demand = problem.demands[one.demand];
    result.paid +=
        static_cast<int128>(payments.least(demand, one.roots)) * demand.bytes * one.images;
  }
  return result;
}

} // namespace

double price_bound(const FlowProblem& problem, std::span<const double> prices,
                   std::span<const Representative> representatives) {
  const Balance sides = balance(problem, prices, representatives);
  int128 earned = 0;
  for (const int128 each : sides.earnings) earned += each;
  return rounded_down(sides.paid, earned);
}

std::int64_t price_bound_ps(const FlowProblem& problem, std::span<const double> prices,
                            std::span<const std::int64_t> margins,
                            std::span<const Representative> representatives) {
  const Balance sides = balance(problem, prices, representatives);
  std::map<std::int64_t, int128> earning_from; // margin -> of all resources with it
  for (std::size_t r = 0; r < margins.size(); ++r)
    if (margins[r] < bounds::never && sides.earnings[r] > 0)
      earning_from[margins[r]] += sides.earnings[r];
  using Real = long double;
  Real unpaid = static_cast<Real>(sides.paid) * static_cast<Real>(ps_per_s);
  int128 earning = 0; // of those whose margin is over at `time`
  std::int64_t time = 0;
  for (const auto& [margin, more] : earning_from) {
    const Real earned = static_cast<Real>(earning) * static_cast<Real>(margin - time);
    if (earned >= unpaid) break;
    unpaid -= earned;
    earning += more;
    time = margin;
  }
  if (earning == 0 || unpaid <= 0) return 0;
  const Real exact = static_cast<Real>(time) + unpaid / static_cast<Real>(earning);
  // Each step is off by a few roundings of a sum that is at most what is earned until then.
  const Real off = std::numeric_limits<Real>::epsilon() * 4 * static_cast<Real>(margins.size() + 2);
  return static_cast<std::int64_t>(
      std::min(std::floor(exact * (1 - off)), static_cast<Real>(bounds::never)));
}

double price_bound(const FlowProblem& problem, std::span<const double> prices) {
  return price_bound(problem, prices, flow_orbits(problem, {}).representatives);
}

double cut_seconds(const FlowProblem& problem, const std::vector<bool>& inside) {
  const auto is_inside = [&](std::uint32_t node) { return inside[node]; };
  int128 bytes = 0;
  for (const FlowDemand& demand : problem.demands) {
    const auto sources = problem.sources(demand), sinks = problem.sinks(demand);
    const bool copied = demand.kind == FlowKind::paths || demand.kind == FlowKind::spread;
    if (copied ? !std::ranges::all_of(sources, is_inside)
               : std::ranges::none_of(sources, is_inside))
      continue;
    const auto outside = std::ranges::count_if(sinks, std::not_fn(is_inside));
    bytes += static_cast<int128>(demand.bytes) *
             (demand.kind == FlowKind::paths ? outside : std::min<std::ptrdiff_t>(outside, 1));
  }
  const FlowNetwork& network = problem.network;
  const auto crosses = [&](std::uint32_t link) {
    return inside[network.links[link].from] && !inside[network.links[link].to];
  };
  // A group counts instead of its links where that is less.
  std::vector<bool> counted(network.link_count());
  int128 bandwidth = 0;
  for (std::uint32_t r = network.link_count(); r < network.resource_count(); ++r) {
    int128 of_links = 0;
    for (const std::uint32_t link : network.resources[r].links)
      if (crosses(link) && !counted[link]) of_links += network.resources[link].bandwidth;
    if (of_links <= network.resources[r].bandwidth) continue;
    bandwidth += network.resources[r].bandwidth;
    for (const std::uint32_t link : network.resources[r].links) counted[link] = true;
  }
  for (std::uint32_t link = 0; link < network.link_count(); ++link)
    if (crosses(link) && !counted[link]) bandwidth += network.resources[link].bandwidth;
  return rounded_down(bytes, bandwidth);
}

} // namespace tutti
