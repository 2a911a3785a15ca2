// Links have no names of their own: a pair of node names stands for all parallel links between
// them.

#include "topologies/named_links.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <string>

namespace tutti::topologies {

std::vector<LinkId> links_named(const Topology& topology, std::string_view text) {
  const std::size_t arrow = text.find('>');
  if (arrow == std::string_view::npos)
    throw InputError(fmt::format("\"{}\" is not a link (as in npu0>npu1)", text));
  const NodeId from = topology.find_node(std::string(trimmed(text.substr(0, arrow))));
  const NodeId to = topology.find_node(std::string(trimmed(text.substr(arrow + 1))));
  std::vector<LinkId> links;
  for (const LinkId link : topology.out_links(from))
    if (topology.link(link).to == to) links.push_back(link);
  if (links.empty())
    throw InputError(
        fmt::format("there is no link {}>{}", topology.node(from).name, topology.node(to).name));
  return links;
}

} // namespace tutti::topologies
