// A workload's plans with the transport of a runtime (sim/transport/transport.hpp): the same plans
// on a network with lanes, so that whoever simulates an iteration knows nothing of transports.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/iteration.hpp"
#include "sim/network_event.hpp"
#include "sim/report.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/transport/transport.hpp"

#include <span>
#include <vector>

namespace tutti {

/// On the network that a plan was made on: its time on a network that is otherwise idle, and for
/// how long its transfers occupy links, summed over links.
struct PlanTimes {
  Time alone, busy;
};
/// By the native engine. Under a transport (null: ideal links) the launch counts, and a plan of no
/// library goes by the protocol that is fastest for it, which its `library` then says: what
/// one NPU sends to another by LL or Simple, as NCCL has it (enqueue.cc), else by any.
/// Errors: InputError as transported().
[[nodiscard]] PlanTimes timed(const Topology& network, CommunicationPlan& plan, bool is_send,
                              const Transport* transport, const TimeModel& model,
                              const RunOptions& options);

/// Lanes stand behind the network's own links, which nothing crosses any more.
struct TransportedPlans {
  Topology topology;
  WorkloadPlans plans;
  std::vector<LinkId> original; ///< [link]: the one that it is a lane of
  std::vector<Bandwidth> wires; ///< [link]: the rate at which its plan's protocol fills that one
};

/// Each plan has lanes of its own, at the pace of its protocol and chunks; requests that share a
/// plan have them together. Lanes of several plans on one link, or in one shared group, have
/// together what the protocol that fills it most leaves of its bandwidth.
/// Pre: plans have their `library` (timed()). Errors: InputError as transported().
/// Cost: O(requests x links of each + transfers of all plans).
[[nodiscard]] TransportedPlans transported(const Topology& topology, const WorkloadPlans& plans,
                                           const Transport& transport);

/// Links that go down or up take their lanes with them. Errors: InputError for other events: what a
/// runtime makes of links that change their rates or latencies nobody has measured.
[[nodiscard]] std::vector<NetworkEvent> on_lanes(const TransportedPlans& plans,
                                                 std::span<const NetworkEvent> events);

/// The use of the network's own links, of that of all lanes: busy as long as data keeps the wire of
/// its plan.
[[nodiscard]] std::vector<LinkUse> without_lanes(const TransportedPlans& plans,
                                                 std::span<const LinkUse> lanes, std::size_t links);

} // namespace tutti
