// Data that spreads takes cheapest trees of the network, contributions those of the reversed
// network, both over logical arcs (logical_network.hpp); data of its own for each sink takes
// shortest paths. Prices are scaled to integers with a 1 for each link in the last place, so that
// sums are exact and of equal prices fewer links win.

#include "synth/flows/fluid/demand_pricing.hpp"

#include "sim/ids.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

constexpr int sum_bits = 61;

bool has_both_ways(const FlowProblem& problem) {
  return std::ranges::any_of(problem.demands, [](const FlowDemand& demand) {
    return demand.kind == FlowKind::combine || demand.kind == FlowKind::both;
  });
}

std::vector<bool> members(const FlowProblem& problem) {
  std::vector<bool> result(problem.network.node_count());
  for (const FlowDemand& demand : problem.demands)
    for (const FlowSet set : {demand.sources, demand.sinks})
      for (const std::uint32_t node : problem.sets[set]) result[node] = true;
  return result;
}

/// More links than any tree crosses: each of its hops takes a path without repeats.
std::uint64_t most_links(const FlowNetwork& network) {
  std::uint64_t through = 1; // nodes that paths lead through
  for (const bool copies : network.copies) through += copies ? 0 : 1;
  return 2 * std::min<std::uint64_t>(through, 16) * network.node_count() + 2;
}

} // namespace

ScaledPrices scaled_prices(std::span<const double> prices, std::uint64_t most_links) {
  double largest = 0;
  for (const double price : prices) largest = std::max(largest, price);
  ScaledPrices scaled{std::vector<std::int64_t>(prices.size()), 0};
  if (!(largest > 0)) return scaled;
  const int bits = std::clamp(sum_bits - static_cast<int>(std::bit_width(most_links)), 1, 45);
  scaled.unit = std::ldexp(largest, -bits);
  for (std::size_t l = 0; l < prices.size(); ++l)
    scaled.links[l] = std::llround(std::max(prices[l], 0.0) / scaled.unit);
  return scaled;
}

DemandPricing::Side::Side(FlowNetwork with, const std::vector<bool>& members)
    : network(std::move(with)), logical(network, members), search(logical) {}

DemandPricing::DemandPricing(const FlowProblem& problem) : problem_(problem) {
  const std::vector<bool> all = members(problem);
  forwards_.emplace(problem.network, all);
  if (has_both_ways(problem)) backwards_.emplace(reversed(problem.network), all);
}

bool DemandPricing::is_exact(const FlowDemand& demand) const {
  const auto all_among = [&](const std::vector<bool>& able, Nodes nodes) {
    for (std::uint32_t v = 0; v < able.size(); ++v)
      if (able[v] && !std::ranges::binary_search(nodes, v)) return false;
    return true;
  };
  std::vector<std::uint32_t> ends;
  std::ranges::set_union(problem_.sources(demand), problem_.sinks(demand),
                         std::back_inserter(ends));
  switch (demand.kind) {
  case FlowKind::paths: return true;
  case FlowKind::spread: return all_among(problem_.network.copies, ends);
  case FlowKind::combine: return all_among(problem_.network.reduces, ends);
  case FlowKind::both: break;
  }
  return all_among(problem_.network.copies, problem_.sinks(demand)) &&
         all_among(problem_.network.reduces, problem_.sources(demand));
}

void DemandPricing::set_prices(std::span<const double> prices) {
  prices_.assign(prices.begin(), prices.end());
  const std::uint64_t links = most_links(problem_.network);
  const auto per_price = static_cast<std::int64_t>(std::bit_ceil(links));
  ScaledPrices scaled = scaled_prices(prices, links * static_cast<std::uint64_t>(per_price));
  costs_ = std::move(scaled.links);
  for (std::int64_t& cost : costs_) cost = cost * per_price + 1;
  const bool trees = std::ranges::any_of(problem_.demands, [](const FlowDemand& demand) {
    return demand.kind == FlowKind::spread || demand.kind == FlowKind::both;
  });
  if (trees) forwards_->logical.set_costs(costs_);
  if (backwards_) backwards_->logical.set_costs(costs_);
}

