// What a page can't show is drawn by what it is made of. The first way of joining nodes that the
// network's structure allows is taken, and what comes out is a network again, with coordinates
// where it had some, so that it is arranged like any other.
#include "experiments/driver/figures/layout/aggregation.hpp"

#include "experiments/driver/figures/layout/arrangement.hpp"
#include "experiments/driver/figures/layout/neighbours.hpp"
#include "experiments/driver/figures/layout/servers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tutti::layouts {

namespace {

constexpr std::size_t wanted_nodes = 256, wanted_leaves = 16;
constexpr int most_extent = 64; // of a grid that fits a page

/// [node]: its part, and what a part is called.
struct Joining {
  std::vector<std::uint32_t> part;
  std::string note;
  std::vector<int> shape; ///< with coordinates [node]; empty: none
  std::vector<std::vector<int>> coordinates;
};

std::size_t count_of(const std::vector<std::uint32_t>& part) {
  return std::set<std::uint32_t>(part.begin(), part.end()).size();
}

bool changes_one_coordinate(const Topology& topology, const Link& link) {
  const auto from = topology.coordinate(link.from), to = topology.coordinate(link.to);
  int changed = 0;
  for (std::size_t d = 0; d < from.size(); ++d) changed += from[d] != to[d] ? 1 : 0;
  return changed == 1;
}

/// Blocks of a grid: the longest extents are halved until a page is enough.
std::optional<Joining> blocks(const Topology& topology) {
  if (topology.shape().empty() || topology.node_count() != topology.npu_count() ||
      !std::ranges::all_of(topology.links(), [&](const Link& link) {
        return changes_one_coordinate(topology, link);
      }))
    return std::nullopt;
  std::vector<int> shape(topology.shape().begin(), topology.shape().end());
  std::vector<int> block(shape.size(), 1);
  const auto extent = [&](std::size_t d) { return (shape[d] + block[d] - 1) / block[d]; };
  const auto nodes = [&] {
    std::size_t product = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) product *= static_cast<std::size_t>(extent(d));
    return product;
  };
  for (;;) {
    std::size_t longest = 0;
    for (std::size_t d = 1; d < shape.size(); ++d)
      if (extent(d) > extent(longest)) longest = d;
    if (nodes() <= wanted_nodes && extent(longest) <= most_extent) break;
    block[longest] *= 2;
  }
  Joining joining;
  std::string size;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (extent(d) > 1) joining.shape.push_back(extent(d));
    if (shape[d] > 1) size += fmt::format("{}{}", size.empty() ? "" : " x ", block[d]);
  }
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    std::vector<int>& at = joining.coordinates.emplace_back();
    std::uint32_t part = 0, weight = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const int place = topology.coordinate(NodeId{n})[d] / block[d];
      if (extent(d) > 1) at.push_back(place);
      part += weight * static_cast<std::uint32_t>(place);
      weight *= static_cast<std::uint32_t>(extent(d));
    }
    joining.part.push_back(part);
  }
  joining.note = fmt::format("a block of {}", size);
  return joining;
}

std::optional<Joining> whole_servers(const Topology& topology) {
  const Servers servers = servers_of(topology);
  if (servers.count < 3) return std::nullopt;
  Joining joining{servers.of, "a server", {}, {}};
  std::uint32_t next = servers.count;
  for (std::uint32_t& part : joining.part)
    if (part == no_server) part = next++;
  return joining;
}

/// Fully connected groups, found as for a DragonFly: two of a group have all others in common.
std::optional<Joining> whole_groups(const Topology& topology) {
  if (topology.node_count() != topology.npu_count()) return std::nullopt;
  const Neighbours next(topology);
  if (next.pairs_of_neighbours() > most_pairs) return std::nullopt;
  Joining joining{
      parts_joined(next,
                   [&](auto a, auto b) { return 2 * next.common(a, b) + 1 >= next.degree(a); }),
      "a fully connected group",
      {},
      {}};
  std::vector<std::vector<std::uint32_t>> groups(*std::ranges::max_element(joining.part) + 1);
  for (std::uint32_t node = 0; node < next.count(); ++node)
    groups[joining.part[node]].push_back(node);
  return are_cliques(next, groups) ? std::optional(joining) : std::nullopt;
}

