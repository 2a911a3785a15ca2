// Why: the secondary objective is traffic (Shapley 2025, sec. 2.4), and whose traffic counts is the
// user's choice: a link weighs as many of its ends as are of the chosen kinds.

#include "synth/flows/rounding/traffic_weights.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace tutti {

namespace {

bool counts(const Node& node, std::string_view word) {
  if (word == "npu") return node.kind == NodeKind::npu;
  if (word == "switch") return node.kind == NodeKind::switching;
  if (word == "memory") return node.kind == NodeKind::memory;
  return node.name.starts_with(word);
}

} // namespace

std::vector<double> traffic_weights(const Topology& topology, const std::string& text) {
  if (text == "none") return {};
  std::vector<double> of_node(topology.node_count());
  for (const std::string_view word : split(text, '+')) {
    bool some = false;
    for (std::uint32_t v = 0; v < topology.node_count(); ++v) {
      if (word.empty() || !counts(topology.node(NodeId{v}), word)) continue;
      of_node[v] = 1;
      some = true;
    }
    if (!some)
      throw InputError(fmt::format("traffic: no node is a \"{}\" (give npu, switch, memory or how "
                                   "names of nodes start, joined by +; or none)",
                                   word));
  }
  std::vector<double> weights;
  for (const Link& link : topology.links())
    weights.push_back(of_node[link.from.value] + of_node[link.to.value]);
  return weights;
}

} // namespace tutti
