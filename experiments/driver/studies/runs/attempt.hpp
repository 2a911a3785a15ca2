// One synthesis with a given number of chunks per shard, or what was remembered of one, and what
// verify() says of it.
#pragma once

#include "experiments/driver/cache/schedule_cache.hpp"
#include "sim/collective.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/verify.hpp"
#include "synth/chunk_choice.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

struct Attempt {
  Collective collective; ///< what the schedule speaks of
  Outcome outcome;
  Verdict verdict;
  double synthesis_seconds = 0, verify_seconds = 0; ///< CPU; without what remembering takes
  bool was_remembered = false;                      ///< the seconds are those of looking it up
  std::uint32_t chunks = 1;  ///< per shard, without AlgorithmRow::chunk_multiple
  bool chose_chunks = false; ///< nobody said how many
  bool may_repeat = false;   ///< AlgorithmRow::imitates
  [[nodiscard]] bool has_schedule() const { return outcome.schedule || outcome.compact; }
  /// Pre: there is a schedule.
  [[nodiscard]] std::size_t transfers() const {
    return outcome.schedule ? outcome.schedule->size() : outcome.compact->size();
  }
  [[nodiscard]] bool usable() const { return has_schedule() && verdict.correct(); }
};

/// So many chunks per shard, times what the algorithm needs (and, with options.choose_chunks, what
/// it chooses). What runs out of memory is out_of_memory with a note; what was cancelled is
/// timed_out with one. Chunks below a byte only because of the algorithm's chunk multiple are
/// unsupported.
/// Errors: InputError of `make` for the given chunks, or for an unknown setting.
[[nodiscard]] Attempt attempt(const AlgorithmRow& algorithm, const Topology& topology,
                              const CollectiveMaker& make, std::uint32_t chunks,
                              const SynthesisOptions& options);

/// Schedule of the outcome as a list, moved out of it or expanded from the compact form; nothing
/// where there is none.
[[nodiscard]] std::optional<Schedule> schedule_of(const Topology& topology,
                                                  const Collective& collective, Outcome& outcome);

/// Whether whoever waits has had enough.
[[nodiscard]] bool is_cancelled(const SynthesisOptions& options);

/// What of an outcome counts.
enum class Wanted : std::uint8_t {
  everything, ///< what was remembered for a network with other names is no answer
  schedule,   ///< its texts may be those of a network with other names
};

/// The same, as remembered, or made now and remembered. What isn't correct is made anew. An outcome
/// that is infeasible or unsupported is remembered as well; one that a limit or a cancellation cut
/// short isn't, nor one that is a defect. Whether it was remembered shows in `was_remembered` and
/// seconds only, and in the texts where only the schedule is wanted.
[[nodiscard]] Attempt attempt(const AlgorithmRow& algorithm, const Topology& topology,
                              const CollectiveMaker& make, std::uint32_t chunks,
                              const SynthesisOptions& options, ScheduleCache& cache, Wanted wanted);

/// With so many chunks per shard; where nobody says (none), with as many as choose_chunks() takes,
/// or the algorithm where it chooses itself. Seconds are those of all tries, and a limit is for all
/// of them. A try with a fault is what comes back, so that it shows. `make` takes chunks per shard,
/// and its InputErrors beyond one chunk mean that it can't be cut so.
/// Errors: as attempt(); those of replays.
[[nodiscard]] Attempt attempt_in_chunks(const AlgorithmRow& algorithm, const Topology& topology,
                                        const CollectiveMaker& make,
                                        std::optional<std::uint32_t> chunks,
                                        const SynthesisOptions& options, ScheduleCache& cache,
                                        Wanted wanted);

/// A schedule that is there already: what verify() says of it. Its redundant copies are nobody's
/// defect. Schedule and collective are moved out of the file. Errors: Stopped.
[[nodiscard]] Attempt given_attempt(const Topology& topology, ScheduleFile& file,
                                    const Watch& watch = {});

/// What our own algorithms must not do: faults and, unless they `may_repeat`, redundant copies, in
/// words; else empty.
[[nodiscard]] std::string verdict_problem(const Verdict& verdict, bool may_repeat = false);
/// The same for an attempt, or what went wrong in somebody else's algorithm; empty without a
/// schedule.
[[nodiscard]] std::string verdict_problem(const Attempt& made);

/// What a long run takes, as far as that is known before it begins: `at least 25 million transfers,
/// some 5 s and 0.25 GB in all`; empty for short ones. 0.2 us a transfer for synthesis,
/// verification and replay together, 8 bytes a (chunk, node) and 2 or 4 a transfer, as meshes of
/// 10^7 to 10^9 transfers by TACOS take them (results/scale/stages).
[[nodiscard]] std::string long_run_text(const Topology& topology, const Collective& collective);

/// CPU seconds that this process and its ended children have used.
[[nodiscard]] double cpu_seconds();

} // namespace tutti
