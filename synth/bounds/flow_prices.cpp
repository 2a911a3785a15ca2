// Why: cuts don't see what many paths take from the same links one after another. Idea: the dual
// prices of the optimal fluid flow (Shapley 2025, ch. 3) are a certificate for every schedule, with
// latencies as margins, and for what is left of the data from an instant on. Theorems:
// price_bound.hpp and flow_prices.hpp.

#include "synth/bounds/flow_prices.hpp"

#include "synth/bounds/capacity.hpp"
#include "synth/bounds/least_times.hpp"
#include "synth/bounds/outline.hpp"
#include "synth/bounds/price_bound.hpp"
#include "synth/flows/fluid/demand_pricing.hpp"
#include "synth/flows/fluid/program.hpp"
#include "synth/flows/fluid/symmetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace tutti {

namespace {

/// Limits to the problem that a program is made for, and to the program's columns.
struct Size {
  std::size_t points; ///< nodes, links and demands: beyond, symmetries take too long
  std::size_t chunks;
  std::size_t columns, columns_with_roots; ///< with roots to choose it is the hardest
};
constexpr Size of_quick{2'000, 100'000, 4'000, 2'000};              // some tenths of a second
constexpr Size of_full{40'000, bounds::most_listed, 20'000, 8'000}; // a second or two

/// Whether prices can prove more than a cut: not for trees that share nothing but links (Edmonds
/// 1973).
bool can_help(const FlowProblem& problem) {
  const bool groups = problem.network.resource_count() > problem.network.link_count();
  return groups || std::ranges::any_of(problem.demands, [](const FlowDemand& demand) {
           return demand.kind == FlowKind::paths || demand.kind == FlowKind::both;
         });
}

/// The margins of resources as price_bound_ps() takes them. In a group, links that are on no path
/// from a source to a sink don't count.
std::vector<std::int64_t> resource_margins(const FlowNetwork& network,
                                           const bounds::Margins& margins) {
  std::vector<std::int64_t> result;
  for (const FlowNetwork::Resource& resource : network.resources) {
    std::int64_t least_entry = bounds::never, least_exit = bounds::never;
    for (const std::uint32_t link : resource.links) {
      const std::int64_t entry = margins.entry[network.links[link].from],
                         exit = margins.exit[network.links[link].to];
      if (entry >= bounds::never || exit >= bounds::never) continue;
      least_entry = std::min(least_entry, entry);
      least_exit = std::min(least_exit, exit);
    }
    result.push_back(std::min(least_entry + least_exit, bounds::never));
  }
  return result;
}

/// In proportion to the prices, as price_bound_ps() counts.
std::vector<double> whole_numbers(std::span<const double> prices) {
  const std::vector<std::int64_t> scaled = scaled_prices(prices, most_tree_links).links;
  return {scaled.begin(), scaled.end()};
}

std::string name_of(const Topology& topology, std::uint32_t resource) {
  if (resource >= topology.link_count())
    return "group " + topology.groups()[resource - topology.link_count()].name;
  const Link& link = topology.link(LinkId{resource});
  return topology.node(link.from).name + ">" + topology.node(link.to).name;
}

/// `all paths pay for bandwidth: 50 % npu0>nvswitch0 and 7 alike, 50 % nvswitch0>npu0 and 7 alike`
std::string certificate(const Topology& topology, const std::vector<double>& prices) {
  constexpr std::size_t shown = 4;
  constexpr double alike = 1e6; // prices that agree in so much are one kind
  struct Kind {
    std::uint32_t first = 0, count = 0;
    double part = 0; ///< of what all earn
  };
  const double most = *std::ranges::max_element(prices);
  double earned = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, Kind> kinds; // by price and bandwidth
  for (std::uint32_t r = 0; r < prices.size(); ++r) {
    const std::int64_t level = std::llround(prices[r] / most * alike);
    if (level <= 0) continue;
    const std::int64_t rate =
        r < topology.link_count()
            ? topology.link(LinkId{r}).bandwidth.bytes_per_second
            : topology.groups()[r - topology.link_count()].bandwidth.bytes_per_second;
    Kind& kind = kinds.emplace(std::pair(level, rate), Kind{r, 0, 0}).first->second;
    ++kind.count;
    kind.part += prices[r] * static_cast<double>(rate);
    earned += prices[r] * static_cast<double>(rate);
  }
  std::vector<Kind> sorted;
  for (const auto& [key, kind] : kinds) sorted.push_back(kind);
  std::ranges::stable_sort(sorted, std::greater<>(), &Kind::part);
  std::string text = "all paths pay for bandwidth:";
  for (std::size_t i = 0; i < sorted.size() && i < shown; ++i) {
    text += fmt::format("{} {:.3g} % {}", i == 0 ? "" : ",", 100 * sorted[i].part / earned,
                        name_of(topology, sorted[i].first));
    if (sorted[i].count > 1) text += fmt::format(" and {} alike", sorted[i].count - 1);
  }
  return sorted.size() > shown ? fmt::format("{}, {} kinds more", text, sorted.size() - shown)
                               : text;
}

/// For each node how long its first bytes take from the sources, by latencies alone.
std::vector<std::int64_t> distances(const Topology& topology, const TimeModel& model,
                                    std::span<const std::uint32_t> sources) {
  bounds::LeastTimes times(topology, model, bounds::Direction::from_sources);
  times.set_size(Bytes{0});
  const std::vector<NodeId> from(sources.begin(), sources.end());
  times.search(from);
  std::vector<std::int64_t> result;
  for (std::uint32_t v = 0; v < topology.node_count(); ++v) result.push_back(times.pass(NodeId{v}));
  return result;
}

/// The same problem with data where it can be, or be in flight to, before `from`.
class Headstart {
public:
  Headstart(const Topology& topology, const TimeModel& model, const FlowProblem& problem)
      : problem_(problem), distances_(problem.sets.size()) {
    for (const FlowDemand& demand : problem.demands)
      if (distances_[demand.sources].empty())
        distances_[demand.sources] = distances(topology, model, problem.sources(demand));
  }

  /// Up to `most` instants at which a first byte comes to some node, ascending.
  [[nodiscard]] std::vector<std::int64_t> instants(std::size_t most) const {
    std::vector<std::int64_t> all;
    for (const std::vector<std::int64_t>& some : distances_)
      std::ranges::copy_if(some, std::back_inserter(all),
                           [](std::int64_t at) { return at > 0 && at < bounds::never; });
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() > most) all.resize(most);
    return all;
  }

  [[nodiscard]] FlowProblem after(std::int64_t from) const {
    FlowProblem later = problem_;
    std::map<FlowSet, FlowSet> reached;
    for (FlowDemand& demand : later.demands) {
      const auto [at, added] = reached.emplace(demand.sources, 0);
      if (added) {
        at->second = static_cast<FlowSet>(later.sets.size());
        later.sets.push_back(reached_before(from, demand.sources));
      }
      demand.sources = at->second;
    }
    return later;
  }

private:
  [[nodiscard]] std::vector<std::uint32_t> reached_before(std::int64_t from,
                                                          FlowSet sources) const {
    std::vector<std::uint32_t> nodes = problem_.sets[sources];
    for (const FlowNetwork::Link& link : problem_.network.links)
      if (distances_[sources][link.from] < from) nodes.push_back(link.to);
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  const FlowProblem& problem_;
  std::vector<std::vector<std::int64_t>> distances_; // [set]: to each node, in ps
};

bool is_small(const Topology& topology, const Collective& collective, BoundEffort effort) {
  const Size& most = effort == BoundEffort::full ? of_full : of_quick;
  return effort != BoundEffort::least &&
         topology.node_count() + topology.link_count() <= most.points &&
         !collective.chunks.empty() && collective.chunks.size() <= most.chunks;
}

} // namespace

FlowPrices::FlowPrices(const Topology& topology, FlowProblem problem, BoundEffort effort)
    : topology_(topology), problem_(std::move(problem)) {
  const Size& most = effort == BoundEffort::full ? of_full : of_quick;
  if (problem_.demands.empty() || !can_help(problem_)) return;
  if (topology.node_count() + topology.link_count() + problem_.demands.size() > most.points) return;
  const SynthesisOptions no_limits;
  FlowProgramOptions options;
  const bool roots = std::ranges::any_of(
      problem_.demands, [](const auto& demand) { return demand.kind == FlowKind::both; });
  options.most_columns = roots ? most.columns_with_roots : most.columns;
  const std::vector<FlowAutomorphism> symmetry = flow_automorphisms(problem_);
  options.symmetry = symmetry;
  options.merge = !symmetry.empty();
  FlowProgramAnswer answer = solve_flow_program(problem_, options, WorkLimit(no_limits));
  if (answer.status != SolverStatus::optimal) return;
  prices_ = std::move(answer.prices);
  representatives_ = flow_orbits(problem_, symmetry).representatives;
}

std::optional<Bound> FlowPrices::bound(const TimeModel& model, bounds::Margins margins,
                                       Time from) const {
  if (prices_.empty()) return std::nullopt;
  for (std::int64_t& entry : margins.entry) entry = std::max(entry, from.ps);
  // Fluid engines round the times of events to a picosecond.
  const std::int64_t slack = model.discipline == Discipline::fluid ? 1 : 0;
  const std::int64_t ps =
      price_bound_ps(problem_, prices_, resource_margins(problem_.network, margins),
                     representatives_) -
      slack;
  if (ps <= 0) return std::nullopt;
  std::string words = certificate(topology_, prices_);
  if (from.ps > 0) words = fmt::format("from {} on {}", short_text(from), words);
  return Bound{Time{ps},
               BoundKind::flow_prices,
               std::move(words),
               {},
               {.from = from, .prices = whole_numbers(prices_)}};
}

std::optional<FlowPrices> flow_prices(const Topology& topology, const Collective& collective,
                                      BoundEffort effort) {
  if (!is_small(topology, collective, effort)) return std::nullopt;
  return FlowPrices(topology, flow_problem(topology, collective), effort);
}

std::vector<TimedFlowPrices> flow_prices_over_time(const Topology& topology,
                                                   const Collective& collective,
                                                   const TimeModel& model, BoundEffort effort) {
  constexpr std::size_t most_instants = 6;
  std::vector<TimedFlowPrices> all;
  if (effort != BoundEffort::full || model.discipline == Discipline::fluid ||
      !is_small(topology, collective, effort))
    return all;
  const FlowProblem problem = flow_problem(topology, collective);
  if (!std::ranges::all_of(problem.demands,
                           [](const FlowDemand& demand) { return demand.kind == FlowKind::paths; }))
    return all;
  const Headstart headstart(topology, model, problem);
  for (const std::int64_t from : headstart.instants(most_instants))
    all.push_back({Time{from}, FlowPrices(topology, headstart.after(from), effort)});
  return all;
}

} // namespace tutti
