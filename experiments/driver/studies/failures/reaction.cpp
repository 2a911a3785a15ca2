// A planner that isn't made for what is left is no error here: TACOS plans it, which takes
// anything. Where it finds no way either, the policy goes on without a new plan.
#include "experiments/driver/studies/failures/reaction.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "sim/compact_schedule.hpp"

#include <utility>

namespace tutti {

namespace {

// For recover(), which asks for a plan of what is left on the network that is left.
Planner planner_by(AlgorithmRow row, const SynthesisOptions& planning) {
  return [row = std::move(row), &planning](const Topology& network, const Collective& collective) {
    Outcome outcome = synthesize(row, network, collective, options_for(row, planning));
    outcome.schedule = schedule_of(network, collective, outcome);
    outcome.compact.reset();
    return outcome;
  };
}

} // namespace

std::optional<Schedule> schedule_of(const Topology& topology, const Collective& collective,
                                    Outcome& outcome) {
  if (outcome.schedule) return std::move(outcome.schedule);
  if (outcome.compact) return expanded(topology, collective, *outcome.compact);
  return std::nullopt;
}

Reaction reaction_of(const FailureCase& c, Policy policy, const SynthesisOptions& planning) {
  Reaction reaction{policy, c.detection, c.decision, planner_by(c.planner, planning)};
  if (c.planner.name != fallback_planner)
    reaction.fallback = planner_by(find_algorithm(fallback_planner), planning);
  return reaction;
}

bool is_cancelled(const FailureCase& c) { return c.options.cancelled && c.options.cancelled(); }

} // namespace tutti
