// Data that spreads takes cheapest trees of the network, contributions those of the reversed
// network, both over logical arcs (logical_network.hpp); data of its own for each sink takes
// shortest paths. Prices are scaled to integers with a 1 for each link in the last place, so that
// sums are exact and of equal prices fewer links win.
//
// A cheapest tree is the arborescence of least cost over sinks and the nodes that copy. Without
// other nodes that copy this is exact (Edmonds); with these it is a directed Steiner tree, which is
// searched locally: from all or none of them, add those that save more than they cost, leave out
// leaves that aren't sinks. Ties of cost are broken for fewer hops, since chunks take one after
// another.

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

TreeSearch::TreeSearch(const LogicalNetwork& logical)
    : logical_(logical), is_source_(logical.network().node_count()),
      is_sink_(logical.network().node_count()) {}

void TreeSearch::start(std::span<const std::uint32_t> sources,
                       std::span<const std::uint32_t> sinks) {
  is_source_.assign(is_source_.size(), false);
  is_sink_.assign(is_sink_.size(), false);
  for (const std::uint32_t v : sources) is_source_[v] = true;
  for (const std::uint32_t v : sinks) is_sink_[v] = !is_source_[v];
}

bool TreeSearch::leads_on(std::uint32_t vertex) const {
  return is_source_[vertex] || logical_.network().copies[vertex];
}

std::optional<LogicalTree> TreeSearch::shallow(std::span<const std::uint32_t> sources,
                                               std::span<const std::uint32_t> sinks) {
  start(sources, sinks);
  const std::vector<std::uint32_t> level = levels();
  const std::span<const CostedArc> arcs = logical_.arcs();
  Entries into(level.size(), no_index);
  for (std::uint32_t a = 0; a < arcs.size(); ++a) {
    const CostedArc& arc = arcs[a];
    if (level[arc.from] >= level[arc.to] || !leads_on(arc.from)) continue;
    std::uint32_t& best = into[arc.to];
    if (best == no_index ||
        std::pair(arc.cost, level[arc.from]) < std::pair(arcs[best].cost, level[arcs[best].from]))
      best = a;
  }
  for (const std::uint32_t sink : sinks)
    if (is_sink_[sink] && into[sink] == no_index) return std::nullopt;
  prune(into);
  return tree(into);
}

/// Hops from the sources to each vertex; no_index where there is no path.
std::vector<std::uint32_t> TreeSearch::levels() const {
  const std::span<const CostedArc> arcs = logical_.arcs();
  std::vector<std::uint32_t> begin(is_source_.size() + 1);
  for (const CostedArc& arc : arcs) ++begin[arc.from + 1];
  for (std::size_t v = 1; v < begin.size(); ++v) begin[v] += begin[v - 1];
  std::vector<std::uint32_t> level(is_source_.size(), no_index), reached;
  for (std::uint32_t v = 0; v < is_source_.size(); ++v)
    if (is_source_[v]) {
      level[v] = 0;
      reached.push_back(v);
    }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const std::uint32_t from = reached[i];
    if (!leads_on(from)) continue;
    for (std::uint32_t a = begin[from]; a < begin[from + 1]; ++a)
      if (level[arcs[a].to] == no_index) {
        level[arcs[a].to] = level[from] + 1;
        reached.push_back(arcs[a].to);
      }
  }
  return level;
}

std::optional<LogicalTree> TreeSearch::cheapest(std::span<const std::uint32_t> sources,
                                                std::span<const std::uint32_t> sinks,
                                                bool thorough) {
  start(sources, sinks);
  std::vector<bool> all(is_sink_.size());
  bool others = false;
  for (std::uint32_t v = 0; v < all.size(); ++v) {
    all[v] = logical_.is_vertex(v) && (logical_.network().copies[v] || is_sink_[v]);
    others = others || (all[v] && !is_sink_[v] && !is_source_[v]);
  }
  Entries into = others ? best_with_others(all, thorough) : spanning(all);
  if (into.empty()) return std::nullopt;
  make_shallower(into);
  prune(into); // of vertices that needn't be reached some may have lost all that hung below them
  return tree(into);
}

/// Some vertices need not be reached, but may be worth it: starts with all and with none of them,
/// and adds and leaves out some while that helps; if thorough, also one by one.
TreeSearch::Entries TreeSearch::best_with_others(const std::vector<bool>& all,
                                                 bool thorough) const {
  constexpr int most_changes = 8;
  Entries best;
  const auto offer = [&](Entries into) {
    if (into.empty()) return false;
    prune(into);
    if (!best.empty() && cost(into) >= cost(best)) return false;
    best = std::move(into);
    return true;
  };
  offer(spanning(is_sink_));
  const std::vector<std::uint32_t> level = levels();
  std::vector<bool> reached(all.size()); // a tree can't be asked for what is out of reach
  for (std::uint32_t v = 0; v < all.size(); ++v) reached[v] = all[v] && level[v] != no_index;
  offer(spanning(reached));
  for (int i = 0; i < most_changes && !best.empty(); ++i) {
    std::vector<bool> used = used_by(best);
    add_worthwhile(best, used);
    if (!offer(spanning(used))) break;
  }
  if (thorough)
    for (bool again = true; again && !best.empty();) {
      again = false;
      for (std::uint32_t v = 0; v < all.size(); ++v) {
        if (!reached[v] || is_sink_[v] || is_source_[v]) continue;
        std::vector<bool> used = used_by(best);
        used[v] = !used[v];
        again = offer(spanning(used)) || again;
      }
    }
  return best;
}

