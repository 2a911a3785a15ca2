// A Pareto frontier (SCCL, Cai et al. 2021, Table 4 and 5) from synthesis to crossover sizes: every
// point's schedule is verified, bounded and replayed over a range of sizes. Nothing here trusts the
// synthesizer.
#pragma once

#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/frontiers/size_crossovers.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "sim/engines/engine.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "synth/sccl/frontier.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What to make a frontier of, and where to try its points.
struct FrontierCase {
  std::string label;                  ///< of an experiment; may be empty
  std::string topology_label;         ///< stands in reports
  const Topology* topology = nullptr; ///< not owned; outlives the case
  std::string collective;             ///< a name with its options, or a file
  std::vector<Bytes> sizes;           ///< ascending, at least one; for a file only the file's own
  SynthesisOptions options;
  std::vector<const EngineRow*> engines; ///< at least one; all must say the same
};

/// The case's collective at one size, with so many chunks per shard.
/// Errors: InputError for chunks below a byte, a file that should be cut, and as make_collective().
[[nodiscard]] Collective collective_of(const FrontierCase& c, Bytes size,
                                       std::uint32_t chunks_per_shard);

/// What the settings of the case ask for. A collective from a file isn't cut.
/// Errors: InputError for a bad setting.
[[nodiscard]] FrontierRequest request_of(const FrontierCase& c);

/// Checks what can be checked in no time, so that bad input shows before hours of work: that the
/// topology holds the collective at its largest size and joins its members. Errors: InputError.
void require_sound(const FrontierCase& c);

/// A point at one size.
struct SizedPoint {
  Bytes size;
  Time model;                                    ///< S * alpha + R / C * L * beta
  Replay replay;                                 ///< on the first engine
  std::vector<Time> completions;                 ///< on each engine
  std::optional<EngineAgreement> agreement = {}; ///< of two engines
};

struct PointEvaluation {
  std::uint64_t transfers = 0;
  bool verified = false;
  std::vector<SizedPoint> at; ///< ascending; without sizes that can't be cut so finely
};

struct FrontierEvaluation {
  std::string label, topology;
  std::string collective; ///< as asked for, without its size
  std::uint32_t npus = 0;
  std::vector<Bytes> sizes;         ///< as asked for
  std::vector<std::string> engines; ///< as in FrontierCase
  TimeModel model;
  Frontier frontier;
  std::vector<PointEvaluation> points; ///< of frontier.points
  std::vector<BestFrom> best;          ///< of `points`, by time on the native engine
  double synthesis_seconds = 0;        ///< CPU, of everything: also bounds and what has no schedule
  double verify_seconds = 0, replay_seconds = 0; ///< CPU
  /// A defect of Tutti in words (a fault, redundant copies, a time below its bound, engines that
  /// disagree); empty where all is well.
  std::string problem;
};

/// `(6,3,7)`: chunks, steps and rounds, as the paper names its algorithms.
[[nodiscard]] std::string instance_text(std::uint32_t chunks, std::uint32_t steps,
                                        std::uint32_t rounds);
[[nodiscard]] std::string instance_text(const FrontierPoint& point);

/// Verifies, bounds and replays every point. What is best where is found between the smallest and
/// the largest size, not only at those given. Pre: the case's topology made the frontier.
/// Cost: a replay per point, size and engine, some 30 more per point and crossover.
[[nodiscard]] FrontierEvaluation evaluate_points(const FrontierCase& c, Frontier frontier);

/// What synthesizes: synthesize_frontier(), but for tests.
using FrontierFunction = std::function<Frontier(const Topology&, const Collective&,
                                                const FrontierRequest&, const SynthesisOptions&)>;

/// Synthesizes for the largest size, then the above. What runs out of memory is timed out.
/// Errors: InputError for bad input (an unknown setting, a collective without a frontier).
[[nodiscard]] FrontierEvaluation
evaluate_frontier(const FrontierCase& c, const FrontierRequest& request,
                  const FrontierFunction& function = synthesize_frontier);

} // namespace tutti
