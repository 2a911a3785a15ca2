// A schedule replayed again and again with what differs from run to run: start times and links of
// another draw each time, or routes by another seed of a hash.
#pragma once

#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What is replayed, and how; nothing is owned.
struct NoisyReplay {
  const Topology& topology;
  const Collective& collective;
  const Schedule& schedule;
  TimeModel model;
  const EngineRow& engine;
  std::span<const Time> starts; ///< per node, or empty
};

/// An outcome for each skew, added to the same replay without noise. SimGrid has one thread,
/// whatever `threads` says. A time below a bound that honours the draw's starts and links is a
/// defect in `problem`. Errors: as EngineFunction; Stopped, with the outcomes that are complete.
void add_noisy_replays(const NoisyReplay& replay, const NoiseRequest& request, unsigned threads,
                       const StageWatch& stage, Replay& quiet, std::string& problem);

/// The times of the first replay under 15 seeds that follow that of the case, each made with as
/// many chunks; less where some have no schedule. Empty where routes aren't chosen by a hash, or
/// the algorithm takes none. Cost: that many syntheses, verifications and replays.
[[nodiscard]] std::vector<Time> times_of_other_seeds(const Case& c, const Attempt& made);

} // namespace tutti
