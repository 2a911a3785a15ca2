// Everything that a run assumes, checked before it begins, so that the run itself needs no checks.
#include "sim/iteration/checks.hpp"

#include "sim/engines/event_queue.hpp"
#include "sim/engines/run_checks.hpp"
#include "sim/error.hpp"
#include "sim/network_event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

namespace {

void check_starts(const Topology& topology, std::span<const Time> starts) {
  if (starts.empty()) return;
  if (starts.size() != topology.node_count())
    throw InputError(
        fmt::format("{} start times are given for {} nodes", starts.size(), topology.node_count()));
  for (std::uint32_t n = 0; n < starts.size(); ++n) {
    const Node& node = topology.node(NodeId{n});
    if (starts[n] < Time{}) throw InputError(fmt::format("{} starts before time 0", node.name));
    if (starts[n] == Time{}) continue;
    if (n >= topology.npu_count())
      throw InputError(fmt::format("{} is no NPU, so it can't start late", node.name));
    if (!node.can.store)
      throw InputError(fmt::format("{} can't store, so it can't start late", node.name));
    require_representable(starts[n].ps, Time{});
  }
}

void check_options(const Topology& topology, const IterationOptions& options) {
  if (options.model.discipline != Discipline::fifo)
    throw InputError("workloads run on fifo only; fluid knows no computing");
  check_events(options.events);
  for (const NetworkEvent& event : options.events)
    if (event.kind == NetworkEvent::Kind::npu_down)
      throw InputError(fmt::format("{} at {}: training doesn't survive NPUs that go down",
                                   to_text(event, topology), to_text(event.at)));
  if (!options.compute_shares.empty() && options.compute_shares.size() != topology.npu_count())
    throw InputError(fmt::format("{} computing shares are given for {} NPUs",
                                 options.compute_shares.size(), topology.npu_count()));
  for (const Share share : options.compute_shares)
    if (share.millionths == 0 || share.millionths > 1'000'000)
      throw InputError("a computing share is 0, or more than 1");
  check_starts(topology, options.starts);
  for (const NodeId npu : options.record)
    if (npu.value >= topology.npu_count())
      throw InputError(fmt::format("npu{} can't be recorded: there are {} NPUs", npu.value,
                                   topology.npu_count()));
}

} // namespace

void check_iteration(const Topology& topology, const Workload& workload, const WorkloadPlans& plans,
                     const IterationOptions& options) {
  check_workload(workload, topology.npu_count());
  check_options(topology, options);
  const std::vector<CommunicationRequest> requests = requests_of(workload);
  for (const CommunicationRequest& request : requests)
    if (!std::binary_search(plans.requests.begin(), plans.requests.end(), request))
      throw InputError(fmt::format("there is no plan for {} of {} in group {}",
                                   to_text(request.kind), to_text(request.size), request.group));
}

} // namespace tutti
