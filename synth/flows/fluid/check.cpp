// Replays each tree hop by hop on sets of nodes: who holds the data, who has sent it on. Every rule
// of problem.hpp and fluid.hpp is one comparison, and each fault is reported with its tree and hop;
// loads are then summed from the links as they stand.

#include "synth/flows/fluid/check.hpp"

#include "sim/limit_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

namespace {

/// A set of nodes that is emptied in O(1).
class NodeSet {
public:
  explicit NodeSet(std::size_t nodes) : stamps_(nodes) {}
  void clear() { ++now_; }
  void add(std::uint32_t node) { stamps_[node] = now_; }
  void remove(std::uint32_t node) { stamps_[node] = 0; }
  [[nodiscard]] bool has(std::uint32_t node) const { return stamps_[node] == now_; }

private:
  std::vector<std::uint64_t> stamps_;
  std::uint64_t now_ = 1;
};

/// Looks at one tree after another. Each look returns what is wrong, in words; empty: nothing.
class TreeCheck {
public:
  explicit TreeCheck(const FlowProblem& problem)
      : problem_(problem), network_(problem.network), held_(network_.node_count()),
        left_(network_.node_count()), sinks_(network_.node_count()),
        contributions_(network_.node_count()) {}

  [[nodiscard]] std::string fault(const FlowTree& tree) {
    if (std::string fault = broken_form(tree); !fault.empty()) return fault;
    const FlowDemand& demand = problem_.demands[tree.demand];
    if (std::string fault = wrong_ends(tree, demand); !fault.empty()) return fault;
    switch (demand.kind) {
    case FlowKind::paths: return fault_of_paths(tree, demand);
    case FlowKind::spread: return fault_of_spread(tree, problem_.sources(demand), demand);
    case FlowKind::combine: return fault_of_combine(tree, demand);
    case FlowKind::both: break;
    }
    if (std::string fault = fault_of_combine(tree, demand); !fault.empty()) return fault;
    return fault_of_spread(tree, whole_after_combining(tree, demand), demand);
  }

private:
  struct Ends {
    std::uint32_t from, to;
  };

  [[nodiscard]] Ends ends(const FlowTree& tree, std::size_t hop) const {
    const std::span<const std::uint32_t> links = tree.hop(hop);
    return {network_.links[links.front()].from, network_.links[links.back()].to};
  }

  /// Whether this is a list of walks in the network at all.
  [[nodiscard]] std::string broken_form(const FlowTree& tree) const {
    if (!(tree.share >= 0 && tree.share <= 1 + 1e-9))
      return fmt::format("its share is {}", tree.share);
    std::size_t begin = 0;
    for (std::size_t h = 0; h < tree.hop_count(); begin = tree.hop_end[h++]) {
      const std::size_t end = tree.hop_end[h];
      if (end <= begin || end > tree.links.size())
        return fmt::format("hop {} has the links from {} to {} of {}", h, begin, end,
                           tree.links.size());
      for (std::size_t i = begin; i < end; ++i) {
        if (tree.links[i] >= network_.link_count())
          return fmt::format("hop {} crosses link {}, but there are only {} links", h,
                             tree.links[i], network_.link_count());
        if (i > begin && network_.links[tree.links[i - 1]].to != network_.links[tree.links[i]].from)
          return fmt::format("hop {} breaks between its links {} and {}", h, tree.links[i - 1],
                             tree.links[i]);
      }
    }
    if (begin != tree.links.size())
      return fmt::format("{} of its links belong to no hop", tree.links.size() - begin);
    return {};
  }

  [[nodiscard]] std::string wrong_ends(const FlowTree& tree, const FlowDemand& demand) const {
    const bool any = demand.kind == FlowKind::both;
    const std::size_t combining = demand.kind == FlowKind::combine ? tree.hop_count() : 0;
    if (any ? tree.combining > tree.hop_count() : tree.combining != combining)
      return fmt::format("{} of its {} hops combine", tree.combining, tree.hop_count());
    if (demand.kind == FlowKind::paths) return {};
    if (tree.root >= network_.node_count())
      return fmt::format("its root is node {}, but there are only {} nodes", tree.root,
                         network_.node_count());
    if (demand.kind == FlowKind::spread &&
        !std::ranges::binary_search(problem_.sources(demand), tree.root))
      return fmt::format("its root, node {}, isn't a source", tree.root);
    if (demand.kind == FlowKind::combine && tree.root != problem_.sinks(demand).front())
      return fmt::format("its root is node {}, the sink is {}", tree.root,
                         problem_.sinks(demand).front());
    return {};
  }

