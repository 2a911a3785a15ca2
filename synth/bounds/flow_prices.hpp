// Lower bounds from flow programs: prices on bandwidth that all ways pay.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/capacity.hpp"
#include "synth/flows/flow_orbits.hpp"
#include "synth/flows/flow_problem.hpp"

#include <optional>
#include <vector>

namespace tutti {

/// The prices that prove most where latencies are nothing (from solve_flow_program): they don't
/// depend on how the data is cut, so that one program serves both kinds of bounds.
class FlowPrices {
public:
  /// No prices where the program would be too large, or prices can't prove more than cuts.
  /// Deterministic: limited in size, not in time.
  FlowPrices(const Topology& topology, const Collective& collective, BoundEffort effort);

  /// What they prove (price_bound.hpp) under this time model; nothing where that is nothing.
  [[nodiscard]] std::optional<Bound> bound(const TimeModel& model,
                                           const bounds::Margins& margins) const;

private:
  const Topology& topology_;
  FlowProblem problem_;
  std::vector<double> prices_;
  std::vector<Representative> representatives_;
};

/// Nothing where the network or the collective is too large to ask.
[[nodiscard]] std::optional<FlowPrices>
flow_prices(const Topology& topology, const Collective& collective, BoundEffort effort);

} // namespace tutti
