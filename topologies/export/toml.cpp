// A network as Tutti's own file, which parse_topology() reads back: nodes by name, each directed
// link, groups by the ends of their links. What was assumed about it becomes comments.
#include "sim/error.hpp"
#include "sim/files/toml_string.hpp"
#include "topologies/export/comments.hpp"
#include "topologies/export/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

std::string toml_node(const Topology& topology, NodeId id) {
  const Node& node = topology.node(id);
  const std::string_view kind = node.kind == NodeKind::npu         ? "npu"
                                : node.kind == NodeKind::switching ? "switch"
                                                                   : "memory";
  std::string text =
      fmt::format("\n[[nodes]]\nname = {}\nkind = \"{}\"\n", toml_string(node.name), kind);
  text += fmt::format("store = {}\ncopy = {}\nreduce = {}\n", node.can.store, node.can.copy,
                      node.can.reduce);
  if (node.reduce_rate.bytes_per_second > 0)
    text += fmt::format("reduce_rate = \"{}\"\n", to_text(node.reduce_rate));
  if (!topology.shape().empty() && !topology.coordinate(id).empty())
    text += fmt::format("coordinates = [{}]\n", fmt::join(topology.coordinate(id), ", "));
  return text;
}

std::string toml_link(const Topology& topology, LinkId id) {
  const Link& link = topology.link(id);
  std::string text = fmt::format(
      "\n[[links]]\nfrom = {}\nto = {}\nlatency = \"{}\"\nbandwidth = \"{}\"\ndirected = true\n",
      toml_string(topology.node(link.from).name), toml_string(topology.node(link.to).name),
      to_text(link.latency), to_text(link.bandwidth));
  if (link.dimension >= 0) text += fmt::format("dimension = {}\n", link.dimension);
  if (link.part > 0) text += fmt::format("part = {}\n", toml_string(topology.part_of(id)));
  return text;
}

/// A group is given by pairs of nodes, and has all links from the first to the second; where it has
/// only some of them, or in another order, each says which one it is. So the order is kept.
std::string toml_group(const Topology& topology, const SharedGroup& group) {
  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> all_between;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < group.links.size();) {
    const Link& link = topology.link(group.links[i]);
    const auto [found, is_new] = all_between.try_emplace({link.from, link.to});
    const std::vector<LinkId>& parallel = found->second;
    if (is_new)
      for (const LinkId other : topology.out_links(link.from))
        if (topology.link(other).to == link.to) found->second.push_back(other);
    const std::string pair = fmt::format("{}, {}", toml_string(topology.node(link.from).name),
                                         toml_string(topology.node(link.to).name));
    const auto rest = std::span(group.links).subspan(i);
    const bool has_all =
        rest.size() >= parallel.size() && std::ranges::equal(rest.first(parallel.size()), parallel);
    if (has_all)
      words.push_back(fmt::format("[{}]", pair));
    else
      words.push_back(fmt::format("[{}, {}]", pair,
                                  std::ranges::find(parallel, group.links[i]) - parallel.begin()));
    i += has_all ? parallel.size() : 1;
  }
  return fmt::format("\n[[groups]]\nname = {}\nbandwidth = \"{}\"\nlinks = [{}]\n",
                     toml_string(group.name), to_text(group.bandwidth), fmt::join(words, ", "));
}

} // namespace

std::string topology_toml(const Topology& topology) {
  std::string text;
  for (const std::string& line : assumed_lines(topology)) text += fmt::format("# {}\n", line);
  text += fmt::format("name = {}\n", toml_string(topology.name()));
  if (!topology.parts().note.empty())
    text += fmt::format("note = {}\n", toml_string(topology.parts().note));
  if (!topology.parts().npu_model.empty())
    text += fmt::format("npu = {}\n", toml_string(topology.parts().npu_model));
  if (!topology.shape().empty())
    text += fmt::format("shape = [{}]\n", fmt::join(topology.shape(), ", "));
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) text += toml_node(topology, NodeId{n});
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) text += toml_link(topology, LinkId{l});
  for (const SharedGroup& group : topology.groups()) text += toml_group(topology, group);
  return text;
}

} // namespace tutti