std::vector<bool> TreeSearch::used_by(const Entries& into) const {
  std::vector<bool> used = is_sink_;
  for (std::uint32_t v = 0; v < used.size(); ++v) used[v] = used[v] || into[v] != no_index;
  return used;
}

/// The cheapest tree that reaches exactly the used vertices; empty where there is none.
TreeSearch::Entries TreeSearch::spanning(const std::vector<bool>& used) const {
  std::vector<std::uint32_t> number(used.size(), no_index); // sources: 0, the root
  std::uint32_t vertices = 1;
  for (std::uint32_t v = 0; v < used.size(); ++v) {
    if (is_source_[v])
      number[v] = 0;
    else if (used[v])
      number[v] = vertices++;
  }
  std::vector<CostedArc> arcs;
  std::vector<std::uint32_t> original;
  for (std::uint32_t a = 0; a < logical_.arcs().size(); ++a) {
    const CostedArc& arc = logical_.arcs()[a];
    const std::uint32_t from = number[arc.from], to = number[arc.to];
    if (from == no_index || to == no_index || to == 0 || !leads_on(arc.from)) continue;
    arcs.push_back({from, to, arc.cost});
    original.push_back(a);
  }
  const std::vector<std::uint32_t> chosen = minimum_arborescence(vertices, 0, arcs);
  if (chosen.empty()) return {};
  Entries into(used.size(), no_index);
  for (std::uint32_t v = 1; v < vertices; ++v) {
    const std::uint32_t arc = original[chosen[v]];
    into[logical_.arcs()[arc].to] = arc;
  }
  return into;
}

/// Leaves out what leads to no sink.
void TreeSearch::prune(Entries& into) const {
  const std::span<const CostedArc> arcs = logical_.arcs();
  std::vector<std::uint32_t> children(into.size());
  for (const std::uint32_t arc : into)
    if (arc != no_index) ++children[arcs[arc].from];
  for (std::uint32_t v = 0; v < into.size(); ++v)
    for (std::uint32_t at = v; into[at] != no_index && children[at] == 0 && !is_sink_[at];) {
      const std::uint32_t before = arcs[into[at]].from;
      into[at] = no_index;
      --children[before];
      at = before;
    }
}

/// Hangs vertices over an arc of the same cost below others that are nearer to the sources.
void TreeSearch::make_shallower(Entries& into) const {
  constexpr int most_passes = 16;
  const std::span<const CostedArc> arcs = logical_.arcs();
  for (int pass = 0; pass < most_passes; ++pass) {
    std::vector<std::uint32_t> depth(into.size(), no_index);
    const auto depth_of = [&](std::uint32_t v) {
      std::vector<std::uint32_t> path;
      for (; depth[v] == no_index && into[v] != no_index; v = arcs[into[v]].from) path.push_back(v);
      if (depth[v] == no_index) depth[v] = 0;
      for (std::uint32_t d = depth[v]; !path.empty(); path.pop_back()) depth[path.back()] = ++d;
    };
    for (std::uint32_t v = 0; v < into.size(); ++v)
      if (into[v] != no_index || is_source_[v]) depth_of(v);
    // Depths stay those from before the pass: every arc of the tree leads to a larger one, so that
    // there is no cycle.
    bool changed = false;
    for (std::uint32_t a = 0; a < arcs.size(); ++a) {
      const auto [from, to, cost] = arcs[a];
      if (into[to] == no_index || depth[from] == no_index || !leads_on(from)) continue;
      const CostedArc& now = arcs[into[to]];
      if (cost != now.cost || depth[from] >= depth[now.from] || depth[from] + 1 >= depth[to])
        continue;
      into[to] = a;
      changed = true;
    }
    if (!changed) return;
  }
}

/// Vertices that would save more, as the next ones' entry, than reaching them costs.
void TreeSearch::add_worthwhile(const Entries& into, std::vector<bool>& used) const {
  constexpr std::int64_t unreached = INT64_MAX;
  const std::span<const CostedArc> arcs = logical_.arcs();
  std::vector<std::int64_t> saving(used.size()), entry(used.size(), unreached);
  for (const CostedArc& arc : arcs) {
    if (!leads_on(arc.from)) continue;
    if (used[arc.from] || is_source_[arc.from])
      entry[arc.to] = std::min(entry[arc.to], arc.cost);
    else if (into[arc.to] != no_index)
      saving[arc.from] += std::max<std::int64_t>(0, arcs[into[arc.to]].cost - arc.cost);
  }
  for (std::uint32_t v = 0; v < used.size(); ++v)
    if (!used[v] && !is_source_[v] && entry[v] != unreached && saving[v] > entry[v]) used[v] = true;
}

std::int64_t TreeSearch::cost(const Entries& into) const {
  std::int64_t sum = 0;
  for (const std::uint32_t arc : into)
    if (arc != no_index) sum += logical_.arcs()[arc].cost;
  return sum;
}

LogicalTree TreeSearch::tree(const Entries& into) const {
  const std::span<const CostedArc> arcs = logical_.arcs();
  std::vector<std::vector<std::uint32_t>> below(into.size());
  for (const std::uint32_t arc : into)
    if (arc != no_index) below[arcs[arc].from].push_back(arc);
  LogicalTree result;
  result.cost = cost(into);
  std::vector<std::uint32_t> reached;
  for (std::uint32_t v = 0; v < into.size(); ++v)
    if (is_source_[v]) reached.push_back(v);
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const std::uint32_t arc : below[reached[i]]) {
      result.arcs.push_back(arc);
      reached.push_back(arcs[arc].to);
    }
  return result;
}

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
