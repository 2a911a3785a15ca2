// Workloads that only communicate, and what plans mean on the whole network, found without the code
// that is tested.
#pragma once

#include "sim/collective.hpp"
#include "sim/iteration.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/workload.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::samples {

using Group = std::vector<std::uint32_t>;

inline std::vector<NodeId> nodes(const Group& group) {
  std::vector<NodeId> ids;
  for (const std::uint32_t node : group) ids.emplace_back(node);
  return ids;
}

struct Communication {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size;
  std::uint32_t root = 0;
};

/// Every group performs all of it.
inline Workload communicating(std::uint32_t npus, const std::vector<Group>& groups,
                              const std::vector<Communication>& all) {
  Workload workload;
  workload.names = {"communication"};
  for (const Group& group : groups) workload.groups.push_back(nodes(group));
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    TrainingProgram program;
    ProgramPlace place{npu, {}};
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      if (std::find(groups[g].begin(), groups[g].end(), npu) == groups[g].end()) continue;
      for (std::uint32_t tag = 0; tag < all.size(); ++tag) {
        Operation operation;
        operation.kind = Operation::Kind::collective;
        operation.collective = all[tag].kind;
        operation.root = all[tag].root;
        operation.amount = all[tag].size.count;
        operation.tag = tag;
        operation.role = static_cast<std::uint32_t>(place.groups.size());
        program.add(operation, {});
      }
      place.groups.push_back(g);
    }
    workload.programs.push_back(std::move(program));
    workload.places.push_back(std::move(place));
  }
  return workload;
}

/// A plan's transfers over the whole network's links.
inline Schedule on_the_whole(const Topology& topology, const PlacedPlan& placed) {
  const Schedule& own = placed.plan->schedule;
  Schedule whole(topology.link_count());
  for (std::size_t i = 0; i < own.size(); ++i) {
    Transfer transfer = own[i];
    std::vector<LinkId> links;
    for (const LinkId link : own.paths().links(transfer.path))
      links.push_back(placed.links.at(link.value));
    transfer.path = whole.paths().intern(links);
    whole.push(transfer);
  }
  return whole;
}

/// What a request asks for on the whole network, cut as its plan is; padded as that where the
/// buffer is too small to be cut.
inline Collective asked_for(const Topology& topology, const Workload& workload,
                            const CommunicationRequest& request, const PlacedPlan& placed) {
  const CollectivePart& part = placed.plan->collective.parts.front();
  return make_collective(topology,
                         {request.kind, std::max(request.size, part.size),
                          workload.groups[request.group], request.root, part.chunks_per_shard});
}

} // namespace tutti::samples