std::optional<PricedTree> DemandPricing::priced(std::uint32_t d, std::uint32_t root, Aim aim) {
  const FlowDemand& demand = problem_.demands[d];
  const Nodes sources = problem_.sources(demand), sinks = problem_.sinks(demand);
  PricedTree result;
  FlowTree& tree = result.tree;
  tree.demand = d;
  tree.root = demand.kind == FlowKind::both      ? root
              : demand.kind == FlowKind::combine ? sinks.front()
                                                 : sources.front();
  bool found = true;
  switch (demand.kind) {
  case FlowKind::paths: found = add_paths(tree, sources, sinks); break;
  case FlowKind::spread: found = add_spreading(tree, sources, sinks, aim); break;
  case FlowKind::combine: found = add_combining(tree, sources, sinks.front(), aim); break;
  case FlowKind::both:
    found = add_combining(tree, sources, root, aim);
    if (!found) break;
    spread_from_first_whole(tree, sources);
    found = add_spreading(tree, std::span(&tree.root, 1), sinks, aim);
  }
  if (!found) return std::nullopt;
  result.price = price(tree);
  return result;
}

bool DemandPricing::add_spreading(FlowTree& tree, Nodes sources, Nodes sinks, Aim aim) {
  TreeSearch& search = forwards_->search;
  const std::optional<LogicalTree> found =
      aim == Aim::shallow ? search.shallow(sources, sinks)
                          : search.cheapest(sources, sinks, aim == Aim::thorough);
  if (!found) return false;
  for (const std::uint32_t arc : found->arcs) {
    forwards_->logical.append_path(arc, tree.links);
    tree.hop_end.push_back(static_cast<std::uint32_t>(tree.links.size()));
  }
  return true;
}

bool DemandPricing::add_combining(FlowTree& tree, Nodes sources, std::uint32_t sink, Aim aim) {
  TreeSearch& search = backwards_->search;
  const std::span<const std::uint32_t> to(&sink, 1);
  const std::optional<LogicalTree> found = aim == Aim::shallow
                                               ? search.shallow(to, sources)
                                               : search.cheapest(to, sources, aim == Aim::thorough);
  if (!found) return false;
  std::vector<std::uint32_t> path;
  for (auto arc = found->arcs.rbegin(); arc != found->arcs.rend(); ++arc) {
    path.clear();
    backwards_->logical.append_path(*arc, path);
    std::ranges::reverse(path);
    tree.add_hop(path);
  }
  tree.combining = static_cast<std::uint32_t>(tree.hop_count());
  return true;
}

/// Where contributions have come together before the root, and one node passes their sum on to the
/// next, whoever of them can copy keeps it: the first such node is a root that saves the path there
/// and back.
void DemandPricing::spread_from_first_whole(FlowTree& tree, Nodes sources) const {
  const FlowNetwork& network = problem_.network;
  std::vector<std::uint32_t> hops_into(network.node_count());
  for (std::size_t h = 0; h < tree.combining; ++h)
    ++hops_into[network.links[tree.hop(h).back()].to];
  std::size_t kept = tree.combining; // hops: the last ones of a chain into the root are no use
  std::uint32_t at = tree.root;
  for (std::size_t h = tree.combining; h-- > 0;) {
    if (hops_into[at] != 1 || std::ranges::binary_search(sources, at)) break;
    at = network.links[tree.hop(h).front()].from;
    if (!network.copies[at]) continue;
    tree.root = at;
    kept = h;
  }
  tree.hop_end.resize(kept);
  tree.links.resize(kept == 0 ? 0 : tree.hop_end.back());
  tree.combining = static_cast<std::uint32_t>(kept);
}

bool DemandPricing::add_paths(FlowTree& tree, Nodes sources, Nodes sinks) {
  paths_.search(problem_.network, costs_, sources);
  std::vector<std::uint32_t> path;
  for (const std::uint32_t sink : sinks) {
    if (paths_.cost[sink] == 0) continue;
    if (paths_.cost[sink] == INT64_MAX) return false;
    path.clear();
    for (std::uint32_t at = sink; paths_.last_link[at] != no_index;
         at = problem_.network.links[paths_.last_link[at]].from)
      path.push_back(paths_.last_link[at]);
    std::ranges::reverse(path);
    tree.add_hop(path);
  }
  return true;
}

double DemandPricing::price(const FlowTree& tree) const {
  double sum = 0;
  for (const std::uint32_t link : tree.links) sum += prices_[link];
  return sum;
}

std::uint32_t depth_of(const FlowNetwork& network, const FlowTree& tree) {
  std::vector<std::uint32_t> depth(network.node_count());
  std::uint32_t deepest = 0;
  for (std::size_t i = 0; i < tree.hop_count(); ++i) {
    const auto hop = tree.hop(i);
    std::uint32_t& end = depth[network.links[hop.back()].to];
    end = std::max(end, depth[network.links[hop.front()].from] + 1);
    deepest = std::max(deepest, end);
  }
  return deepest;
}

} // namespace tutti
