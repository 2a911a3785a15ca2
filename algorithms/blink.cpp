// Blink: a packing of spanning trees from one root, as much as the network can carry from there,
// each with a share of the chunks. Broadcast sends down the trees, Reduce up a packing of the
// reversed links, All-Reduce up and then down, chunk by chunk. The root is the collective's, in
// All-Reduce the first member.
// Source: Wang et al. 2020 (MLSys, "Blink: Fast and Generic Collectives for Distributed ML"). Its
// packing is by multiplicative weights, then few trees of those by an integer program; here few
// trees that reach the same optimum to 1 %, see arborescence_packing.hpp. Where paths between NPUs
// share links behind switches, each has its part (member_paths), so the rate may be less there.
// Cost: (n - 1) sends per chunk and direction; synthesis see arborescence_packing.hpp.

#include "algorithms/arborescence_packing.hpp"
#include "algorithms/list.hpp"
#include "algorithms/tree_pipeline.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// From one member to another, over links and nodes outside the group (switches, other NPUs).
struct MemberPath {
  std::uint32_t from = 0, to = 0; ///< indices into the group
  std::vector<LinkId> links;
  std::int64_t capacity = 0; ///< bytes per second, at least 1
};

class PathSearch {
public:
  PathSearch(const Topology& topology, std::span<const NodeId> group)
      : topology_(topology), index_(topology.node_count(), UINT32_MAX),
        reached_by_(topology.node_count()) {
    for (std::uint32_t i = 0; i < group.size(); ++i) index_[group[i].value] = i;
  }

  /// Appends the paths that begin with `first`, breadth-first.
  void append(LinkId first, std::vector<MemberPath>& paths) {
    const NodeId from = topology_.link(first).from;
    std::vector<NodeId> queue{topology_.link(first).to};
    reached_by_[queue.front().value] = first;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NodeId node = queue[i];
      if (index_[node.value] != UINT32_MAX) {
        paths.push_back({index_[from.value], index_[node.value], links_to(node, first), 0});
        continue;
      }
      for (const LinkId link : topology_.out_links(node)) {
        const NodeId to = topology_.link(link).to;
        if (to == from || reached_by_[to.value].valid()) continue;
        reached_by_[to.value] = link;
        queue.push_back(to);
      }
    }
    for (const NodeId node : queue) reached_by_[node.value] = LinkId{};
  }

private:
  [[nodiscard]] std::vector<LinkId> links_to(NodeId node, LinkId first) const {
    std::vector<LinkId> links{reached_by_[node.value]};
    while (links.back() != first)
      links.push_back(reached_by_[topology_.link(links.back()).from.value]);
    std::ranges::reverse(links);
    return links;
  }

  const Topology& topology_;
  std::vector<std::uint32_t> index_; // by node
  std::vector<LinkId> reached_by_;
};

void divide_bandwidth(const Topology& topology, std::vector<MemberPath>& paths) {
  std::vector<std::int64_t> on_link(topology.link_count()), on_group(topology.groups().size());
  for (const MemberPath& path : paths)
    for (const LinkId link : path.links) {
      ++on_link[link.value];
      for (const std::uint32_t group : topology.groups_of(link)) ++on_group[group];
    }
  for (MemberPath& path : paths) {
    std::int64_t capacity = INT64_MAX;
    for (const LinkId link : path.links) {
      capacity =
          std::min(capacity, topology.link(link).bandwidth.bytes_per_second / on_link[link.value]);
      for (const std::uint32_t group : topology.groups_of(link))
        capacity = std::min(capacity,
                            topology.groups()[group].bandwidth.bytes_per_second / on_group[group]);
    }
    path.capacity = std::max<std::int64_t>(capacity, 1);
  }
}

/// For each link out of a member, the shortest path that begins with it to each member that it
/// leads to without passing another. Where several paths share a link or a group of links, they
/// divide its bandwidth evenly. A network of direct links between members: each link is a path.
/// Cost: O(links) per link out of a member.
std::vector<MemberPath> member_paths(const Topology& topology, std::span<const NodeId> group) {
  PathSearch search(topology, group);
  std::vector<MemberPath> paths;
  for (const NodeId member : group)
    for (const LinkId link : topology.out_links(member)) search.append(link, paths);
  divide_bandwidth(topology, paths);
  return paths;
}

