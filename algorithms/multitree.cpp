// MultiTree: a spanning tree from every NPU, all grown together in time steps. In a step every link
// can be taken once, and the trees take turns: in its turn a tree takes one path from a member that
// it had before the step (the first to have joined that still has one) to the nearest NPU outside,
// until no tree can take any more. So the trees avoid each other, and steps say who sends when.
// Links are all alike: bandwidth and latency aren't looked at. All-Gather sends every shard down
// its owner's tree, Reduce-Scatter is its inversion (grown on the reversed topology),
// All-Reduce one after the other; a shard is gathered once it is reduced and its links' turn has
// come. Broadcast and Reduce use the one tree of their root.
// A path to the nearest NPU may cross switches, or NPUs outside the group; it takes all its links.
// Source: Huang et al. 2021 (ISCA, "Communication Algorithm-Architecture Co-Design for Distributed
// Deep Learning"), the tree construction for direct and indirect networks.
// Cost: (n - 1) sends of a shard per tree; steps at least (n - 1) / degree, growth O(n^2 * links)
// per step where paths are single links.

#include "algorithms/list.hpp"
#include "sim/transforms.hpp"
#include "sim/work_limit.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

struct GrowingTree {
  std::uint32_t block = 0;      ///< which shard it carries
  std::vector<NodeId> members;  ///< in the order in which they joined; first the root
  std::vector<bool> has;        ///< by node
  std::size_t senders = 0;      ///< members that it had when the step began
  std::size_t first_sender = 0; ///< those before have no path left in this step
  std::size_t first_open = 0;   ///< those before have only members around them
};

class Growth {
public:
  Growth(const Topology& topology, const CollectivePart& part, std::span<const NodeId> roots,
         const WorkLimit& limit)
      : topology_(topology), part_(part), limit_(limit), is_member_(topology.node_count()),
        used_(topology.link_count()), reached_by_(topology.node_count()),
        schedule_(topology.link_count()) {
    for (const NodeId member : part.group) is_member_[member.value] = true;
    for (const NodeId root : roots) {
      GrowingTree& tree = trees_.emplace_back();
      tree.block = static_cast<std::uint32_t>(trees_.size() - 1);
      tree.has.resize(topology.node_count());
      join(tree, root);
    }
  }

  /// Steps until all trees span. Pre: every root reaches every member.
  Schedule run() && {
    while (std::ranges::any_of(trees_, [&](const GrowingTree& tree) { return !spans(tree); })) {
      [[maybe_unused]] const std::size_t before = schedule_.size();
      step();
      assert(schedule_.size() > before); // with all links free the first tree can grow
    }
    return std::move(schedule_);
  }

private:
  [[nodiscard]] bool spans(const GrowingTree& tree) const {
    return tree.members.size() == part_.group.size();
  }

  static void join(GrowingTree& tree, NodeId member) {
    tree.members.push_back(member);
    tree.has[member.value] = true;
  }

  [[nodiscard]] bool surrounded(const GrowingTree& tree, NodeId member) const {
    return std::ranges::all_of(topology_.out_links(member), [&](LinkId link) {
      return tree.has[topology_.link(link).to.value];
    });
  }

  void step() {
    std::fill(used_.begin(), used_.end(), false);
    for (GrowingTree& tree : trees_) {
      tree.senders = tree.members.size();
      while (tree.first_open < tree.senders && surrounded(tree, tree.members[tree.first_open]))
        ++tree.first_open;
      tree.first_sender = tree.first_open;
    }
    for (bool grown = true; grown;) {
      grown = false;
      for (GrowingTree& tree : trees_) {
        limit_.require();
        grown = (!spans(tree) && take_turn(tree)) || grown;
      }
    }
  }

  /// False where the tree can't grow in this step any more. (A sender without a path stays without:
  /// links only get taken, and the tree only grows.)
  bool take_turn(GrowingTree& tree) {
    for (; tree.first_sender < tree.senders; ++tree.first_sender) {
      const NodeId sender = tree.members[tree.first_sender];
      const std::optional<NodeId> next = nearest_outside(tree, sender);
      if (!next) continue;
      take_path(tree);
      join(tree, *next);
      return true;
    }
    return false;
  }

  /// Over free links, and nodes that aren't members; leaves the path in reached_by_.
  std::optional<NodeId> nearest_outside(const GrowingTree& tree, NodeId sender) {
    std::optional<NodeId> found;
    queue_.assign(1, sender);
    for (std::size_t i = 0; i < queue_.size() && !found; ++i)
      for (const LinkId link : topology_.out_links(queue_[i])) {
        const NodeId to = topology_.link(link).to;
        if (used_[link.value] || tree.has[to.value] || reached_by_[to.value].valid()) continue;
        reached_by_[to.value] = link;
        queue_.push_back(to);
        if (!is_member_[to.value]) continue;
        found = to;
        break;
      }
    if (found) {
      path_.clear();
      for (NodeId at = *found; at != sender; at = topology_.link(path_.back()).from)
        path_.push_back(reached_by_[at.value]);
      std::ranges::reverse(path_);
    }
    for (const NodeId node : queue_) reached_by_[node.value] = LinkId{};
    return found;
  }

  void take_path(const GrowingTree& tree) {
    for (const LinkId link : path_) used_[link.value] = true;
    const PathId path = schedule_.paths().intern(path_);
    const std::uint32_t first = part_.first.value + tree.block * part_.chunks_per_shard;
    for (std::uint32_t k = 0; k < part_.chunks_per_shard; ++k)
      schedule_.push({ChunkId{first + k}, path, Op::copy, false});
  }

  const Topology& topology_;
  const CollectivePart& part_;
  const WorkLimit& limit_;
  std::vector<bool> is_member_;
  std::vector<bool> used_; ///< by link, in this step
  std::vector<LinkId> reached_by_, path_;
  std::vector<NodeId> queue_;
  std::vector<GrowingTree> trees_;
  Schedule schedule_;
};

} // namespace

Outcome multitree(const Topology& topology, const Collective& collective,
                  const SynthesisOptions& options) {
  const WorkLimit limit(options);
  const CollectivePart& part = collective.parts.front();
  const bool rooted = has_root(part.kind);
  const std::vector<NodeId> roots =
      rooted ? std::vector<NodeId>{part.group[part.root]} : part.group;
  const auto copies = [&] { return Growth(topology, part, roots, limit).run(); };
  const auto reductions = [&] {
    return inverted(topology, Growth(reversed(topology), part, roots, limit).run(), Op::reduce);
  };
  Outcome outcome;
  outcome.status = Status::feasible;
  if (!is_reducing(part.kind))
    outcome.schedule = copies();
  else if (part.kind == CollectiveKind::all_reduce)
    outcome.schedule = concatenated(reductions(), copies());
  else
    outcome.schedule = reductions();
  return outcome;
}

} // namespace tutti
