// Reductions are trees of the reversed network, walked from their leaves. All-Reduce joins the
// forest of Reduce-Scatter to that of All-Gather root by root: both have a whole number of trees
// per root, so that parts of the common denominator pair them off exactly.
//
// A problem is a forest's if every demand has one root and reaches the same terminals, and the
// network has plain bandwidths with every switch balanced; each condition that fails is stated in
// words. In an All-Reduce each terminal roots an equal part.

#include "synth/flows/packing/packing.hpp"

#include "synth/flows/packing/forest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// The problem in the terms of tree packing: terminals, each of which roots trees to all others, in
/// proportion to its bytes.
struct TreeDemands {
  std::string obstacle; ///< why trees are no answer; else empty
  FlowKind kind = FlowKind::spread;
  std::vector<std::uint32_t> terminals; ///< ascending
  std::vector<std::int64_t> bytes;      ///< [node]: of all trees that root there
  std::vector<std::uint32_t> demand_of; ///< [node]: whose root it is; none
  std::vector<std::int64_t> bandwidth;  ///< [link]: bytes/s, shared groups of one link included
};

using NodeList = std::vector<std::uint32_t>;

/// Why the demand isn't a forest's; nothing where it is.
std::optional<std::string> unsuited(const FlowProblem& problem, const FlowDemand& demand) {
  const auto sources = problem.sources(demand), sinks = problem.sinks(demand);
  switch (demand.kind) {
  case FlowKind::paths: return "data of its own for every receiver: that takes paths, not trees";
  case FlowKind::spread:
    if (sources.size() == 1) break;
    return fmt::format("data that {} nodes hold from the beginning: trees have one root",
                       sources.size());
  case FlowKind::combine: break; // by its definition to one sink
  case FlowKind::both:
    if (std::ranges::equal(sources, sinks)) break;
    return "contributions of others than those who want the sum";
  }
  return std::nullopt;
}

/// Everyone that takes part: sources and sinks.
NodeList ends(const FlowProblem& problem, const FlowDemand& demand) {
  NodeList nodes;
  std::ranges::set_union(problem.sources(demand), problem.sinks(demand), std::back_inserter(nodes));
  return nodes;
}

std::optional<std::string> missing_ability(const FlowNetwork& network, const TreeDemands& demands) {
  const bool copy = demands.kind != FlowKind::combine, reduce = demands.kind != FlowKind::spread;
  for (const std::uint32_t node : demands.terminals) {
    if (copy && !network.copies[node]) return fmt::format("node {} can't copy", node);
    if (reduce && !network.reduces[node]) return fmt::format("node {} can't reduce", node);
  }
  return std::nullopt;
}

/// Fills terminals, bytes and demand_of.
std::optional<std::string> read_demands(const FlowProblem& problem, TreeDemands& demands) {
  if (problem.demands.empty()) return "nothing has to move";
  demands.kind = problem.demands.front().kind;
  demands.terminals = ends(problem, problem.demands.front());
  demands.bytes.resize(problem.network.node_count());
  demands.demand_of.resize(problem.network.node_count(), FlowProblem::none);
  for (std::uint32_t d = 0; d < problem.demands.size(); ++d) {
    const FlowDemand& demand = problem.demands[d];
    if (auto reason = unsuited(problem, demand)) return reason;
    if (demand.kind != demands.kind || (d > 0 && demand.kind == FlowKind::both))
      return "several collectives at once";
    if (ends(problem, demand) != demands.terminals)
      return "several groups: every tree must reach the same nodes";
    if (demand.kind == FlowKind::both) {
      for (const std::uint32_t node : demands.terminals) {
        demands.bytes[node] = 1;
        demands.demand_of[node] = d;
      }
      break;
    }
    const std::uint32_t root = demand.kind == FlowKind::spread ? problem.sources(demand).front()
                                                               : problem.sinks(demand).front();
    if (demands.demand_of[root] != FlowProblem::none) return "several demands with one root";
    demands.bytes[root] = demand.bytes;
    demands.demand_of[root] = d;
  }
  return missing_ability(problem.network, demands);
}

/// Links as fast as they are alone, where groups make no other difference.
std::optional<std::string> read_bandwidths(const FlowNetwork& network, TreeDemands& demands) {
  for (std::uint32_t link = 0; link < network.link_count(); ++link)
    demands.bandwidth.push_back(network.resources[link].bandwidth);
  for (std::uint32_t r = network.link_count(); r < network.resource_count(); ++r) {
    const auto& [bandwidth, links] = network.resources[r];
    double together = 0; // no sum of bandwidths is too large for it
    for (const std::uint32_t link : links)
      together += static_cast<double>(network.resources[link].bandwidth);
    if (together <= static_cast<double>(bandwidth)) continue;
    if (links.size() > 1)
      return fmt::format("links that share bandwidth: group {}", r - network.link_count());
    std::int64_t& alone = demands.bandwidth[links.front()];
    alone = std::min(alone, bandwidth);
  }
  return std::nullopt;
}

