#include "algorithms/member_paths.hpp"

#include <algorithm>
#include <cstddef>

namespace tutti {

namespace {

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

} // namespace

std::vector<MemberPath> member_paths(const Topology& topology, std::span<const NodeId> group) {
  PathSearch search(topology, group);
  std::vector<MemberPath> paths;
  for (const NodeId member : group)
    for (const LinkId link : topology.out_links(member)) search.append(link, paths);
  divide_bandwidth(topology, paths);
  return paths;
}

} // namespace tutti
