#include "synth/teccl/bounds/cuts.hpp"

#include "synth/flows/packing/supply_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace tutti {

namespace {

/// Chunks an epoch, in millionths.
std::int64_t rate(const EpochNetwork& network, std::uint32_t lane) {
  constexpr std::int64_t whole = 1'000'000;
  std::int64_t least = whole * 1'000;
  for (const std::uint32_t i : network.limits_of[lane])
    least = std::min(least, whole * network.limits[i].most / network.limits[i].window);
  return least;
}

/// What can't get more from `source`; nothing where all of it can.
std::vector<bool> cut_off(const ArcGraph& graph, const std::vector<std::int64_t>& rates,
                          std::uint32_t source, std::uint32_t sink) {
  constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max() / 4;
  SupplyFlow flow(graph);
  std::vector<std::int64_t> flows(rates.size()), supply(graph.node_count());
  supply[source] = endless;
  flow.send(rates, flows, supply, sink, endless);
  return flow.sink_side();
}

} // namespace

std::vector<std::vector<bool>> narrow_cuts(const EpochProblem& problem) {
  const EpochNetwork& network = problem.network;
  ArcGraph graph(network.node_count());
  std::vector<std::int64_t> rates;
  for (std::uint32_t l = 0; l < network.lanes.size(); ++l) {
    graph.add_arc(network.lanes[l].from, network.lanes[l].to);
    rates.push_back(rate(network, l));
  }
  std::vector<std::vector<bool>> cuts;
  std::set<std::vector<bool>> known;
  const auto add = [&](std::vector<bool> cut) {
    if (known.insert(cut).second) cuts.push_back(std::move(cut));
  };
  for (std::uint32_t n = 0;
       n < network.node_count() && !(problem.limit != nullptr && problem.limit->reached()); ++n) {
    std::vector<bool> alone(network.node_count());
    alone[n] = true;
    std::vector<bool> others = alone;
    others.flip();
    add(std::move(alone));
    add(std::move(others));
    if (n == 0) continue;
    add(cut_off(graph, rates, 0, n));
    add(cut_off(graph, rates, n, 0));
  }
  return cuts;
}

} // namespace tutti
