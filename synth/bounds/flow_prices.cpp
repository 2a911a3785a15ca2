#include "synth/bounds/flow_prices.hpp"

#include "synth/bounds/capacity.hpp"
#include "synth/bounds/least_times.hpp"
#include "synth/bounds/price_bound.hpp"
#include "synth/flows/demand_pricing.hpp"
#include "synth/flows/flow_program.hpp"
#include "synth/flows/flow_symmetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace tutti {

namespace {

// Of the program: about a second. With roots to choose it is the hardest.
constexpr std::size_t most_columns = 20'000, most_with_roots = 8'000;
constexpr std::size_t most_points = 40'000; // nodes and links: beyond, symmetries take too long

/// Whether prices can prove more than a cut: not for trees that share nothing but links (Edmonds
/// 1973).
bool can_help(const FlowProblem& problem) {
  const bool groups = problem.network.resource_count() > problem.network.link_count();
  return groups || std::ranges::any_of(problem.demands, [](const FlowDemand& demand) {
           return demand.kind == FlowKind::paths || demand.kind == FlowKind::both;
         });
}

/// As price_bound_ps() wants them. Of a group, links that are on no way from a source to a sink
/// don't count.
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

/// `all ways pay for bandwidth: 50 % npu0>nvswitch0 and 7 alike, 50 % nvswitch0>npu0 and 7 alike`
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
  std::string text = "all ways pay for bandwidth:";
  for (std::size_t i = 0; i < sorted.size() && i < shown; ++i) {
    text += fmt::format("{} {:.3g} % {}", i == 0 ? "" : ",", 100 * sorted[i].part / earned,
                        name_of(topology, sorted[i].first));
    if (sorted[i].count > 1) text += fmt::format(" and {} alike", sorted[i].count - 1);
  }
  return sorted.size() > shown ? fmt::format("{}, {} kinds more", text, sorted.size() - shown)
                               : text;
}

} // namespace

std::vector<Bound> flow_bounds(const Topology& topology, const Collective& collective,
                               const TimeModel& model, Chunking chunking) {
  const FlowProblem problem = flow_problem(topology, collective);
  if (problem.demands.empty() || !can_help(problem) ||
      topology.node_count() + topology.link_count() > most_points)
    return {};
  const SynthesisOptions no_limits;
  FlowProgramOptions options;
  const bool roots = std::ranges::any_of(
      problem.demands, [](const auto& demand) { return demand.kind == FlowKind::both; });
  options.most_columns = roots ? most_with_roots : most_columns;
  const std::vector<FlowAutomorphism> symmetry = flow_automorphisms(problem);
  options.symmetry = symmetry;
  options.merge = !symmetry.empty();
  const FlowProgramAnswer answer = solve_flow_program(problem, options, WorkLimit(no_limits));
  if (answer.status != SolverStatus::optimal) return {};
  const std::vector<std::int64_t> margins = resource_margins(
      problem.network,
      bounds::margins(topology, collective, bounds::chunk_classes(collective, chunking), model));
  // Fluid engines round the times of events to a picosecond.
  const std::int64_t slack = model.discipline == Discipline::fluid ? 1 : 0;
  const std::int64_t ps = price_bound_ps(problem, answer.prices, margins,
                                         flow_orbits(problem, symmetry).representatives) -
                          slack;
  if (ps <= 0) return {};
  return {Bound{Time{ps},
                BoundKind::flow_prices,
                certificate(topology, answer.prices),
                {},
                {.prices = whole_numbers(answer.prices)}}};
}

} // namespace tutti
