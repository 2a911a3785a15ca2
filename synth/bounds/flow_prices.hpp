// Lower bounds from flow programs: prices on bandwidth that all paths pay.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/capacity.hpp"
#include "synth/flows/fluid/orbits.hpp"
#include "synth/flows/problem.hpp"

#include <optional>
#include <vector>

namespace tutti {

/// The prices that prove most where latencies are nothing (from solve_flow_program): they don't
/// depend on how the data is cut, so that one program serves both kinds of bounds.
class FlowPrices {
public:
  /// No prices where the program would be too large, or prices can't prove more than cuts.
  /// Deterministic: limited in size, not in time.
  FlowPrices(const Topology& topology, FlowProblem problem, BoundEffort effort);

  /// What they prove (price_bound.hpp) under this time model, where what crosses a link before
  /// `from` is none of the problem's; nothing where that is nothing.
  [[nodiscard]] std::optional<Bound> bound(const TimeModel& model, bounds::Margins margins,
                                           Time from = {}) const;

private:
  const Topology& topology_;
  FlowProblem problem_;
  std::vector<double> prices_;
  std::vector<Representative> representatives_;
};

/// Nothing where the network or the collective is too large to ask.
[[nodiscard]] std::optional<FlowPrices>
flow_prices(const Topology& topology, const Collective& collective, BoundEffort effort);

/// Flows through time, in continuous form: prices that are asked from an instant on.
///
/// Theorem. Let R be the nodes where data of a demand can be by an instant t, or be in flight to:
/// its sources, and the ends of links that leave nodes to which its first byte comes before t, by
/// latencies alone. Prices with which all demands pay P at least when they start at any node of
/// their R prove what price_bound.hpp says, with no entry margin below t.
/// Proof. Take the crossings on a byte's path that begin at t or later. The first of them
/// leaves a node of R: the source, or the end of the crossing before, which began before t at a
/// node to which the byte had come. So they are a path from R to the sink, which pays its share of
/// P; and of what a link carries between t and its exit margin before the end this is part. For
/// demands whose every sink has data of its own (All-to-All, Scatter, Gather). A cut over time
/// (timed_cuts.hpp) is the case of prices on the links across.
struct TimedFlowPrices {
  Time from;
  FlowPrices prices;
};

/// From each of the first 6 instants on at which a first byte comes to a node; only with
/// BoundEffort::full, and nothing in fluid sharing. Cost: a program for each.
[[nodiscard]] std::vector<TimedFlowPrices> flow_prices_over_time(const Topology& topology,
                                                                 const Collective& collective,
                                                                 const TimeModel& model,
                                                                 BoundEffort effort);

} // namespace tutti
