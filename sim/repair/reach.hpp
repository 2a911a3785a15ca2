// Who can still be reached from where, over links that are up.
#pragma once

#include "sim/ids.hpp"
#include "sim/network_event.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// By strongly connected components: O(nodes + links), and a bit per pair of components.
class Reach {
public:
  Reach(const Topology& topology, const NetworkState& network);

  [[nodiscard]] bool can_reach(NodeId from, NodeId to) const {
    const std::uint32_t a = component_[from.value], b = component_[to.value];
    return a == b || reaches_[a][b];
  }
  /// All NPUs that are alive reach one another.
  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] std::uint32_t component(NodeId node) const { return component_[node.value]; }

private:
  std::vector<std::uint32_t> component_;   // per node; what a component reaches has lower numbers
  std::vector<std::vector<bool>> reaches_; // [component][component]
  bool connected_ = true;
};

} // namespace tutti
