// Random events, jobs, late starts, routes, freezes and dependencies for a small case, at instants
// at which other things happen too.
#pragma once

#include "sim/engines/engine.hpp"
#include "tests/sim/random_case.hpp"

#include <optional>
#include <vector>

namespace tutti::testing {

struct Disturbance {
  std::vector<NetworkEvent> events;
  std::vector<JobTiming> jobs;
  std::vector<Time> starts;
  std::vector<RouteChange> route_changes;
  std::optional<Time> freeze;
  Time begin;

  /// The run may halt. Refers to this disturbance.
  [[nodiscard]] RunOptions options() const;
};

/// Adds the paths of new routes to the case's schedule and cuts its collective in parts.
[[nodiscard]] Disturbance random_disturbance(std::uint64_t seed, RandomCase& disturbed);

} // namespace tutti::testing
