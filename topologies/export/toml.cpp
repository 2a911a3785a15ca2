// A network as Tutti's own file, which parse_topology() reads back: nodes by name, each directed
// link, groups by the ends of their links. What was assumed about it becomes comments.
#include "sim/error.hpp"
#include "sim/files/toml_string.hpp"
#include "topologies/export/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>

namespace tutti {

namespace {

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

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

/// A group is given by pairs of nodes, and has all links from the first to the second.
std::string toml_group(const Topology& topology, const SharedGroup& group) {
  std::set<std::pair<NodeId, NodeId>> pairs;
  std::vector<std::string> words;
  std::size_t links = 0;
  for (const LinkId id : group.links) {
    const auto [from, to] = std::pair(topology.link(id).from, topology.link(id).to);
    if (!pairs.emplace(from, to).second) continue;
    for (const LinkId parallel : topology.out_links(from))
      links += topology.link(parallel).to == to ? 1U : 0U;
    words.push_back(fmt::format("[{}, {}]", toml_string(topology.node(from).name),
                                toml_string(topology.node(to).name)));
  }
  if (links != group.links.size())
    throw InputError(fmt::format("group \"{}\" has some, but not all parallel links between two "
                                 "nodes: a topology file can't tell",
                                 group.name));
  return fmt::format("\n[[groups]]\nname = {}\nbandwidth = \"{}\"\nlinks = [{}]\n",
                     toml_string(group.name), to_text(group.bandwidth), fmt::join(words, ", "));
}

} // namespace

std::string topology_toml(const Topology& topology) {
  std::string text;
  for (const std::string& line : topology.parts().assumed)
    text += fmt::format("# assumed: {}\n", one_line(line));
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
