// Why: clusters grow, and nodes lose parts: 8 A100 beside 8 H100, 8 GPUs beside 7. Each kind of
// server is made on a fabric of its own, of which there are more servers than asked for, as one or
// two alone would have no fabric; what belongs to those beyond is dropped, and the fabrics are one.
#include "topologies/side_by_side.hpp"

#include "sim/error.hpp"
#include "sim/graphs/disjoint_sets.hpp"
#include "topologies/import/servers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::string_view fabric_name = "fabric";

/// With the first `count` servers, and the fabric.
Topology first_servers(const Topology& topology, int count) {
  if (topology.shape().size() != 2)
    throw InputError(fmt::format("{}: only servers stand side by side", topology.name()));
  DisjointSets servers(topology.node_count()); // without the fabric
  const auto is_fabric = [&](NodeId node) { return topology.node(node).name == fabric_name; };
  for (const Link& link : topology.links())
    if (!is_fabric(link.from) && !is_fabric(link.to)) servers.join(link.from.value, link.to.value);
  std::set<std::uint32_t> kept;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    if (topology.coordinate(NodeId{n})[1] < count) kept.insert(servers.find(n));
  std::vector<NodeId> gone;
  for (std::uint32_t n = 0; n < topology.node_count(); ++n)
    if (!is_fabric(NodeId{n}) && !kept.contains(servers.find(n))) gone.push_back(NodeId{n});
  return without(topology, gone, {});
}

/// Older ones first, as the list of kinds has them.
bool is_older(const std::string& a, const std::string& b) {
  const auto place = [](const std::string& model) {
    return std::ranges::find(gpu_kinds(), model, &GpuKind::model) - gpu_kinds().begin();
  };
  return place(a) < place(b);
}

} // namespace

Topology side_by_side(std::span<const ServersOfAKind> kinds, const std::string& name) {
  std::vector<Topology> sides;
  TopologyParts whole;
  whole.name = name;
  whole.shape = {0, 0};
  std::vector<std::vector<NodeId>> ids; // [side][node]
  for (const ServersOfAKind& kind : kinds) {
    const TopologyParts& side =
        sides.emplace_back(first_servers(kind.topology, kind.count)).parts();
    if (ids.empty() || is_older(side.npu_model, whole.npu_model)) whole.npu_model = side.npu_model;
    std::vector<NodeId>& of = ids.emplace_back();
    for (std::uint32_t n = 0; n < sides.back().npu_count(); ++n) {
      Node npu = side.nodes[n];
      npu.name = fmt::format("npu{}", whole.nodes.size());
      of.push_back(whole.add_node(std::move(npu)));
      whole.coordinates.push_back(
          {side.coordinates[n][0], whole.shape[1] + side.coordinates[n][1]});
    }
    whole.shape = {std::max(whole.shape[0], side.shape[0]), whole.shape[1] + kind.count};
    whole.note += fmt::format("{}{}", whole.note.empty() ? "" : " Beside it: ", side.note);
    for (const std::string& line : kind.topology.parts().assumed)
      if (std::ranges::find(whole.assumed, line) == whole.assumed.end())
        whole.assumed.push_back(line);
    whole.odd.insert(whole.odd.end(), kind.topology.parts().odd.begin(),
                     kind.topology.parts().odd.end());
  }
  NodeId fabric;
  std::set<std::string> names;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const TopologyParts& side = sides[s].parts();
    for (std::size_t n = ids[s].size(); n < side.nodes.size(); ++n) {
      Node node = side.nodes[n];
      const bool is_fabric = node.name == fabric_name;
      if (!is_fabric && names.contains(node.name)) node.name += fmt::format("_{}", s);
      names.insert(node.name);
      if (!is_fabric || !fabric.valid()) ids[s].push_back(whole.add_node(node));
      if (is_fabric && fabric.valid()) ids[s].push_back(fabric);
      if (is_fabric) fabric = ids[s].back();
    }
    const auto first = static_cast<std::uint32_t>(whole.links.size());
    for (std::uint32_t l = 0; l < side.links.size(); ++l) {
      Link link = side.links[l];
      link.from = ids[s][link.from.value];
      link.to = ids[s][link.to.value];
      if (const std::string part = sides[s].part_of(LinkId{l}); !part.empty())
        link.part = whole.link_part(part);
      whole.add_link(link);
    }
    for (SharedGroup group : side.groups) {
      if (s > 0) group.name += fmt::format(" ({})", s);
      for (LinkId& link : group.links) link.value += first;
      whole.groups.push_back(std::move(group));
    }
  }
  return Topology(std::move(whole));
}

} // namespace tutti::topologies
