// Cheapest paths and trees over a network whose links have prices.
#pragma once

#include "sim/ids.hpp"
#include "sim/topology.hpp"
#include "synth/tacos/link_loads.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// What a tree's shape gives up for the sake of an early end.
struct TreeShape {
  double depth_weight = 0.5; ///< share of what it took to get to a node, for paths that start there
  double queue_weight = 0;   ///< share of the time in which the tree's other branches use a link
};

/// Keeps its memory from one search to the next. Ties are broken by node and link id.
class RouteSearch {
public:
  /// Changes the loads only while a tree grows.
  RouteSearch(const Topology& topology, LinkLoads& loads);

  /// The cheapest paths for a chunk of `size` from any of `sources` to each of `targets`; Dijkstra
  /// 1959, until the last target is reached. False where one is out of reach.
  bool search(std::span<const NodeId> sources, std::span<const NodeId> targets, Bytes size);
  /// Appends the links of the path to `target`, in order. Pre: the last search has reached it.
  void append_path(NodeId target, std::vector<LinkId>& links) const;

  /// Appends a tree that copies the chunk from `sources` to all targets, as paths in an order in
  /// which they can happen. Grows towards the cheapest target at a time (Takahashi, Matsuyama 1980,
  /// "An approximate solution for the Steiner problem in graphs"). Branches only where nodes can
  /// store and copy, and brings the chunk to no such node twice; from a node that can't copy it
  /// moves on, so that it may come by again. False where a target can't be reached.
  bool copy_tree(std::span<const NodeId> sources, std::span<const NodeId> targets, Bytes size,
                 const TreeShape& shape, std::vector<LinkId>& links);
  /// The same inverted: from all `contributors` to `root`, joining only where nodes can store and
  /// reduce. Each contribution arrives once. False also where too many paths need one node that
  /// keeps what passes, but can't reduce.
  bool reduction_tree(std::span<const NodeId> contributors, NodeId root, Bytes size,
                      const TreeShape& shape, std::vector<LinkId>& links);

  /// Links looked at by all searches so far: the measure of work.
  [[nodiscard]] std::uint64_t work() const { return work_; }

private:
  enum class Direction : std::uint8_t { forward, backward };
  enum class Place : std::uint8_t { outside, tree, used }; // used: relays, and bars other paths

  void clear();
  void label(NodeId node, double cost, LinkId link);
  void relax(NodeId node, Direction direction, Bytes size);
  [[nodiscard]] NodeId pop();
  [[nodiscard]] bool can_branch(NodeId node, Direction direction) const;
  bool tree(std::span<const NodeId> roots, std::span<const NodeId> targets, Bytes size,
            Direction direction, const TreeShape& shape, std::vector<LinkId>& links);
  void join(NodeId node, double cost);
  [[nodiscard]] bool attach(NodeId target, Bytes size, Direction direction, const TreeShape& shape,
                            std::vector<LinkId>& links);

  const Topology& topology_;
  LinkLoads& loads_;
  std::vector<double> cost_;         // by node
  std::vector<LinkId> by_;           // by node: the link of its cheapest path
  std::vector<bool> settled_;        // by node
  std::vector<std::uint8_t> wanted_; // by node: is a target not yet reached
  std::vector<Place> place_;         // by node
  std::vector<double> entry_cost_;   // by node of the tree: to start from it
  std::vector<double> queue_cost_;   // by link: for the tree's own crossings before
  std::vector<std::pair<double, std::uint32_t>> heap_; // cost and node; some out of date
  std::vector<LinkId> branch_;
  std::uint64_t work_ = 0;
};

} // namespace tutti
