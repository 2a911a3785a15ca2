// One synthesis with a given number of chunks per shard, or what was remembered of one, and what
// verify() says of it.
#pragma once

#include "experiments/schedule_cache.hpp"
#include "sim/collective.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/verify.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace tutti {

/// The same collective with so many pieces per shard.
/// Errors: InputError where parts are below one byte.
using CollectiveMaker = std::function<Collective(std::uint32_t pieces)>;

struct Attempt {
  Collective collective; ///< what the schedule speaks of
  Outcome outcome;
  Verdict verdict;
  double synthesis_seconds = 0, verify_seconds = 0; ///< CPU; without what remembering takes
  bool was_remembered = false;                      ///< the seconds are those of looking it up
  [[nodiscard]] bool has_schedule() const { return outcome.schedule || outcome.compact; }
  [[nodiscard]] bool usable() const { return has_schedule() && verdict.correct(); }
};

/// So many chunks per shard, times what the algorithm needs (and, with options.choose_pieces, what
/// it chooses). What runs out of memory is timed_out with a note, and so is what was cancelled.
/// Chunks below a byte only because the algorithm wants several pieces are infeasible.
/// Errors: InputError of `make` for the given chunks, for an unknown setting, an NPU out of reach.
[[nodiscard]] Attempt attempt(const AlgorithmRow& algorithm, const Topology& topology,
                              const CollectiveMaker& make, std::uint32_t chunks,
                              const SynthesisOptions& options);

/// What of an outcome counts.
enum class Wanted : std::uint8_t {
  everything, ///< what was remembered for a network with other names is no answer
  schedule,   ///< its texts may be those of a network with other names
};

/// The same, as remembered, or made now and remembered. What isn't correct is made anew. An
/// infeasible outcome is remembered as well; one that a limit or a cancellation cut short isn't,
/// nor one that is a defect. Whether it was remembered shows in `was_remembered` and seconds only,
/// and in the texts where only the schedule is wanted.
[[nodiscard]] Attempt attempt(const AlgorithmRow& algorithm, const Topology& topology,
                              const CollectiveMaker& make, std::uint32_t chunks,
                              const SynthesisOptions& options, ScheduleCache& cache, Wanted wanted);

/// What our own algorithms must not do: faults and redundant copies, in words; else empty.
[[nodiscard]] std::string verdict_problem(const Attempt& made);

/// CPU seconds that this process and its ended children have used.
[[nodiscard]] double cpu_seconds();

} // namespace tutti
