// One tree after another, each grown edge by edge such that what is left still has a packing of the
// weight that is left: every set of vertices without the root must keep as much capacity into it.
// An edge from u (in the tree) to v (outside) may be added if, in the capacities that the tree
// leaves, every set with v but neither u nor the root still has all of the rate: such a set, if it
// has vertices of the tree, has paid for this tree already. One maximum flow tells. An edge that is
// refused once is refused for good, as capacities only shrink while a tree grows.
// Source: Lovasz 1976 (JCTB 21, "On two minimax theorems in graph"), with weights.
// With weight 1 growing never fails. Larger weights are tried first, by halves, and a tree that was
// grown gets the most that the sets allow (Newton's method: the set that allows least for the
// present weight gives the next one).

#include "algorithms/arborescence_packing.hpp"

#define LEMON_ONLY_TEMPLATES // nothing of its library is linked
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

namespace tutti {

namespace {

using Capacities = std::vector<std::int64_t>; // by edge

/// Maximum flows from the root, or from the root and another vertex.
class RootFlows {
public:
  RootFlows(std::uint32_t vertices, std::span<const PackingEdge> edges, std::uint32_t root,
            const WorkLimit& limit)
      : limit_(limit), edges_(edges), root_(root), capacity_(graph_, 0) {
    for (std::uint32_t v = 0; v < vertices; ++v) graph_.addNode();
    for (const PackingEdge& edge : edges) {
      arcs_.push_back(graph_.addArc(node(edge.from), node(edge.to)));
      unlimited_ += edge.capacity;
    }
    for (std::uint32_t v = 0; v < vertices; ++v)
      joint_.push_back(graph_.addArc(node(root), node(v)));
  }

  void set(const Capacities& capacities) {
    for (std::size_t e = 0; e < arcs_.size(); ++e) set(e, capacities[e]);
  }
  void set(std::size_t edge, std::int64_t capacity) { capacity_[arcs_[edge]] = capacity; }

  /// The least capacity into a set with `to`, but neither the root nor `beside`.
  [[nodiscard]] std::int64_t least_cut(std::uint32_t to, std::uint32_t beside) {
    limit_.require();
    capacity_[joint_[beside]] = unlimited_;
    Flow flow(graph_, capacity_, node(root_), node(to));
    flow.runMinCut();
    capacity_[joint_[beside]] = 0;
    return flow.flowValue();
  }
  [[nodiscard]] std::int64_t least_cut(std::uint32_t to) { return least_cut(to, root_); }

  /// The edges into such a set.
  [[nodiscard]] std::vector<std::uint32_t> cut_edges(std::uint32_t to) {
    Flow flow(graph_, capacity_, node(root_), node(to));
    flow.runMinCut();
    std::vector<std::uint32_t> crossing;
    for (std::uint32_t e = 0; e < edges_.size(); ++e)
      if (flow.minCut(node(edges_[e].from)) && !flow.minCut(node(edges_[e].to)))
        crossing.push_back(e);
    return crossing;
  }

private:
  using Graph = lemon::SmartDigraph;
  using Flow = lemon::Preflow<Graph, Graph::ArcMap<std::int64_t>>;
  static Graph::Node node(std::uint32_t v) { return Graph::nodeFromId(static_cast<int>(v)); }

  const WorkLimit& limit_;
  std::span<const PackingEdge> edges_;
  std::uint32_t root_;
  std::int64_t unlimited_ = 1;
  Graph graph_;
  Graph::ArcMap<std::int64_t> capacity_;
  std::vector<Graph::Arc> arcs_, joint_; // by edge; from the root to each vertex
};

class Packer {
public:
  Packer(std::uint32_t vertices, std::span<const PackingEdge> edges, std::uint32_t root,
         const WorkLimit& limit)
      : vertices_(vertices), edges_(edges), root_(root), flows_(vertices, edges, root, limit),
        out_(vertices) {
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
      left_.push_back(edges[e].capacity);
      out_[edges[e].from].push_back(e);
    }
  }

