// A collective through the same events again and again, with start times and links of another draw
// each time.
#pragma once

#include "experiments/driver/studies/failures/evaluation.hpp"
#include "experiments/driver/studies/noise/draws.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Who recovers from what; nothing is owned.
struct NoisyRecovery {
  const FailureCase& c;
  const Collective& collective;
  const Schedule& schedule;
  std::span<const Time> starts; ///< per node, or empty: given ones
  Time lower_bound;             ///< of the undisturbed run, for skews that are times it
  const RecoverFunction& function;
};

/// Adds an outcome for each skew, by the first engine: SimGrid on one thread, whatever the case
/// says. `quiet` is the same policy without what is drawn. Events happen when they did there. A
/// draw that isn't complete never ends (Draw::never); last starts are those of members that live.
/// What is wrong in a draw, also a time below a bound that honours its starts and links, is in
/// `problem`.
/// Cost: of a policy that plans anew, a synthesis for each answer in each draw.
/// Errors: those of RecoverFunction; Stopped, also where a plan was cut short by who waits, with
/// the outcomes that are complete.
void add_noisy_recoveries(const NoisyRecovery& noisy, std::span<const NetworkEvent> events,
                          const Recovery& quiet, std::vector<NoiseOutcome>& outcomes,
                          std::string& problem);

} // namespace tutti
