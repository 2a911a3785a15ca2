// Pareto synthesis (Cai et al. 2021, sec. 3.7, Algorithm 1), with proofs: for each number of steps
// the least rounds per chunk.
#pragma once

#include "sim/collective.hpp"
#include "sim/error.hpp"
#include "sim/ratio.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Why nothing with these steps can have fewer rounds per chunk.
enum class PointProof : std::uint8_t {
  lp_tight,     ///< no schedule whatever its chunks and rounds: equals the time-expanded LP's bound
  unsat_proven, ///< none with at most S + k rounds: every better one was proven impossible
  best_found,   ///< better ones were not decided within the limits
};
[[nodiscard]] std::string_view to_text(PointProof proof); ///< "LP-tight", "UNSAT-proven", ...

struct FrontierPoint {
  std::uint32_t chunks_per_shard = 1;  ///< parts that every shard is cut in
  std::uint32_t chunks = 1;            ///< C as the paper counts: chunks of one NPU's buffer
  std::uint32_t steps = 1, rounds = 1; ///< S, R
  PointProof proof = PointProof::best_found;
  bool latency_optimal = false;   ///< no schedule has fewer steps
  bool bandwidth_optimal = false; ///< no schedule at all has fewer rounds per chunk
  Ratio least; ///< what the LP proves for these steps: rounds per chunk that no schedule beats
  std::string method; ///< "SAT, 8-fold symmetric", "integer flow", ...
  double seconds = 0; ///< CPU, of this instance: encode, solve, check
  Schedule schedule;  ///< for the collective cut in `chunks_per_shard`

  [[nodiscard]] Ratio cost() const; ///< R / C
};

/// One instance that was asked.
struct FrontierTrial {
  std::uint32_t chunks, steps, rounds;
  std::string answer; ///< "sat", "unsat", "timed_out"
  std::string method;
  double seconds; ///< CPU
};

struct Frontier {
  std::vector<FrontierPoint> points; ///< ascending in steps, falling in rounds per chunk
  std::vector<FrontierTrial> trials; ///< in their order
  Ratio bandwidth_bound;             ///< rounds per chunk that no schedule can beat: the static LP
  bool complete = false; ///< no further point exists (in the class of k); none was left undecided
  bool timed_out = false;
  std::string stop;     ///< why it ends where it does, in words
  std::string in_class; ///< what optimality refers to where not to all schedules; else empty
  Time step_latency;    ///< alpha of the cost model
  Bandwidth round;      ///< 1 / beta

  /// S * alpha + R / C * L * beta, where chunks of this size are the point's C to a buffer of L.
  [[nodiscard]] Time model_time(const FrontierPoint& point, Bytes chunk_size) const;
};

/// How many chunks of one NPU's buffer the paper counts for each chunk of a shard: as many as there
/// are members for All-to-All and All-Reduce, else 1.
[[nodiscard]] std::uint32_t counted_chunks(const CollectivePart& part);

/// Why there can be no frontier: several collectives at once, chunks with several roots where they
/// reduce, or more than 2 * 10^7 deliveries times paths between nodes. Empty where there can.
[[nodiscard]] std::string frontier_obstacle(const Topology& topology, const Collective& collective);

/// One of Algorithm 1's instances, or all.
struct FrontierRequest {
  /// The paper's k: at most steps + k rounds. None: 6 more than the steps or than the chunks need
  /// at least, and beyond that, with symmetries only, the smallest instances of at most 128 rounds
  /// that meet the bound of the steps exactly.
  std::optional<std::uint32_t> slack;
  std::optional<std::uint32_t> most_steps; ///< none: until nothing more can be gained, or 4 steps
                                           ///< beyond the fewest
  std::optional<std::uint32_t> chunks_per_shard;   ///< only these
  std::int64_t most_chunks_per_shard = UINT32_MAX; ///< as many as a chunk has bytes
  std::optional<std::uint32_t> steps;              ///< only these
  std::optional<std::uint32_t> rounds; ///< only these; needs `steps` and `chunks_per_shard`
  bool symmetric = true;               ///< try schedules that keep automorphisms first
  std::int64_t effort = 50'000;        ///< conflicts (100 for a tree node) for each instance
  /// Sends of one chunk of each orbit (chunks x lanes x steps) of the largest instance to try.
  std::int64_t largest = 40'000;
  std::string proof_file;                          ///< DRAT of an unsat answer to one instance
  std::function<void(const FrontierPoint&)> found; ///< called for each new point; may be empty
};

/// The frontier of one named or custom collective, given with one chunk per shard. Its size is the
/// largest of interest: where a step more costs more time than fewer rounds could ever save, the
/// search ends. Reduce-Scatter, Reduce and what else has one root per chunk: the frontier of the
/// inverse on the reversed topology, inverted (sec. 3.5). All-Reduce: what can be composed of
/// those of Reduce-Scatter and All-Gather.
/// Errors: InputError for rounds < steps, `rounds` without `steps` and `chunks_per_shard`, an
/// obstacle; OutOfReach.
[[nodiscard]] Frontier synthesize_frontier(const Topology& topology, const Collective& collective,
                                           const FrontierRequest& request,
                                           const SynthesisOptions& options);

/// What `--set` says: k, max_steps, steps, rounds, symmetric, effort, largest,
/// proof.
/// Errors: InputError for a bad value, rounds without steps.
[[nodiscard]] FrontierRequest frontier_request(const SynthesisOptions& options);

} // namespace tutti
