// A measured topology as a TOML file that topologies/ reads back: nodes by name, links with the
// values measured, groups by the ends of their links.

#include "runtime/profiling/profiler.hpp"
#include "sim/error.hpp"
#include "sim/files/toml_string.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace tutti::runtime {

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

std::string toml_link(const Topology& topology, const Link& link) {
  std::string text = fmt::format(
      "\n[[links]]\nfrom = {}\nto = {}\nlatency = \"{}\"\nbandwidth = \"{}\"\ndirected = true\n",
      toml_string(topology.node(link.from).name), toml_string(topology.node(link.to).name),
      to_text(link.latency), to_text(link.bandwidth));
  if (link.dimension >= 0) text += fmt::format("dimension = {}\n", link.dimension);
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
  std::string text = fmt::format("name = {}\n", toml_string(topology.name()));
  if (!topology.parts().note.empty())
    text += fmt::format("note = {}\n", toml_string(topology.parts().note));
  if (!topology.shape().empty())
    text += fmt::format("shape = [{}]\n", fmt::join(topology.shape(), ", "));
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) text += toml_node(topology, NodeId{n});
  for (const Link& link : topology.links()) text += toml_link(topology, link);
  for (const SharedGroup& group : topology.groups()) text += toml_group(topology, group);
  return text;
}

} // namespace tutti::runtime
