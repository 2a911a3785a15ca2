// Links have no names of their own: a pair of node names stands for all parallel links between
// them.

#include "topologies/named_links.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace tutti::topologies {

namespace {

std::vector<LinkId> links_between(const Topology& topology, std::string_view from_name,
                                  std::string_view to_name) {
  const NodeId from = topology.find_node(std::string(trimmed(from_name)));
  const NodeId to = topology.find_node(std::string(trimmed(to_name)));
  std::vector<LinkId> links;
  for (const LinkId link : topology.out_links(from))
    if (topology.link(link).to == to) links.push_back(link);
  if (links.empty())
    throw InputError(
        fmt::format("there is no link {}>{}", topology.node(from).name, topology.node(to).name));
  return links;
}

bool is_node(const Topology& topology, std::string_view name) {
  return std::ranges::any_of(topology.nodes(),
                             [&](const Node& node) { return node.name == trimmed(name); });
}

using Ends = std::pair<std::string_view, std::string_view>;

bool is_link(const Topology& topology, const Ends& ends) {
  const NodeId to = topology.find_node(std::string(trimmed(ends.second)));
  return std::ranges::any_of(
      topology.out_links(topology.find_node(std::string(trimmed(ends.first)))),
      [&](LinkId link) { return topology.link(link).to == to; });
}

/// The ends of `npu0-npu1`; names may have dashes of their own. Where nothing fits, the first dash
/// parts them, for the error. Errors: InputError where several links are meant.
Ends ends_of(const Topology& topology, std::string_view text) {
  std::optional<Ends> nodes, link;
  for (std::size_t dash = text.find('-'); dash != std::string_view::npos;
       dash = text.find('-', dash + 1)) {
    const Ends ends{text.substr(0, dash), text.substr(dash + 1)};
    if (!is_node(topology, ends.first) || !is_node(topology, ends.second)) continue;
    if (!nodes) nodes = ends;
    if (!is_link(topology, ends)) continue;
    if (link)
      throw InputError(fmt::format("\"{}\" may be {}>{} or {}>{}: say which", text, link->first,
                                   link->second, ends.first, ends.second));
    link = ends;
  }
  if (link || nodes) return link ? *link : *nodes;
  const std::size_t dash = text.find('-');
  return {text.substr(0, dash), text.substr(dash + 1)};
}

} // namespace

std::vector<LinkId> links_named(const Topology& topology, std::string_view text) {
  if (const std::size_t arrow = text.find('>'); arrow != std::string_view::npos)
    return links_between(topology, text.substr(0, arrow), text.substr(arrow + 1));
  if (text.find('-') == std::string_view::npos)
    throw InputError(fmt::format("\"{}\" is not a link (as in npu0>npu1, or npu0-npu1)", text));
  const auto [a, b] = ends_of(topology, text);
  std::vector<LinkId> links = links_between(topology, a, b);
  const std::vector<LinkId> back = links_between(topology, b, a);
  links.insert(links.end(), back.begin(), back.end());
  return links;
}

} // namespace tutti::topologies