  /// Every sink has data of its own, which goes there in one hop, so no ability is needed anywhere.
  [[nodiscard]] std::string fault_of_paths(const FlowTree& tree, const FlowDemand& demand) {
    held_.clear();
    for (const std::uint32_t node : problem_.sources(demand)) held_.add(node);
    const std::vector<std::uint32_t>& sinks = problem_.sets[demand.sinks];
    sinks_.clear(); // those that still wait
    for (const std::uint32_t node : sinks)
      if (!held_.has(node)) sinks_.add(node);
    for (std::size_t h = 0; h < tree.hop_count(); ++h) {
      const auto [from, to] = ends(tree, h);
      if (!held_.has(from))
        return fmt::format("hop {} starts at node {}, which isn't a source", h, from);
      if (!sinks_.has(to))
        return std::ranges::binary_search(sinks, to)
                   ? fmt::format("hop {} serves node {}, which is served already", h, to)
                   : fmt::format("hop {} ends at node {}, which isn't a sink", h, to);
      sinks_.remove(to);
    }
    for (const std::uint32_t node : sinks)
      if (sinks_.has(node)) return fmt::format("no hop serves node {}", node);
    return {};
  }

  /// The hops from `combining` on. A node that can't copy gives away what it has.
  [[nodiscard]] std::string fault_of_spread(const FlowTree& tree,
                                            std::span<const std::uint32_t> sources,
                                            const FlowDemand& demand) {
    held_.clear();
    left_.clear();
    for (const std::uint32_t node : sources) held_.add(node);
    for (std::size_t h = tree.combining; h < tree.hop_count(); ++h) {
      const auto [from, to] = ends(tree, h);
      if (!held_.has(from))
        return left_.has(from)
                   ? fmt::format("hop {} leaves node {}, which can't copy and has sent it on", h,
                                 from)
                   : fmt::format("hop {} leaves node {}, which nothing has reached", h, from);
      if (held_.has(to))
        return fmt::format("hop {} ends at node {}, which has the data already", h, to);
      if (!network_.copies[from]) held_.remove(from);
      left_.add(from);
      held_.add(to);
    }
    for (const std::uint32_t node : problem_.sinks(demand))
      if (!held_.has(node))
        return left_.has(node)
                   ? fmt::format("sink {} can't copy and doesn't keep what it has sent on", node)
                   : fmt::format("no hop reaches sink {}", node);
    return {};
  }

  /// The hops before `combining`. Whatever a node has moves on at once and for good, so that
  /// nothing is counted twice, and all of it ends where nothing is left.
  [[nodiscard]] std::string fault_of_combine(const FlowTree& tree, const FlowDemand& demand) {
    held_.clear();
    left_.clear();
    for (const std::uint32_t node : problem_.sources(demand)) held_.add(node);
    for (std::size_t h = 0; h < tree.combining; ++h) {
      const auto [from, to] = ends(tree, h);
      if (!held_.has(from)) return fmt::format("hop {} leaves node {}, which has nothing", h, from);
      if (left_.has(from))
        return fmt::format("hop {} leaves node {}, which has been left before", h, from);
      if (from == to) return fmt::format("hop {} ends where it starts, at node {}", h, from);
      if (left_.has(to))
        return fmt::format("hop {} ends at node {}, which has been left before", h, to);
      if (held_.has(to) && !network_.reduces[to])
        return fmt::format("hop {} ends at node {}, which can't reduce and has something already",
                           h, to);
      left_.add(from);
      held_.add(to);
    }
    if (!held_.has(tree.root)) return fmt::format("nothing reaches the root, node {}", tree.root);
    if (left_.has(tree.root)) return fmt::format("the root, node {}, is left", tree.root);
    for (const std::uint32_t node : problem_.sources(demand))
      if (node != tree.root && !left_.has(node))
        return fmt::format("source {} is never left", node);
    for (std::size_t h = 0; h < tree.combining; ++h)
      if (const std::uint32_t node = ends(tree, h).to; node != tree.root && !left_.has(node))
        return fmt::format("hop {} ends at node {}, which is never left", h, node);
    return {};
  }

