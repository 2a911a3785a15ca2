// The part of a group is found by two breadth-first searches at once over nodes that aren't NPUs,
// with the links and against them: a node lies between members where both searches have met it.
// They advance hop by hop until all members reach each other, and one hop farther. Numbering nodes
// in the order of a search from the members makes parts equal that differ only in where they lie.
#include "workloads/planning/group_network.hpp"

#include "sim/collective.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

enum class Direction { forward, backward };

NodeId next_node(const Topology& topology, LinkId link, Direction direction) {
  return direction == Direction::forward ? topology.link(link).to : topology.link(link).from;
}

std::span<const LinkId> next_links(const Topology& topology, NodeId node, Direction direction) {
  return direction == Direction::forward ? topology.out_links(node) : topology.in_links(node);
}

/// Hops from (or to) the nearest member, over nodes that aren't NPUs; hop by hop.
class Distances {
public:
  Distances(const Topology& topology, std::span<const NodeId> group, Direction direction)
      : topology_(topology), direction_(direction), met_(topology.node_count()),
        frontier_(group.begin(), group.end()) {}

  /// The nodes that are one hop farther than those so far.
  std::span<const NodeId> advance() {
    std::vector<NodeId> farther;
    for (const NodeId node : frontier_)
      for (const LinkId link : next_links(topology_, node, direction_)) {
        const NodeId next = next_node(topology_, link, direction_);
        if (next.value < topology_.npu_count() || met_[next.value]) continue;
        met_[next.value] = true;
        farther.push_back(next);
      }
    frontier_ = std::move(farther);
    return frontier_;
  }
  [[nodiscard]] bool has_met(NodeId node) const { return met_[node.value]; }

private:
  const Topology& topology_;
  Direction direction_;
  std::vector<bool> met_; // nodes that aren't NPUs
  std::vector<NodeId> frontier_;
};

class PartFinder {
public:
  PartFinder(const Topology& topology, std::span<const NodeId> group)
      : topology_(topology), group_(group), is_kept_(topology.node_count()) {
    for (const NodeId member : group) is_kept_[member.value] = true;
  }

  /// The nodes of the part, members first.
  std::optional<std::vector<NodeId>> find() {
    Distances ahead(topology_, group_, Direction::forward),
        behind(topology_, group_, Direction::backward);
    for (bool is_joined = joins_members(); true;) {
      const bool grows = keep_next(ahead, behind);
      if (is_joined) break; // that was the one hop more
      if (!grows) return std::nullopt;
      is_joined = joins_members();
    }
    return without_dead_ends();
  }

private:
  /// Keeps what is one hop farther, from the members and to them. Whether there was anything to
  /// meet.
  bool keep_next(Distances& ahead, Distances& behind) {
    const std::span<const NodeId> from_members = ahead.advance(), to_members = behind.advance();
    for (const NodeId node : from_members)
      if (behind.has_met(node)) is_kept_[node.value] = true;
    for (const NodeId node : to_members)
      if (ahead.has_met(node)) is_kept_[node.value] = true;
    return !from_members.empty() || !to_members.empty();
  }

  /// Kept nodes that `starts` reach over kept nodes, themselves included, as they are met.
  [[nodiscard]] std::vector<NodeId> reached(std::span<const NodeId> starts,
                                            Direction direction) const {
    std::vector<bool> met(topology_.node_count());
    std::vector<NodeId> nodes(starts.begin(), starts.end());
    for (const NodeId start : starts) met[start.value] = true;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (const LinkId link : next_links(topology_, nodes[i], direction)) {
        const NodeId next = next_node(topology_, link, direction);
        if (!is_kept_[next.value] || met[next.value]) continue;
        met[next.value] = true;
        nodes.push_back(next);
      }
    return nodes;
  }

  [[nodiscard]] bool joins_members() const {
    return std::ranges::all_of(
        std::array{Direction::forward, Direction::backward}, [this](Direction direction) {
          const auto npus = [this](NodeId node) { return node.value < topology_.npu_count(); };
          return std::ranges::count_if(reached(group_.first(1), direction), npus) ==
                 static_cast<std::ptrdiff_t>(group_.size());
        });
  }

  std::vector<NodeId> without_dead_ends() {
    for (std::size_t before = 0;;) {
      std::vector<NodeId> nodes = reached(group_, Direction::forward);
      keep_only(nodes);
      nodes = reached(group_, Direction::backward);
      keep_only(nodes);
      std::erase_if(nodes, [this](NodeId node) { return is_dead_end(node); });
      keep_only(nodes);
      if (nodes.size() == before) return reached(group_, Direction::forward);
      before = nodes.size();
    }
  }

  void keep_only(std::span<const NodeId> nodes) {
    is_kept_.assign(is_kept_.size(), false);
    for (const NodeId node : nodes) is_kept_[node.value] = true;
  }

  /// Whether a node that is no NPU has a single kept neighbour.
  [[nodiscard]] bool is_dead_end(NodeId node) const {
    if (node.value < topology_.npu_count()) return false;
    NodeId neighbour;
    for (const Direction direction : {Direction::forward, Direction::backward})
      for (const LinkId link : next_links(topology_, node, direction)) {
        const NodeId next = next_node(topology_, link, direction);
        if (!is_kept_[next.value] || next == neighbour) continue;
        if (neighbour.valid()) return false;
        neighbour = next;
      }
    return true;
  }

  const Topology& topology_;
  std::span<const NodeId> group_;
  std::vector<bool> is_kept_;
};

