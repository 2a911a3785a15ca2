// Strongly connected components come in reverse topological order, so what a component reaches has
// lower numbers: one pass over the links in that order unites the sets.

#include "sim/repair/reach.hpp"

#include "sim/graphs/components.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace tutti {

Reach::Reach(const Topology& topology, const NetworkState& network) {
  const auto edge = [&](std::uint32_t node, std::size_t i) -> std::optional<std::uint32_t> {
    const LinkId link = topology.out_links(NodeId{node})[i];
    if (!network.is_up(link)) return std::nullopt;
    return topology.link(link).to.value;
  };
  const auto degree = [&](std::uint32_t node) { return topology.out_links(NodeId{node}).size(); };
  Components components = strong_components(topology.node_count(), degree, edge);
  const std::uint32_t count = components.count;
  component_ = std::move(components.of);
  std::uint32_t first_alive = UINT32_MAX;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) {
    if (!network.is_up(NodeId{n})) continue;
    if (first_alive == UINT32_MAX) first_alive = component_[n];
    connected_ = connected_ && component_[n] == first_alive;
  }
  reaches_.assign(count, std::vector<bool>(count));
  std::vector<std::vector<std::uint32_t>> next(count);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    if (!network.is_up(LinkId{l})) continue;
    const Link& link = topology.link(LinkId{l});
    const std::uint32_t from = component_[link.from.value], to = component_[link.to.value];
    if (from != to) next[from].push_back(to);
  }
  for (std::uint32_t c = 0; c < count; ++c)
    for (const std::uint32_t to : next[c]) {
      if (reaches_[c][to]) continue;
      reaches_[c][to] = true;
      for (std::uint32_t far = 0; far < to; ++far)
        if (reaches_[to][far]) reaches_[c][far] = true;
    }
}

} // namespace tutti
