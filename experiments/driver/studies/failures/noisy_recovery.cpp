// Draws are spread over threads, each of which plans alone: what a planner shows to those who wait
// is left out, and whether it shall end is asked of them.
#include "experiments/driver/studies/failures/noisy_recovery.hpp"

#include "experiments/driver/studies/noise/request.hpp"
#include "sim/engines/agreement.hpp"
#include "synth/bounds/late_start.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

namespace {

/// Check of times against the bound of the whole collective; it accepts any time of a plan for what
/// is left, which has no bound of its own here.
BoundCheck bound_check(const EngineRow& engine, const Collective& whole,
                       std::span<const Time> starts) {
  return [&engine, &whole, starts](const Topology& network, const Collective& collective,
                                   const TimeModel& model, Time time) -> std::string {
    if (&collective != &whole) return {};
    const Bound bound = late_start_bound(network, whole, model, starts);
    if (time + rounding_of(engine, network, whole, bound.time) >= bound.time) return {};
    return fmt::format("it takes {}, below the lower bound {} ({})", to_text(time),
                       to_text(bound.time), bound.certificate);
  };
}

SynthesisOptions planning_of(const FailureCase& c, const Watch& watch) {
  SynthesisOptions planning = c.options;
  planning.threads = 1;
  planning.progress = {};
  planning.stage = {};
  planning.cancelled = [&c, &watch] { return is_cancelled(c.options) || watch({}); };
  return planning;
}

} // namespace

void add_noisy_recoveries(const NoisyRecovery& noisy, std::span<const NetworkEvent> events,
                          const Recovery& quiet, std::vector<NoiseOutcome>& outcomes,
                          std::string& problem) {
  const FailureCase& c = noisy.c;
  const EngineRow& engine = *c.engines.front();
  const auto run = [&](const DrawnConditions& drawn, const Watch& watch) {
    const SynthesisOptions planning = planning_of(c, watch);
    Reaction reaction = reaction_of(c, quiet.policy, planning);
    reaction.watch = watch;
    reaction.beaten_bound = bound_check(engine, noisy.collective, drawn.starts);
    reaction.starts = drawn.starts;
    const Recovery recovery = noisy.function(engine, drawn.network, noisy.collective,
                                             noisy.schedule, c.options.model, events, reaction);
    if (planning.cancelled()) throw Stopped(); // a plan may be missing
    return Draw{recovery.complete() ? recovery.completion : Draw::never, recovery.last_start, "",
                recovery.problem};
  };
  NoisePlan plan;
  plan.topology = c.topology;
  plan.members = members_of(noisy.collective);
  plan.starts.assign(noisy.starts.begin(), noisy.starts.end());
  plan.threads = engine.knows_fluid ? 1 : c.draw_threads; // SimGrid: one engine per process
  draw_noise(std::move(plan), c.noise, noisy.lower_bound,
             quiet.complete() ? quiet.completion : Time{}, run, c.options.stage,
             fmt::format("{} on {}", to_text(quiet.policy), engine.name), outcomes, problem);
}

} // namespace tutti
