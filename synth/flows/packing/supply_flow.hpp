// Maximum flows to one node from all that have something to give, where they may be many and small:
// the tests of tree packing. Dinic's algorithm (1970), searched from the sink and no
// farther than needed, so that what lies close by is found without a look at the rest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A directed graph that grows. Arcs between the same nodes may be several.
struct ArcGraph {
  struct Arc {
    std::uint32_t from, to;
  };
  std::vector<Arc> arcs;
  std::vector<std::vector<std::uint32_t>> out, in; ///< [node]: arcs, in the order they were added

  explicit ArcGraph(std::uint32_t nodes = 0) : out(nodes), in(nodes) {}
  [[nodiscard]] std::uint32_t node_count() const { return static_cast<std::uint32_t>(out.size()); }
  std::uint32_t add_node();
  std::uint32_t add_arc(std::uint32_t from, std::uint32_t to);
  /// The one added last. Its number is free again.
  void remove_last_arc();
  /// The one added last, with its arcs. Pre: no arcs were added since but its own.
  void remove_last_node();
  /// Takes the arcs of a node out of all lists; they keep their numbers.
  void isolate(std::uint32_t node);
};

/// Works on one graph, which may grow meanwhile; keeps its memory from call to call.
class SupplyFlow {
public:
  explicit SupplyFlow(const ArcGraph& graph) : graph_(&graph) {}

  /// Sends as much as can be sent to `sink`, but no more than `goal`, and returns it. What it takes
  /// from `supply` [node] and adds to `flow` [arc] (0 <= flow <= capacity) stands there afterwards;
  /// a supply of the sink itself counts. Cost: O(nodes^2 * arcs), in practice some looks at every
  /// arc between the sink and the nearest supplies that suffice.
  std::int64_t send(std::span<const std::int64_t> capacity, std::span<std::int64_t> flow,
                    std::span<std::int64_t> supply, std::uint32_t sink, std::int64_t goal);

  struct Change {
    std::uint32_t arc;
    std::int64_t amount;
  };
  /// How the last call changed flows, some of them several times.
  [[nodiscard]] std::span<const Change> changes() const { return changes_; }

  /// After a call that fell short of its goal: the nodes from which more could still be sent to the
  /// sink, none of which has any supply left. All arcs into them are full.
  [[nodiscard]] std::vector<bool> sink_side() const;

private:
  bool search(std::span<const std::int64_t> capacity, std::span<const std::int64_t> flow,
              std::span<const std::int64_t> supply, std::uint32_t sink, std::int64_t enough);
  std::int64_t pull(std::uint32_t node, std::int64_t most);
  [[nodiscard]] bool reached(std::uint32_t node) const { return seen_[node] == search_; }

  const ArcGraph* graph_;
  std::span<const std::int64_t> capacity_; ///< of the call that is going on, as the next two
  std::span<std::int64_t> flow_, supply_;
  std::vector<Change> changes_;
  std::uint64_t search_ = 0;         ///< number of the last search
  std::vector<std::uint64_t> seen_;  ///< [node]: the last search that reached it; below: in that
  std::vector<std::uint32_t> level_; ///< arcs to the sink
  std::vector<std::uint32_t> next_;  ///< arc to look at: of `in`, then of `out`
  std::vector<std::uint32_t> queue_;
};

} // namespace tutti