/// The chunks of each tree, by weight: in turn to the tree that is farthest behind its share.
std::vector<std::vector<ChunkId>> shared_out(const CollectivePart& part,
                                             const std::vector<Arborescence>& trees) {
  std::vector<std::vector<ChunkId>> chunks(trees.size());
  for (std::uint32_t c = 0; c < part.chunk_count; ++c) {
    std::size_t next = 0;
    const auto need = [&](std::size_t t) { // the time at which it will have sent one more
      return static_cast<double>(chunks[t].size() + 1) / static_cast<double>(trees[t].weight);
    };
    for (std::size_t t = 1; t < trees.size(); ++t)
      if (need(t) < need(next)) next = t;
    chunks[next].push_back(ChunkId{part.first.value + c});
  }
  return chunks;
}

struct Packed {
  std::vector<TreePipeline> pipelines;
  double rate = 0; ///< bytes per second
};

/// Down from the root, or up to it.
Packed packed(const Topology& topology, Op op, Rank root, RoutedSchedule& schedule,
              const WorkLimit& limit) {
  const CollectivePart& part = schedule.part();
  const std::vector<MemberPath> paths =
      member_paths(op == Op::copy ? topology : reversed(topology), part.group);
  std::vector<PackingEdge> edges;
  for (const MemberPath& path : paths) edges.push_back({path.from, path.to, path.capacity});
  const ArborescencePacking packing = pack_arborescences(schedule.size(), edges, root, limit);
  const std::vector<std::vector<ChunkId>> chunks = shared_out(part, packing.trees);
  Packed result{{}, static_cast<double>(packing.rate)};
  for (std::size_t t = 0; t < packing.trees.size(); ++t) {
    std::vector<Rank> parent(schedule.size(), RankTree::no_parent);
    TreePipeline pipeline{{}, op, std::vector<PathId>(schedule.size()), chunks[t]};
    for (Rank rank = 0; rank < schedule.size(); ++rank) {
      if (rank == root) continue;
      const MemberPath& path = paths[packing.trees[t].edge_into[rank]];
      parent[rank] = path.from;
      std::vector<LinkId> links = path.links;
      if (op == Op::reduce) std::ranges::reverse(links);
      pipeline.path[rank] = schedule.paths().intern(links);
    }
    pipeline.tree = rank_tree(std::move(parent));
    result.pipelines.push_back(std::move(pipeline));
  }
  return result;
}

/// Chunks come down no sooner than they are up.
void delay(std::vector<TreePipeline>& down, const std::vector<TreePipeline>& up,
           const CollectivePart& part) {
  std::vector<std::uint32_t> complete(part.chunk_count); // step from which it may go down
  for (const TreePipeline& tree : up)
    for (std::uint32_t j = 0; j < tree.chunks.size(); ++j)
      complete[tree.chunks[j].value - part.first.value] = j + tree.tree.height[tree.tree.root];
  for (TreePipeline& tree : down)
    for (std::uint32_t j = 0; j < tree.chunks.size(); ++j) {
      const std::uint32_t ready = complete[tree.chunks[j].value - part.first.value];
      tree.first_step = std::max(tree.first_step, ready - std::min(ready, j));
    }
}

} // namespace

Outcome blink(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  const WorkLimit limit(options);
  RoutedSchedule schedule(topology, collective, options);
  const CollectivePart& part = schedule.part();
  Packed up, down;
  if (part.kind != CollectiveKind::broadcast)
    up = packed(topology, Op::reduce, part.root, schedule, limit);
  if (part.kind != CollectiveKind::reduce)
    down = packed(topology, Op::copy, part.root, schedule, limit);
  delay(down.pipelines, up.pipelines, part);

  std::vector<TreePipeline> pipelines = up.pipelines;
  pipelines.insert(pipelines.end(), down.pipelines.begin(), down.pipelines.end());
  list_step_by_step(pipelines, schedule);
  Outcome outcome = std::move(schedule).outcome();
  for (const auto& [name, packed] : {std::pair{"reduce", &up}, std::pair{"broadcast", &down}})
    if (!packed->pipelines.empty()) {
      outcome.facts[std::string(name) + "_trees"] = static_cast<double>(packed->pipelines.size());
      outcome.facts[std::string(name) + "_bytes_per_second"] = packed->rate;
    }
  return outcome;
}

} // namespace tutti