/// Nodes that only pass data on must be able to pass on all that they get.
std::optional<std::string> unbalanced(const FlowNetwork& network, const TreeDemands& demands) {
  const auto sum = [&](const NodeList& links) {
    std::int64_t bandwidth = 0;
    for (const std::uint32_t link : links) bandwidth += demands.bandwidth[link];
    return bandwidth;
  };
  for (std::uint32_t node = 0; node < network.node_count(); ++node) {
    const std::int64_t in = sum(network.in_links[node]), out = sum(network.out_links[node]);
    if (in != out && !std::ranges::binary_search(demands.terminals, node))
      return fmt::format("links into and out of node {} carry {} and {} bytes/s: to split it off "
                         "takes the same",
                         node, in, out);
  }
  return std::nullopt;
}

/// All-Reduce: every terminal roots the same part. Cost: O(set sizes + links).
TreeDemands tree_demands(const FlowProblem& problem) {
  TreeDemands demands;
  std::optional<std::string> obstacle = read_demands(problem, demands);
  if (!obstacle) obstacle = read_bandwidths(problem.network, demands);
  if (!obstacle) obstacle = unbalanced(problem.network, demands);
  demands.obstacle = obstacle.value_or("");
  return demands;
}

__extension__ typedef __int128 int128;

void add_spreading(const RoutedTrees& trees, FlowTree& tree) {
  for (const std::vector<std::uint32_t>& hop : trees.hops) tree.add_hop(hop);
}

/// Trees of the reversed network, walked from their ends.
void add_combining(const RoutedTrees& trees, FlowTree& tree) {
  for (auto hop = trees.hops.rbegin(); hop != trees.hops.rend(); ++hop)
    tree.add_hop(std::vector<std::uint32_t>(hop->rbegin(), hop->rend()));
  tree.combining = static_cast<std::uint32_t>(trees.hops.size());
}

FlowTree tree_of(const TreeDemands& demands, std::uint32_t root, double share) {
  FlowTree tree;
  tree.demand = demands.demand_of[root];
  tree.share = share;
  tree.root = root;
  return tree;
}

/// Broadcast, All-Gather; inverted: Reduce, Reduce-Scatter.
std::vector<FlowTree> one_way_trees(const TreeDemands& demands, const Forest& forest) {
  std::vector<FlowTree> result;
  for (const RoutedTrees& trees : forest.trees) {
    const double share =
        static_cast<double>(trees.count) / static_cast<double>(forest.roots[trees.root]);
    FlowTree& tree = result.emplace_back(tree_of(demands, trees.root, share));
    if (demands.kind == FlowKind::combine)
      add_combining(trees, tree);
    else
      add_spreading(trees, tree);
  }
  return result;
}

/// All-Reduce: trees into a root go on as trees out of it. Both are by root; what is left of the
/// first of each goes together, counted in parts so small that both are whole numbers of them.
std::vector<FlowTree> both_way_trees(const TreeDemands& demands, const Forest& into,
                                     const Forest& out_of) {
  std::vector<FlowTree> result;
  auto in = into.trees.begin(), out = out_of.trees.begin();
  int128 in_used = 0, out_used = 0;
  while (in != into.trees.end() && out != out_of.trees.end()) {
    const int128 in_roots = into.roots[in->root], out_roots = out_of.roots[out->root];
    const int128 in_left = in->count * out_roots - in_used,
                 out_left = out->count * in_roots - out_used, part = std::min(in_left, out_left);
    const double share = static_cast<double>(part) / static_cast<double>(in_roots * out_roots) /
                         static_cast<double>(demands.terminals.size());
    FlowTree& tree = result.emplace_back(tree_of(demands, in->root, share));
    add_combining(*in, tree);
    add_spreading(*out, tree);
    in_used = part == in_left ? 0 : in_used + part;
    out_used = part == out_left ? 0 : out_used + part;
    if (part == in_left) ++in;
    if (part == out_left) ++out;
  }
  return result;
}

struct Loads {
  double seconds = 0, traffic = 0;
};