/// Every switch with the NPUs that have no other neighbour.
std::optional<Joining> switches_with_leaves(const Topology& topology) {
  const Neighbours next(topology);
  Joining joining;
  joining.part.resize(topology.node_count());
  std::iota(joining.part.begin(), joining.part.end(), 0U);
  for (std::uint32_t npu = 0; npu < topology.npu_count(); ++npu)
    if (next.degree(npu) == 1 && next.of(npu)[0].node >= topology.npu_count())
      joining.part[npu] = next.of(npu)[0].node;
  joining.note = "a switch and what is attached to it";
  return joining;
}

/// What hangs together below the top level of a tree.
std::optional<Joining> pods(const Topology& topology) {
  if (!is_tree(topology)) return std::nullopt;
  const Neighbours next(topology);
  const std::vector<std::uint32_t> level = levels(topology, next);
  const std::uint32_t top = *std::ranges::max_element(level);
  if (top < 2) return std::nullopt;
  return Joining{
      parts_joined(next, [&](auto a, auto b) { return level[a] < top && level[b] < top; }),
      "what hangs together below the top level",
      {},
      {}};
}

/// NPUs with the same neighbours, and other nodes with the same neighbours, as many as leave some
/// squares of each.
std::optional<Joining> alike(const Topology& topology) {
  const Neighbours next(topology);
  using Nodes = std::vector<std::uint32_t>;
  std::array<std::map<Nodes, Nodes>, 2> classes; // of NPUs, of others: by their neighbours
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    Nodes around;
    for (const Neighbour& neighbour : next.of(node)) around.push_back(neighbour.node);
    classes[node < topology.npu_count() ? 0 : 1][around].push_back(node);
  }
  Joining joining;
  joining.part.resize(topology.node_count());
  for (const auto& of_kind : classes) {
    const std::size_t squares =
        std::max<std::size_t>(1, wanted_leaves / std::max<std::size_t>(of_kind.size(), 1));
    for (const auto& [around, nodes] : of_kind) {
      const std::size_t each = (nodes.size() + squares - 1) / squares;
      for (std::size_t i = 0; i < nodes.size(); ++i)
        joining.part[nodes[i]] = nodes[i / each * each];
    }
  }
  joining.note = "with the same neighbours";
  return joining;
}

/// Every node with an unpaired neighbour: the one that is bound to it most, by the share of all its
/// bandwidth, so that large nodes don't swallow each other.
std::optional<Joining> pairs(const Topology& topology) {
  const Neighbours next(topology);
  std::vector<double> all(topology.node_count()); // bandwidth
  for (std::uint32_t node = 0; node < next.count(); ++node)
    for (const Neighbour& neighbour : next.of(node)) all[node] += neighbour.bandwidth;
  Joining joining;
  joining.part.resize(topology.node_count());
  std::iota(joining.part.begin(), joining.part.end(), 0U);
  std::vector<bool> paired(topology.node_count());
  for (std::uint32_t node = 0; node < next.count(); ++node) {
    if (paired[node]) continue;
    const Neighbour* best = nullptr;
    const auto share = [&](const Neighbour& of) { return of.bandwidth / all[of.node]; };
    for (const Neighbour& neighbour : next.of(node))
      if (!paired[neighbour.node] && (best == nullptr || share(neighbour) > share(*best)))
        best = &neighbour;
    if (best == nullptr) continue;
    paired[node] = paired[best->node] = true;
    joining.part[best->node] = joining.part[node];
  }
  joining.note = "neighbours";
  return joining;
}

/// What nothing else joins: two at a time.
Joining by_number(const Topology& topology) {
  Joining joining;
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) joining.part.push_back(n / 2);
  joining.note = "by their numbers";
  return joining;
}

/// "0-7" of NPUs 0 to 7, "128..." of more.
std::string range_name(const Topology& whole, const std::vector<NodeId>& nodes) {
  if (nodes.size() == 1) return whole.node(nodes.front()).name;
  std::vector<NodeId> npus;
  for (const NodeId node : nodes)
    if (node.value < whole.npu_count()) npus.push_back(node);
  if (npus.empty()) return whole.node(nodes.front()).name + "\u2026";
  const bool is_range = npus.back().value - npus.front().value + 1 == npus.size();
  return is_range && npus.back().value < 100
             ? fmt::format("{}\u2013{}", npus.front().value, npus.back().value)
             : fmt::format("{}\u2026", npus.front().value);
}

