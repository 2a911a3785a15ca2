// A network as Tutti's own file, which parse_topology() reads back: nodes by name, each directed
// link, groups by the ends of their links. What was assumed about it becomes comments.
#include "sim/error.hpp"
#include "sim/files/toml_string.hpp"
#include "topologies/export/comments.hpp"
#include "topologies/export/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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
/// only some, each says which one it is.
std::string toml_group(const Topology& topology, const SharedGroup& group) {
  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> members; // in their order
  std::vector<std::pair<NodeId, NodeId>> pairs;
  for (const LinkId id : group.links) {
    const std::pair ends(topology.link(id).from, topology.link(id).to);
    if (members[ends].empty()) pairs.push_back(ends);
    members[ends].push_back(id);
  }
  std::vector<std::string> words;
  for (const auto& ends : pairs) {
    std::vector<LinkId> parallel;
    for (const LinkId link : topology.out_links(ends.first))
      if (topology.link(link).to == ends.second) parallel.push_back(link);
    const std::string pair = fmt::format("{}, {}", toml_string(topology.node(ends.first).name),
                                         toml_string(topology.node(ends.second).name));
    if (members[ends].size() == parallel.size())
      words.push_back(fmt::format("[{}]", pair));
    else
      for (const LinkId link : members[ends])
        words.push_back(
            fmt::format("[{}, {}]", pair, std::ranges::find(parallel, link) - parallel.begin()));
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