  /// Who has all contributions once they are at the root: also who had them before and can copy.
  /// Pre: combines without fault.
  [[nodiscard]] std::vector<std::uint32_t> whole_after_combining(const FlowTree& tree,
                                                                 const FlowDemand& demand) {
    for (std::size_t h = 0; h < tree.combining; ++h) contributions_[ends(tree, h).to] = 0;
    const std::span<const std::uint32_t> sources = problem_.sources(demand);
    for (const std::uint32_t node : sources) contributions_[node] = 1;
    std::vector<std::uint32_t> whole{tree.root};
    for (std::size_t h = 0; h < tree.combining; ++h) {
      const auto [from, to] = ends(tree, h);
      contributions_[to] += contributions_[from];
      if (contributions_[from] == sources.size() && network_.copies[from]) whole.push_back(from);
    }
    return whole;
  }

  const FlowProblem& problem_;
  const FlowNetwork& network_;
  NodeSet held_, left_, sinks_;
  std::vector<std::size_t> contributions_; // [node]
};

std::string fault_of_trees(const FlowProblem& problem, std::span<const FlowTree> trees,
                           const WorkLimit& limit) {
  TreeCheck check(problem);
  LimitWatch watch(limit);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    watch.require();
    if (trees[t].demand >= problem.demands.size())
      return fmt::format("tree {}: there is no demand {} (there are {})", t, trees[t].demand,
                         problem.demands.size());
    if (const std::string fault = check.fault(trees[t]); !fault.empty())
      return fmt::format("demand {}, tree {}: {}", trees[t].demand, t, fault);
  }
  return {};
}

std::string fault_of_shares(const FlowProblem& problem, std::span<const FlowTree> trees) {
  std::vector<double> sum(problem.demands.size());
  std::vector<std::size_t> count(problem.demands.size());
  for (const FlowTree& tree : trees) {
    sum[tree.demand] += tree.share;
    ++count[tree.demand];
  }
  for (std::size_t d = 0; d < sum.size(); ++d)
    if (!(std::abs(sum[d] - 1) <= 1e-9))
      return fmt::format("demand {}: the shares of its {} trees add up to {}", d, count[d], sum[d]);
  return {};
}

/// Bytes over each link.
std::vector<double> link_loads(const FlowProblem& problem, std::span<const FlowTree> trees) {
  std::vector<double> loads(problem.network.link_count());
  for (const FlowTree& tree : trees) {
    const double bytes = tree.share * static_cast<double>(problem.demands[tree.demand].bytes);
    for (const std::uint32_t link : tree.links) loads[link] += bytes;
  }
  return loads;
}

} // namespace

FluidVerdict check_fluid(const FlowProblem& problem, std::span<const FlowTree> trees,
                         std::span<const double> weights, const WorkLimit& limit) {
  FluidVerdict verdict;
  verdict.fault = fault_of_trees(problem, trees, limit);
  if (verdict.fault.empty()) verdict.fault = fault_of_shares(problem, trees);
  if (!verdict.fault.empty()) return verdict;
  const std::vector<double> loads = link_loads(problem, trees);
  for (const FlowNetwork::Resource& resource : problem.network.resources) {
    double bytes = 0;
    for (const std::uint32_t link : resource.links) bytes += loads[link];
    verdict.seconds = std::max(verdict.seconds, bytes / static_cast<double>(resource.bandwidth));
  }
  for (std::size_t link = 0; link < loads.size(); ++link)
    verdict.traffic += loads[link] * (weights.empty() ? 1 : weights[link]);
  return verdict;
}

} // namespace tutti
