// How finely shards are cut where nobody says it: one rule for every command, for experiments and
// for whoever links the library.
//
// More chunks per shard overlap: what one chunk leaves idle, the next one fills. Fewer chunks pay
// less often for latency, and cost less to plan. For one message of n bytes over d hops of latency
// alpha and bandwidth B the time is (d + K - 1) (alpha + n / (K B)), least at
// K = sqrt((d - 1) n / (alpha B)) (Sanders, Speck, Traff 2009, Parallel Computing 35(12), sec. 2).
// The time of a schedule is no such curve of K: numbers that its trees, phases or dimensions divide
// are better than their neighbours, and a model of it, from the latencies and the busiest link of
// the schedule with one chunk, missed numbers that were up to 3 times as fast. So numbers are
// tried, and what a try costs is bounded by a count: all candidates together plan 3.4 times what
// the finest one does.
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"
#include "sim/work_limit.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tutti {

/// More than one chunk per shard is tried only while the schedules of all tries together, that with
/// one chunk included, have no more transfers. Never a clock: the same choice everywhere.
inline constexpr std::uint64_t most_tried_transfers = 16'000'000;
/// A choice plans no more than so many times the transfers of the finest candidate that can be cut.
inline constexpr std::uint64_t most_tried_of_finest = 4;
/// Chunks per shard that the rule takes at most.
inline constexpr std::uint32_t most_chosen_chunks = 64;

/// The numbers of chunks per shard that are worth a try on a network of so many dimensions, from 2
/// to most_chosen_chunks, ascending: 2^i and 3 * 2^i, which most numbers of trees, phases and rails
/// divide or are divided by, and dimensions * 2^i.
[[nodiscard]] std::vector<std::uint32_t> chunk_candidates(std::size_t dimensions);

/// A collective with so many chunks per shard. Errors: InputError where that is too fine.
using CollectiveMaker = std::function<Collective(std::uint32_t)>;

/// What somebody made of a number of chunks per shard. Exactly one of both schedules is given.
struct ChunkedSchedule {
  const Collective* collective = nullptr;
  const Schedule* schedule = nullptr;
  const CompactSchedule* compact = nullptr;
};

/// Makes a correct schedule with so many chunks per shard; nothing where there is none (too fine,
/// no time left). What it points to stays valid until the next call.
using MakeInChunks = std::function<std::optional<ChunkedSchedule>(std::uint32_t)>;

struct ChunkChoice {
  std::uint32_t chunks = 1;
  std::uint64_t tried_transfers = 0; ///< of all that was made, with one chunk included
  /// The first candidate that was left out since the count of transfers was used up; 0: none was.
  std::uint32_t left_out = 0;
};

/// The rule. `make` is called with 1 first, then with the candidates, ascending. A try takes the
/// place of the best so far where it is faster by more than 1 % (native engine, fifo): the choice
/// never is slower than one chunk. It ends where no number up to four times the best so far is any
/// better, where no more than 1 % is left over the lower bound or the caller's `known_bound`, where
/// the next try could exceed most_tried_transfers (`transfers_before` count, too) or
/// most_tried_of_finest; and where `stage`, which hears of replays, says so, with the best so far.
/// A collective that `cut` doesn't cut any finer has one chunk. With `candidates` of the
/// algorithm's own, the first of them takes the place of 1. Cost: beside the tries a replay of
/// each, and a lower bound. Errors: those of `make`, of replays, of `cut` with one chunk.
[[nodiscard]] ChunkChoice choose_chunks(const Topology& topology, const TimeModel& model,
                                        const CollectiveMaker& cut, const MakeInChunks& make,
                                        std::uint64_t transfers_before = 0,
                                        const StageWatch& stage = {},
                                        std::vector<std::uint32_t> candidates = {},
                                        Time known_bound = {});
/// The algorithm's own; none: as the rule has them.
[[nodiscard]] std::vector<std::uint32_t> own_candidates(const AlgorithmRow& row,
                                                        const Topology& topology,
                                                        const Collective& collective,
                                                        const SynthesisOptions& options);

/// Whether `cut` makes more chunks of it than it has with one per shard (not of a file's).
[[nodiscard]] bool can_be_cut(const Collective& collective, const CollectiveMaker& cut);

/// Whether an algorithm chooses itself (SynthesisOptions::choose_chunks): of one named collective
/// that can be cut. `collective`: that with one chunk per shard.
[[nodiscard]] bool chooses_chunks(const AlgorithmRow& row, const Collective& collective,
                                  const CollectiveMaker& cut);

/// Marks the outcome of a schedule whose number of chunks was still being chosen when the limit
/// came: timed_out, with a note that says so.
void mark_cut_short(Outcome& outcome);

/// Adds to the note what the count of transfers has left out, if anything.
void note_what_was_left_out(const ChunkChoice& choice, Outcome& outcome);

/// Options for the next of several tries that share a limit of seconds.
[[nodiscard]] SynthesisOptions with_rest(const SynthesisOptions& options, const WorkLimit& limit);

struct ChunkedOutcome {
  Collective collective; ///< what the outcome's schedule speaks of
  Outcome outcome;
  std::uint32_t chunks =
      1; ///< per shard, times AlgorithmRow::chunk_multiple; Outcome::parts_per_chunk included
  std::uint64_t tried_transfers =
      0; ///< ChunkChoice::tried_transfers; 0 where the algorithm chooses
};

/// synthesize() in as many chunks per shard as the rule takes, or as the algorithm chooses where it
/// does. `make` takes chunks per shard. A limit is for all tries together: where it ends them, the
/// outcome is timed_out and says so. Nothing is verified.
/// Errors: those of `make` with AlgorithmRow::chunk_multiple, of synthesize() and of replays.
[[nodiscard]] ChunkedOutcome synthesize_in_chunks(const AlgorithmRow& row, const Topology& topology,
                                                  const CollectiveMaker& make,
                                                  const SynthesisOptions& options);

} // namespace tutti