/// Old number to new.
template <typename IdType>
std::unordered_map<IdType, IdType> numbering(std::span<const IdType> kept) {
  std::unordered_map<IdType, IdType> number;
  number.reserve(kept.size());
  for (const IdType id : kept)
    number.emplace(id, IdType{static_cast<std::uint32_t>(number.size())});
  return number;
}

/// All links between the nodes, by their ends' positions among them, then by id.
std::vector<LinkId> links_between(const Topology& topology, std::span<const NodeId> nodes) {
  const auto number = numbering(nodes);
  std::vector<std::tuple<NodeId, NodeId, LinkId>> found;
  for (const NodeId node : nodes)
    for (const LinkId link : topology.out_links(node))
      if (const auto to = number.find(topology.link(link).to); to != number.end())
        found.emplace_back(number.at(node), to->second, link);
  std::sort(found.begin(), found.end());
  std::vector<LinkId> links;
  for (const auto& [from, to, link] : found) links.push_back(link);
  return links;
}

std::vector<SharedGroup> shared_groups(const Topology& topology, std::span<const LinkId> links) {
  if (topology.groups().empty()) return {};
  std::unordered_map<std::uint32_t, std::vector<LinkId>> members; // sorted below
  for (std::uint32_t l = 0; l < links.size(); ++l)
    for (const std::uint32_t group : topology.groups_of(links[l]))
      members[group].push_back(LinkId{l});
  std::vector<SharedGroup> groups;
  for (const auto& [group, kept] : members) {
    const SharedGroup& whole = topology.groups()[group];
    groups.push_back({whole.name, kept, whole.bandwidth});
  }
  std::ranges::sort(groups, {}, [](const SharedGroup& group) {
    return std::tie(group.links, group.bandwidth, group.name);
  });
  return groups;
}

TopologyParts parts_from(const Topology& topology, std::span<const NodeId> nodes,
                         std::span<const LinkId> links) {
  TopologyParts parts;
  parts.name = topology.name();
  parts.npu_model = topology.parts().npu_model;
  parts.link_parts = topology.parts().link_parts;
  const auto number = numbering(nodes);
  for (const NodeId node : nodes) parts.add_node(topology.node(node));
  for (const LinkId id : links) {
    Link link = topology.link(id);
    link.from = number.at(link.from);
    link.to = number.at(link.to);
    link.dimension = -1;
    parts.add_link(link);
  }
  parts.groups = shared_groups(topology, links);
  return parts;
}

/// The values that members have along each dimension, ascending.
std::vector<std::vector<int>> values_of(const Topology& topology, std::span<const NodeId> group) {
  std::vector<std::vector<int>> values(topology.shape().size());
  for (std::size_t d = 0; d < values.size(); ++d) {
    for (const NodeId member : group) values[d].push_back(topology.coordinate(member)[d]);
    std::ranges::sort(values[d]);
    values[d].erase(std::unique(values[d].begin(), values[d].end()), values[d].end());
  }
  return values;
}

/// Coordinates of the members, and the dimensions of links, where the members fill a grid.
void add_coordinates(const Topology& topology, std::span<const NodeId> group,
                     std::span<const LinkId> links, TopologyParts& parts) {
  const std::vector<std::vector<int>> values = values_of(topology, group);
  std::size_t places = 1;
  for (const std::vector<int>& along : values)
    places = std::min(places * along.size(), group.size() + 1);
  if (values.empty() || places != group.size()) return;

  std::vector<std::size_t> kept; // dimensions in which members differ
  std::vector<std::int8_t> number(values.size(), -1);
  for (std::size_t d = 0; d < values.size(); ++d) {
    if (values[d].size() < 2) continue;
    number[d] = static_cast<std::int8_t>(kept.size());
    kept.push_back(d);
    parts.shape.push_back(static_cast<int>(values[d].size()));
  }
  for (const NodeId member : group) {
    std::vector<int>& at = parts.coordinates.emplace_back();
    for (const std::size_t d : kept) {
      const int value = topology.coordinate(member)[d];
      at.push_back(
          static_cast<int>(std::ranges::lower_bound(values[d], value) - values[d].begin()));
    }
  }
  for (std::size_t l = 0; l < links.size(); ++l)
    if (const std::int8_t d = topology.link(links[l]).dimension; d >= 0)
      parts.links[l].dimension = number[static_cast<std::size_t>(d)];
}

} // namespace

std::optional<GroupNetwork> part_of(const Topology& topology, std::span<const NodeId> group) {
  std::optional<std::vector<NodeId>> nodes = PartFinder(topology, group).find();
  if (!nodes) return std::nullopt;
  std::vector<LinkId> links = links_between(topology, *nodes);
  TopologyParts parts = parts_from(topology, *nodes, links);
  add_coordinates(topology, group, links, parts);
  return GroupNetwork{Topology(std::move(parts)), std::move(*nodes), std::move(links)};
}

GroupNetwork sub_network(const Topology& topology, std::span<const NodeId> nodes,
                         std::span<const LinkId> links) {
  return {Topology(parts_from(topology, nodes, links)),
          {nodes.begin(), nodes.end()},
          {links.begin(), links.end()}};
}

namespace {

GroupNetwork whole_network(const Topology& topology) {
  GroupNetwork whole{topology, {}, {}};
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) whole.nodes.emplace_back(n);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) whole.links.emplace_back(l);
  return whole;
}

} // namespace

GroupNetwork network_of(const Topology& topology, std::span<const NodeId> group) {
  if (!is_everyone(group, topology.npu_count()))
    if (std::optional<GroupNetwork> part = part_of(topology, group)) return std::move(*part);
  return whole_network(topology);
}

} // namespace tutti
