// How finely shards are cut where nobody says it: one rule for every command, for experiments and
// for whoever links the library.
//
// More chunks per shard overlap: what one chunk leaves idle, the next one fills. Fewer chunks pay
// less often for latency, and cost less to plan. For one message of n bytes over d hops of latency
// alpha and bandwidth B the time is (d + K - 1) (alpha + n / (K B)), least at
// K = sqrt((d - 1) n / (alpha B)) (Sanders, Speck, Traff 2009, Parallel Computing 35(12), sec. 2).
// A schedule has no single d. What takes its place comes from two replays of the schedule with one
// chunk per shard: with its sizes, and with chunks of one byte.
//
//   T  the time that it takes
//   L  the time with chunks of one byte: latencies alone; S = T - L
//   w  what the busiest link sends
//   o  latencies that it is busy with (0 unless the model says so)
//   m  the transfers that cross it
//
//   P(K) = L + S/K + (K - 1) (o + w/K)
//     One wave of chunks after the other; of the message above exactly its time.
//   E(K) = max(L + S/K, w (1 - (1 - 1/K) / m) + K o)
//     Waves fill all that others leave idle, and a link carries as much as a chunk less, since its
//     share need no more be whole chunks.
//
// E says whether K chunks can win at all, and both how far it pays to go on.
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
/// one chunk included, have fewer transfers. Never a clock: the same choice everywhere.
inline constexpr std::uint64_t most_tried_transfers = 4'000'000;
/// Chunks per shard that the rule takes at most.
inline constexpr std::uint32_t most_chosen_chunks = 64;

/// T, L, w, o and m of above.
struct PipelineFigures {
  Time whole, latency, busy, busy_latency;
  std::uint64_t crossings = 0;
};

/// The numbers of chunks per shard above 1, all powers of two, that may be faster than one by more
/// than 1 %, as far as another doubling may gain more than 1 %. Ascending.
[[nodiscard]] std::vector<std::uint32_t> chunk_candidates(const PipelineFigures& figures);

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
};

/// The rule. `make` is called with 1 first, then with the candidates, ascending. A try takes the
/// place of the best so far where it is faster by more than 1 % (native engine, fifo): the choice
/// never is slower than one chunk. It ends after two tries in a row that aren't, where no more than
/// 1 % is left over the lower bound of the finest cut, and where the next try could exceed
/// most_tried_transfers; `transfers_before` count, too; and where `stage`, which hears of replays,
/// says so, with the best so far. A collective that `cut` doesn't cut any finer has one chunk.
/// Cost: beside the tries two replays with one chunk and a lower bound.
/// Errors: those of `make`, of replays, of `cut` with one chunk.
[[nodiscard]] ChunkChoice choose_chunks(const Topology& topology, const TimeModel& model,
                                        const CollectiveMaker& cut, const MakeInChunks& make,
                                        std::uint64_t transfers_before = 0,
                                        const StageWatch& stage = {});

/// Whether `cut` makes more chunks of it than it has with one per shard (not of a file's).
[[nodiscard]] bool can_be_cut(const Collective& collective, const CollectiveMaker& cut);

/// Whether an algorithm chooses itself (SynthesisOptions::choose_chunks): of one named collective
/// that can be cut. `collective`: that with one chunk per shard.
[[nodiscard]] bool chooses_chunks(const AlgorithmRow& row, const Collective& collective,
                                  const CollectiveMaker& cut);

/// Of a schedule whose number of chunks was still being chosen when the limit came: timed_out, with
/// a note that says so.
void mark_cut_short(Outcome& outcome);

/// Options for the next of several tries that share a limit of seconds.
[[nodiscard]] SynthesisOptions with_rest(const SynthesisOptions& options, const WorkLimit& limit);

struct ChunkedOutcome {
  Collective collective; ///< what the outcome's schedule speaks of
  Outcome outcome;
  std::uint32_t chunks =
      1; ///< per shard, times AlgorithmRow::chunk_multiple; Outcome::parts_per_chunk included
};

/// synthesize() in as many chunks per shard as the rule takes, or as the algorithm chooses where it
/// does. `make` takes chunks per shard. A limit is for all tries together: where it ends them, the
/// outcome is timed_out and says so. Nothing is verified.
/// Errors: those of `make` with AlgorithmRow::chunk_multiple, of synthesize() and of replays.
[[nodiscard]] ChunkedOutcome synthesize_in_chunks(const AlgorithmRow& row, const Topology& topology,
                                                  const CollectiveMaker& make,
                                                  const SynthesisOptions& options);

} // namespace tutti
