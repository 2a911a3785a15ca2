// Random small workloads whose communication takes place by random schedules, with everything that
// the semantics know; and a check of a run of one, step by step, that shares nothing with the
// engine but the replay of schedules.
#pragma once

#include "sim/iteration.hpp"
#include "sim/network_event.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::testing {

struct RandomWorkload {
  Topology topology;
  Workload workload;
  WorkloadPlans plans;
  TimeModel model;
  std::vector<NetworkEvent> events;
  std::vector<Share> compute_shares;
  std::vector<Time> starts; ///< per node, or empty
  bool one_at_a_time = false;

  /// Records everything. Refers to this workload.
  [[nodiscard]] IterationOptions options(bool fold) const;
  std::vector<NodeId> npus; ///< all

  [[nodiscard]] Time start_of(std::uint32_t npu) const {
    return starts.empty() ? Time{} : starts[npu];
  }
};

/// `disturbed`: with events and shares. Every link that goes down comes up again.
[[nodiscard]] RandomWorkload random_workload(std::uint64_t seed, bool disturbed);

/// From then on some NPUs start late.
void delay_starts(RandomWorkload& random, std::uint64_t seed);

/// Empty, or what is wrong with a run in which everything was recorded: an operation that is
/// reached, begins or ends when it shouldn't, given when the others do.
[[nodiscard]] std::string fault_of(const RandomWorkload& random, const IterationReport& report);

} // namespace tutti::testing
