// What one NPU sends to another: transfers along a single path.
#pragma once

#include "sim/iteration.hpp"
#include "sim/routing.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "workloads/planning/group_network.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace tutti {

/// Finds the paths of sends: the shortest in the part of the network where the two communicate, or
/// in the whole one, where they have no part or the routing is by dimension order.
class SendRouter {
public:
  SendRouter(const Topology& topology, Routing routing)
      : topology_(topology), routing_(routing), flows_(topology.link_count()) {}

  /// The network of the path alone: both members, in rank order, then the other nodes, the NPUs
  /// among them first; the links in the order of the path. `part`: where the two communicate; null:
  /// in the whole network. Errors: InputError where there is none.
  [[nodiscard]] GroupNetwork network_of_path(std::span<const NodeId> group,
                                             const GroupNetwork* part, std::uint32_t root,
                                             Bytes size);

private:
  const Topology& topology_;
  Routing routing_;
  std::map<Bytes, Router> routers_;  // of the whole network
  std::vector<std::uint32_t> flows_; // per link, of sends of all sizes
  std::map<std::tuple<NodeId, NodeId, Bytes>, std::vector<LinkId>> paths_; // from, to
};

/// On the network of its path: as one chunk, unless it passes nodes that store it first. Then in as
/// many chunks, of 1, 2, 4, ... `most_chunks_per_shard`, as arrive first on the native engine; each
/// takes the whole path.
[[nodiscard]] CommunicationPlan plan_send(const Topology& network, std::uint32_t root, Bytes size,
                                          const TimeModel& model,
                                          std::uint32_t most_chunks_per_shard);

} // namespace tutti
