// Edmonds' proof as an algorithm: grow one tree after another by any arc that leaves enough for all
// other trees, which a maximum flow to the arc's head decides. Equal trees grow as one batch, which
// is divided where an arc can only take some of them. Each failed test yields a tight set; these
// rule out later arcs without a flow.

#include "synth/flows/packing/spanning_trees.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tutti {

namespace {

/// Sets of nodes which no more arcs can enter than there are trees that have none of their nodes
/// yet: those must use them. What once is tight stays so while trees grow.
class TightSets {
public:
  explicit TightSets(std::uint32_t nodes) : of_(nodes) {}

  void add(std::vector<bool> set) {
    const auto number = static_cast<std::uint32_t>(sets_.size());
    for (std::uint32_t node = 0; node < of_.size(); ++node)
      if (set[node]) of_[node].push_back(number);
    sets_.push_back(std::move(set));
  }

  /// Is the arc one into a set of which the trees have a node?
  [[nodiscard]] bool bar(ArcGraph::Arc arc, const std::vector<std::uint32_t>& has) const {
    return std::ranges::any_of(of_[arc.to], [&](std::uint32_t number) {
      const std::vector<bool>& set = sets_[number];
      return !set[arc.from] &&
             std::ranges::any_of(has, [&](std::uint32_t node) { return set[node]; });
    });
  }

private:
  std::vector<std::vector<bool>> sets_;
  std::vector<std::vector<std::uint32_t>> of_; ///< [node]: sets with it
};

/// Equal trees that aren't complete yet.
struct Batch {
  SpanningTrees trees;
  std::vector<std::uint32_t> nodes; ///< in the order they joined
  std::vector<bool> has;            ///< [node]
  /// What is tried next: the arc at `next` out of nodes[at]. None before can be added ever again:
  /// what forbids an arc once forbids it while trees grow.
  std::size_t at = 0, next = 0;
  /// The first time around, arcs that are too small for all of the trees are left out.
  bool together = true;
};

class TreeGrowth {
public:
  TreeGrowth(const ArcGraph& graph, std::span<const std::int64_t> capacity,
             std::span<const std::int64_t> roots, std::span<const std::uint32_t> terminals,
             const WorkLimit& limit)
      : graph_(graph), out_(graph.out), capacity_(capacity.begin(), capacity.end()),
        flow_(capacity.size()), roots_(roots), waiting_(roots.begin(), roots.end()),
        wanted_(std::reduce(roots.begin(), roots.end(), std::int64_t{0})), terminals_(terminals),
        limit_(limit), flows_(graph_), tight_(graph.node_count()) {}

  std::optional<std::vector<SpanningTrees>> run() {
    for (const std::uint32_t root : terminals_) {
      if (roots_[root] == 0) continue;
      waiting_[root] = 0;
      push(first_batch(root));
      while (!unfinished_.empty())
        if (limit_.reached() || !finish(pop())) return std::nullopt;
    }
    return std::move(done_);
  }

private:
  [[nodiscard]] Batch first_batch(std::uint32_t root) const {
    Batch batch{{root, roots_[root], {}}, {root}, std::vector<bool>(roots_.size()), 0, 0, true};
    batch.has[root] = true;
    return batch;
  }

  /// Unfinished trees want data from where they are: a node with their number as its supply and an
  /// unlimited arc to each node that they have.
  void push(Batch batch) {
    const std::uint32_t node = graph_.add_node();
    waiting_.push_back(batch.trees.count);
    for (const std::uint32_t to : batch.nodes) {
      graph_.add_arc(node, to);
      capacity_.push_back(wanted_);
      flow_.push_back(0);
    }
    unfinished_.push_back(std::move(batch));
  }

  Batch pop() {
    Batch batch = std::move(unfinished_.back());
    unfinished_.pop_back();
    graph_.remove_last_node();
    waiting_.pop_back();
    capacity_.resize(graph_.arcs.size());
    flow_.resize(graph_.arcs.size());
    return batch;
  }

  /// Grows it to all terminals. Where an arc has capacity for some of the trees only, the others
  /// wait.
  /// False where the limit was reached.
  bool finish(Batch batch) {
    wanted_ -= batch.trees.count; // by all other trees
    while (batch.nodes.size() < terminals_.size()) {
      if (batch.at == batch.nodes.size()) {
        if (!batch.together) throw std::logic_error("there are no such trees");
        batch.together = false;
        batch.at = 0;
      }
      const std::uint32_t from = batch.nodes[batch.at];
      if (batch.next == out_[from].size()) {
        ++batch.at;
        batch.next = 0;
        if (limit_.reached()) return false;
        continue;
      }
      const std::uint32_t arc = out_[from][batch.next++];
      if (batch.has[graph_.arcs[arc].to]) continue;
      if (batch.together && capacity_[arc] < batch.trees.count) continue;
      if (tight_.bar(graph_.arcs[arc], batch.nodes)) continue;
      const std::int64_t count = spare(arc, batch.trees.count);
      if (count == 0) continue;
      if (count < batch.trees.count) set_aside(batch, batch.trees.count - count);
      grow(batch, arc);
    }
    done_.push_back(std::move(batch.trees));
    return true;
  }

  /// How many of the trees can have this arc: what is left must still be enough for all others.
  std::int64_t spare(std::uint32_t arc, std::int64_t count) {
    const std::int64_t most = std::min(count, capacity_[arc]);
    if (most == 0) return 0;
    const auto [from, to] = graph_.arcs[arc];
    supply_.assign(waiting_.begin(), waiting_.end());
    supply_[from] = wanted_ + most; // unlimited
    const std::int64_t sent = flows_.send(capacity_, flow_, supply_, to, wanted_ + most);
    for (const SupplyFlow::Change& change : flows_.changes()) flow_[change.arc] = 0;
    if (sent < wanted_ + most) { // tight when the trees have taken what they can
      std::vector<bool> set = flows_.sink_side();
      set.resize(roots_.size());
      tight_.add(std::move(set));
    }
    return sent - wanted_;
  }

  void set_aside(Batch& batch, std::int64_t count) {
    Batch others = batch;
    others.trees.count = count;
    batch.trees.count -= count;
    wanted_ += count;
    push(std::move(others));
  }

  void grow(Batch& batch, std::uint32_t arc) {
    const std::uint32_t to = graph_.arcs[arc].to;
    capacity_[arc] -= batch.trees.count;
    batch.trees.arcs.push_back(arc);
    batch.nodes.push_back(to);
    batch.has[to] = true;
  }

  ArcGraph graph_; ///< with a node for each of `unfinished_` at the end
  const std::vector<std::vector<std::uint32_t>>& out_; ///< without those
  std::vector<std::int64_t> capacity_, flow_;          ///< [arc]; no flow between tests
  std::span<const std::int64_t> roots_;
  std::vector<std::int64_t> waiting_; ///< [node]: trees that must still come from there
  std::int64_t wanted_;               ///< all of these
  std::span<const std::uint32_t> terminals_;
  const WorkLimit& limit_;
  SupplyFlow flows_;
  std::vector<std::int64_t> supply_;
  TightSets tight_;
  std::vector<Batch> unfinished_;
  std::vector<SpanningTrees> done_;
};

} // namespace

std::optional<std::vector<SpanningTrees>>
pack_spanning_trees(const ArcGraph& graph, std::span<const std::int64_t> capacity,
                    std::span<const std::int64_t> roots, std::span<const std::uint32_t> terminals,
                    const WorkLimit& limit) {
  return TreeGrowth(graph, capacity, roots, terminals, limit).run();
}

} // namespace tutti