  ArborescencePacking run() {
    ArborescencePacking packing;
    flows_.set(left_);
    rate_left_ = INT64_MAX;
    for (std::uint32_t v = 0; v < vertices_; ++v)
      if (v != root_) rate_left_ = std::min(rate_left_, flows_.least_cut(v));
    packing.rate = rate_left_;
    std::int64_t weight = rate_left_;
    while (rate_left_ > packing.rate / 100) {
      weight = std::min(weight, rate_left_);
      std::optional<Arborescence> tree = grown(weight);
      if (!tree) {
        assert(weight > 1);
        weight /= 2;
        continue;
      }
      weight = most_weight(*tree);
      tree->weight = weight;
      rate_left_ -= weight;
      for (std::uint32_t v = 0; v < vertices_; ++v)
        if (v != root_) left_[tree->edge_into[v]] -= weight;
      packing.trees.push_back(*std::move(tree));
    }
    return packing;
  }

private:
  /// A tree that can have this weight, breadth-first; none where the edges are refused.
  std::optional<Arborescence> grown(std::int64_t weight) {
    Arborescence tree{weight, std::vector<std::uint32_t>(vertices_, Arborescence::no_edge)};
    std::vector<std::uint32_t> reached{root_};
    flows_.set(left_);
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (const std::uint32_t e : out_[reached[i]]) {
        const std::uint32_t from = reached[i], to = edges_[e].to;
        if (to == root_ || tree.edge_into[to] != Arborescence::no_edge || left_[e] < weight ||
            flows_.least_cut(to, from) < rate_left_)
          continue;
        tree.edge_into[to] = e;
        flows_.set(e, left_[e] - weight);
        reached.push_back(to);
      }
    if (reached.size() < vertices_) return std::nullopt;
    return tree;
  }

  /// Pre: the tree can have its weight.
  std::int64_t most_weight(const Arborescence& tree) {
    std::int64_t weight = rate_left_;
    std::vector<std::int64_t> uses(edges_.size());
    for (std::uint32_t v = 0; v < vertices_; ++v)
      if (v != root_) {
        uses[tree.edge_into[v]] = 1;
        weight = std::min(weight, left_[tree.edge_into[v]]);
      }
    const auto take = [&] {
      for (std::size_t e = 0; e < edges_.size(); ++e) flows_.set(e, left_[e] - weight * uses[e]);
    };
    take();
    for (std::uint32_t v = 0; v < vertices_; ++v) {
      if (v == root_) continue;
      while (weight > tree.weight && flows_.least_cut(v) < rate_left_ - weight) {
        // A set that the tree enters several times: capacity - times * weight = rate - weight.
        std::int64_t capacity = 0, times = 0;
        for (const std::uint32_t e : flows_.cut_edges(v)) {
          capacity += left_[e];
          times += uses[e];
        }
        assert(times > 1);
        weight = std::max(tree.weight, (capacity - rate_left_) / (times - 1));
        take();
      }
    }
    return weight;
  }

  std::uint32_t vertices_;
  std::span<const PackingEdge> edges_;
  std::uint32_t root_;
  RootFlows flows_;
  std::vector<std::vector<std::uint32_t>> out_; // by vertex
  Capacities left_;
  std::int64_t rate_left_ = 0;
};

} // namespace

ArborescencePacking pack_arborescences(std::uint32_t vertices, std::span<const PackingEdge> edges,
                                       std::uint32_t root, const WorkLimit& limit) {
  std::int64_t unit = 0; // so that equal links are whole units, and halves of weights few
  for (const PackingEdge& edge : edges) unit = std::gcd(unit, edge.capacity);
  std::vector<PackingEdge> in_units(edges.begin(), edges.end());
  for (PackingEdge& edge : in_units) edge.capacity /= unit;
  ArborescencePacking packing = Packer(vertices, in_units, root, limit).run();
  packing.rate *= unit;
  for (Arborescence& tree : packing.trees) tree.weight *= unit;
  return packing;
}

} // namespace tutti
