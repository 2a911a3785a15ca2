// A planner that finds no way is no error here: the policy then goes on without a new plan.
#include "experiments/driver/studies/failures/reaction.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/error.hpp"

#include <utility>

namespace tutti {

namespace {

// For recover(), which asks for a plan of what is left on the network that is left.
Outcome plan_anew(const FailureCase& c, const SynthesisOptions& planning, const Topology& network,
                  const Collective& collective) {
  const SynthesisOptions options = options_for(c.planner, planning);
  Outcome outcome;
  try {
    outcome = synthesize(c.planner, network, collective, options);
  } catch (const InputError& error) { // the network no longer joins those who take part
    return infeasible(error.what());
  }
  outcome.schedule = schedule_of(network, collective, outcome);
  outcome.compact.reset();
  return outcome;
}

} // namespace

std::optional<Schedule> schedule_of(const Topology& topology, const Collective& collective,
                                    Outcome& outcome) {
  if (outcome.schedule) return std::move(outcome.schedule);
  if (outcome.compact) return expanded(topology, collective, *outcome.compact);
  return std::nullopt;
}

Reaction reaction_of(const FailureCase& c, Policy policy, const SynthesisOptions& planning) {
  return {policy, c.detection, c.decision,
          [&](const Topology& network, const Collective& collective) {
            return plan_anew(c, planning, network, collective);
          }};
}

bool is_cancelled(const FailureCase& c) { return c.options.cancelled && c.options.cancelled(); }

} // namespace tutti
