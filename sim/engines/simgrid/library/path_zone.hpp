// A SimGrid zone without routing tables: a communication takes the links that were set just before
// it starts. Only sim/engines/simgrid/ includes this.
#pragma once

#include "sim/engines/simgrid/library/versions.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// SimGrid looks a route up synchronously when a communication starts.
class PathZone : public simgrid::kernel::routing::NetZoneImpl {
public:
  PathZone() : NetZoneImpl("network") {}
  std::vector<simgrid::kernel::resource::StandardLinkImpl*> links; ///< by index
  // The next communication:
  std::span<const std::uint32_t> route;
  std::span<const std::uint32_t> back; ///< what acknowledges it, where a model has that
  const simgrid::kernel::routing::NetPoint* receiver = nullptr; ///< where there is a way back
  double latency = 1; ///< s. CM02 weighs flows by it, and caps those of routes without any at the
                      ///< bandwidth with which they began; a factor of 0 takes the delay away.

private:
  void get_local_route(const simgrid::kernel::routing::NetPoint* from,
                       const simgrid::kernel::routing::NetPoint*,
                       simgrid::kernel::routing::Route* into, double* of_route) override {
    for (const std::uint32_t link : receiver != nullptr && from == receiver ? back : route)
      into->link_list_.push_back(links[link]);
    if (of_route != nullptr) *of_route += latency;
  }
  void get_graph(const s_xbt_graph_t*, std::map<std::string, xbt_node_t, std::less<>>*,
                 std::map<std::string, xbt_edge_t, std::less<>>*) override {}
};

} // namespace tutti