Loads loads(const FlowProblem& problem, const TreeDemands& demands, std::span<const FlowTree> trees,
            std::span<const double> weights) {
  std::vector<double> bytes(problem.network.link_count());
  for (const FlowTree& tree : trees)
    for (const std::uint32_t link : tree.links)
      bytes[link] += tree.share * static_cast<double>(problem.demands[tree.demand].bytes);
  Loads loads;
  for (std::size_t link = 0; link < bytes.size(); ++link) {
    loads.seconds =
        std::max(loads.seconds, bytes[link] / static_cast<double>(demands.bandwidth[link]));
    loads.traffic += bytes[link] * (weights.empty() ? 1 : weights[link]);
  }
  return loads;
}

/// The forests of one problem: on its network and on the reversed one.
class Packing {
public:
  Packing(const FlowProblem& problem, const TreeDemands& demands, std::span<const double> weights,
          const WorkLimit& limit)
      : problem_(problem), demands_(demands), weights_(weights), limit_(limit) {}

  TreePacking run() && {
    if (demands_.kind == FlowKind::both)
      all_reduce();
    else
      one_way();
    if (!result_.solution.trees.empty())
      result_.solution.traffic =
          loads(problem_, demands_, result_.solution.trees, weights_).traffic;
    return std::move(result_);
  }

private:
  void one_way() {
    const Forest forest = grow(demands_.kind == FlowKind::combine, weights_);
    if (!usable(forest)) return;
    FluidSolution& solution = result_.solution;
    solution.seconds = solution.bound_seconds = forest.seconds;
    solution.status = Status::optimal;
    solution.trees = one_way_trees(demands_, forest);
  }

  /// Halves of little traffic may share links that others don't: time comes first.
  void all_reduce() {
    all_reduce_with(weights_);
    FluidSolution& solution = result_.solution;
    if (!saves_ || solution.status != Status::feasible) return;
    TreePacking saving = std::exchange(result_, {});
    all_reduce_with({});
    if (solution.trees.empty() || saving.solution.seconds <= solution.seconds * (1 + 1e-9))
      result_ = std::move(saving);
  }

  /// Reduce-Scatter and All-Gather at once. Each alone is optimal, and together they are no slower
  /// than one after the other.
  void all_reduce_with(std::span<const double> weights) {
    const Forest into = grow(true, weights);
    if (!usable(into)) return;
    const Forest out_of = grow(false, weights);
    if (!usable(out_of)) return;
    saves_ = into.saves || out_of.saves;
    FluidSolution& solution = result_.solution;
    solution.trees = both_way_trees(demands_, into, out_of);
    solution.seconds = loads(problem_, demands_, solution.trees, weights).seconds;
    solution.bound_seconds = std::max(limit_of_one(true), limit_of_one(false));
    solution.status = solution.seconds <= solution.bound_seconds * (1 + 1e-9) ? Status::optimal
                                                                              : Status::feasible;
  }

  [[nodiscard]] Forest grow(bool on_reversed, std::span<const double> weights) const {
    return spread_forest(on_reversed ? reversed(problem_.network) : problem_.network,
                         demands_.bandwidth, demands_.bytes, demands_.terminals, weights, limit_);
  }

  /// What one terminal's contribution to an All-Reduce needs to get to all others, or the sum to
  /// get to it: into and out of every set of some terminals, all bytes must pass once.
  [[nodiscard]] double limit_of_one(bool on_reversed) const {
    std::vector<std::int64_t> bytes(problem_.network.node_count());
    bytes[demands_.terminals.front()] = problem_.demands.front().bytes;
    return forest_limit(on_reversed ? reversed(problem_.network) : problem_.network,
                        demands_.bandwidth, bytes, demands_.terminals)
        .seconds;
  }

  /// Passes on why there are no trees.
  bool usable(const Forest& forest) {
    result_.obstacle = forest.obstacle;
    if (forest.timed_out) {
      result_.solution.status = Status::timed_out;
      if (demands_.kind != FlowKind::both) result_.solution.bound_seconds = forest.seconds;
    }
    std::int64_t& fewest = result_.trees_per_source = 0;
    for (const std::int64_t roots : forest.roots)
      if (roots > 0 && (fewest == 0 || roots < fewest)) fewest = roots;
    return result_.obstacle.empty() && !forest.timed_out;
  }

  const FlowProblem& problem_;
  const TreeDemands& demands_;
  std::span<const double> weights_;
  const WorkLimit& limit_;
  bool saves_ = false; ///< All-Reduce: some half gave up capacity
  TreePacking result_;
};

} // namespace

TreePacking pack_trees(const FlowProblem& problem, const WorkLimit& limit,
                       std::span<const double> weights) {
  const TreeDemands demands = tree_demands(problem);
  if (!demands.obstacle.empty()) {
    TreePacking none;
    none.obstacle = demands.obstacle;
    return none;
  }
  return Packing(problem, demands, weights, limit).run();
}

} // namespace tutti