/// "a square stands for 16 NPUs (a block of 4 x 4)"
std::string note_of(const Topology& whole, const std::vector<std::vector<NodeId>>& members,
                    const std::string& kind) {
  std::size_t least = SIZE_MAX, most = 0;
  bool has_others = false; // drawn as one without an NPU
  for (const std::vector<NodeId>& nodes : members) {
    const auto npus = static_cast<std::size_t>(
        std::ranges::count_if(nodes, [&](NodeId node) { return node.value < whole.npu_count(); }));
    has_others = has_others || (npus == 0 && nodes.size() > 1);
    if (npus == 0) continue;
    least = std::min(least, npus);
    most = std::max(most, npus);
  }
  return fmt::format("a square stands for {}{} NPUs ({}){}", least == most ? "" : "up to ", most,
                     kind, has_others ? ", a dark one for several switches" : "");
}

Aggregate joined(const Aggregate& fine, const Topology& whole, const Joining& joining) {
  const Topology& old = fine.topology;
  // Parts with NPUs come first, each in order of its first node.
  std::map<std::uint32_t, std::uint32_t> number;
  for (std::uint32_t n = 0; n < old.node_count(); ++n)
    number.emplace(joining.part[n], static_cast<std::uint32_t>(number.size()));
  TopologyParts parts;
  parts.name = old.name();
  parts.shape = joining.shape;
  std::vector<std::vector<NodeId>> members(number.size());
  std::vector<std::uint32_t> new_of;
  std::vector<Node> nodes(number.size());
  if (!joining.shape.empty()) parts.coordinates.resize(number.size());
  for (std::uint32_t n = 0; n < old.node_count(); ++n) {
    const std::uint32_t part = number.at(joining.part[n]);
    new_of.push_back(part);
    if (members[part].empty()) nodes[part] = old.node(NodeId{n});
    members[part].insert(members[part].end(), fine.members[n].begin(), fine.members[n].end());
    if (!joining.shape.empty()) parts.coordinates[part] = joining.coordinates[n];
  }
  for (std::size_t part = 0; part < nodes.size(); ++part) {
    std::ranges::sort(members[part]);
    nodes[part].name = range_name(whole, members[part]);
    parts.add_node(nodes[part]);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, Link> links;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<LinkId>> link_members;
  for (std::uint32_t l = 0; l < old.link_count(); ++l) {
    const Link& link = old.link(LinkId{l});
    const std::pair ends{new_of[link.from.value], new_of[link.to.value]};
    if (ends.first == ends.second) continue;
    const auto [found, is_new] = links.emplace(ends, link);
    Link& sum = found->second;
    sum.from = NodeId{ends.first};
    sum.to = NodeId{ends.second};
    if (!is_new) {
      sum.bandwidth.bytes_per_second += link.bandwidth.bytes_per_second;
      sum.latency = std::min(sum.latency, link.latency);
    }
    std::vector<LinkId>& all = link_members[ends];
    all.insert(all.end(), fine.links[l].begin(), fine.links[l].end());
  }
  std::vector<std::vector<LinkId>> link_lists;
  for (auto& [ends, link] : links) {
    parts.add_link(link);
    std::vector<LinkId>& all = link_members[ends];
    std::ranges::sort(all);
    link_lists.push_back(std::move(all));
  }
  std::string note = note_of(whole, members, joining.note);
  return {Topology(std::move(parts)), std::move(members), std::move(link_lists), std::move(note)};
}

} // namespace

Aggregate each_by_itself(const Topology& topology) {
  Aggregate result{topology, {}, {}, {}};
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) result.members.push_back({NodeId{n}});
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) result.links.push_back({LinkId{l}});
  return result;
}

Aggregate coarser(const Aggregate& fine, const Topology& whole) {
  constexpr std::array ways{blocks, switches_with_leaves, pods, whole_servers, whole_groups, alike,
                            pairs};
  const Topology& old = fine.topology;
  for (const auto way : ways) {
    const std::optional<Joining> joining = way(old);
    if (!joining) continue;
    const std::size_t count = count_of(joining->part);
    if (count > 1 && 5 * count <= 4 * std::size_t{old.node_count()})
      return joined(fine, whole, *joining);
  }
  return joined(fine, whole, by_number(old));
}

} // namespace tutti::layouts
