// One algorithm for one collective on one topology, from synthesis to report: synthesize, verify,
// bound, replay. Nothing here trusts an algorithm: every schedule is verified before it is
// replayed, and every time is held against the lower bound.
#pragma once

#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "sim/engines/engine.hpp"
#include "sim/report.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/transport/transport.hpp"
#include "synth/bounds/bounds.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What no schedule is faster than.
struct ShownBound {
  Time time;
  std::string kind;        ///< "in-cut", ...
  std::string certificate; ///< in words

  /// completion / bound, 1 where it is below by no more than `rounding`; NaN where the bound is 0.
  [[nodiscard]] double gap(Time completion, Time rounding) const;
  bool operator==(const ShownBound&) const = default;
};

/// Bounds that another case has needed, for the same collective, size and network.
struct KnownBounds {
  TimeModel model;
  std::uint32_t chunks_per_shard = 0;
  ShownBound any, at_chunks;
};

/// Where the timelines of a case's replays go (trace.hpp): the events of each in a file of its own,
/// from which whoever asked makes one.
struct TraceParts {
  std::string folder;              ///< empty: none are wanted
  std::uint32_t first_process = 1; ///< of the viewer: the number of the first replay, and its file

  [[nodiscard]] std::string file(std::size_t replay) const;
  /// Where it says what such a file leaves out; nothing where there is no such file.
  [[nodiscard]] static std::string left_out_of(const std::string& file);
};

/// What is changed of a schedule before it is replayed, to see what it is worth.
struct ScheduleChange {
  bool relays_send = false;        ///< relayed(): NPUs on paths don't forward in hardware
  bool drops_dependencies = false; ///< queues alone decide then
  /// The collective that it is planned for: its chunks get the sizes of the case's afterwards;
  /// empty: the case's itself.
  std::string planned_for = {};
};

/// What to evaluate.
struct Case {
  std::string run;                    ///< label of its matrix in an experiment; may be empty
  std::string topology_label;         ///< stands in reports
  const Topology* topology = nullptr; ///< not owned; outlives the case
  CollectiveRequest collective;
  AlgorithmRow algorithm;
  /// Chunks per shard, times what the algorithm needs; none: auto, as attempt_in_chunks() says.
  std::optional<std::uint32_t> chunks = 1;
  /// What a runtime makes of the links; null: they are ideal.
  std::shared_ptr<const Transport> transport = nullptr;
  SynthesisOptions options; ///< its discipline is replaced by the first of `disciplines`
  const EngineRow* engine = nullptr;
  std::vector<Discipline> disciplines{Discipline::fifo}; ///< one replay each; at least one
  BoundEffort bound = BoundEffort::quick;
  ScheduleChange change = {};
  bool over_nccl = false; ///< its time is wanted beside NCCL's, which may not be among the cases
  /// What each of its transport's uncertainties moves is wanted (Replay::sensitivities).
  bool sensitivities = false;
  NoiseRequest noise = {};
  std::vector<KnownBounds> known_bounds = {}; ///< with this effort, all starting at once
  std::string schedule_file; ///< where to write the schedule once verified; empty: nowhere
  /// Folder of what algorithms made before (ScheduleCache); empty: everything is made now.
  std::string cache = {};
  TraceParts trace = {};
};

struct Interval {
  Time low, high;
};
/// The interval up to `slowest`, the time with the transport at its slowest (at_its_slowest()). It
/// extends as far below `predicted` as above, by logarithms.
[[nodiscard]] Interval interval_of(Time predicted, Time slowest);

/// How much a time is off where one of a transport's uncertainties is off by one of its standard
/// deviations: ln(time) moves by that.
struct ConstantEffect {
  std::string to; ///< Uncertainty::name
  double moves = 0;
};

/// One replay and the bounds under the same time model.
struct Replay {
  Report report;    ///< per-link use, without deliveries; hops only of replay(), where asked for
  ShownBound bound; ///< of any schedule of the collective, however it is cut
  ShownBound bound_at_chunks;                   ///< of schedules of these chunks; no less
  double algbw = 0, busbw = 0;                  ///< bytes/s
  double replay_seconds = 0, bound_seconds = 0; ///< CPU
  Time rounding = {}; ///< by how much the engine may say less than a bound (agreement.hpp)
  std::vector<NoiseOutcome> noises = {}; ///< one for each skew that was asked for
  std::string transport = {};            ///< and its protocol, "nccl, ll128"; empty: ideal
  /// What 90 % of measured times are within, where the transport knows that.
  std::optional<Interval> interval = {};
  std::vector<ConstantEffect> sensitivities = {}; ///< where the case asks for them
  std::optional<double> over_nccl = {}; ///< times as fast as NCCL or RCCL, where that has a run

  [[nodiscard]] double gap() const { return bound.gap(report.completion, rounding); }
  /// What is left to win without cutting any finer.
  [[nodiscard]] double gap_at_chunks() const {
    return bound_at_chunks.gap(report.completion, rounding);
  }
  [[nodiscard]] double max_utilisation() const;  ///< over all links, 0 .. 1
  [[nodiscard]] double mean_utilisation() const; ///< over all links, 0 .. 1
};

/// The planned times of several starts of one synthesis: the best and the spread.
struct AttemptSpread {
  std::uint64_t count = 0;
  Time best, median, worst;
};

struct Evaluation {
  std::string run, topology, algorithm;
  std::string collective; ///< as asked for, without its size
  Bytes size;
  std::uint32_t npus = 0;
  std::uint32_t chunks_per_shard = 0;
  bool chose_chunks = false; ///< nobody said how many
  std::uint64_t chunks = 0, transfers = 0, redundant = 0;
  Status status = Status::infeasible;
  std::string note; ///< why there is no schedule, or cut short, or not replayed
  /// Why no program of a runtime (msccl_runtimes()) does what the schedule does; empty: one may.
  std::string no_runtime = {};
  std::string routing;         ///< what the algorithm used
  std::optional<Time> planned; ///< what the algorithm expects on its own picture of the network
  std::string planned_on;      ///< that picture, in words
  /// Spread of several attempts, or, for routing by a hash, of replays under several seeds.
  std::optional<AttemptSpread> attempts;
  std::map<std::string, double> facts; ///< what the algorithm states of its answer, by name
  double synthesis_seconds = 0;        ///< CPU; over all numbers of chunks that were tried
  double verify_seconds = 0;           ///< CPU
  double replay_seconds = 0;           ///< CPU; of all disciplines
  double bound_seconds = 0;            ///< CPU; of all disciplines
  std::int64_t peak_rss_bytes = 0;     ///< of the process that evaluated it
  bool verified = false;
  std::vector<Replay> replays; ///< empty where there is no correct schedule
  std::string hottest_link;    ///< in the first replay: "npu3>npu4", and how many more are as hot
  std::string bottleneck;      ///< the same, or the shared group that is fuller than any link
  /// A defect of Tutti in words (a fault, redundant copies, a time below its bound, a crash); empty
  /// where all is well. Infeasible is none.
  std::string problem;

  /// A correct schedule that no limit cut short.
  [[nodiscard]] bool is_complete() const {
    return !replays.empty() && problem.empty() &&
           (status == Status::optimal || status == Status::feasible);
  }
};

/// Errors: InputError where nothing is replayed under fluid, whose the model is.
void require_network_model(NetworkModel model, std::span<const Discipline> disciplines);

/// What is wrong with each, in words; empty where all is well.
[[nodiscard]] std::vector<std::string> problems_of(std::span<const Evaluation> evaluations);
/// Why not one has a schedule; empty where one has.
[[nodiscard]] std::vector<std::string> nothing_made(std::span<const Evaluation> evaluations);

/// Empty where engines agree that are held against each other, and the completion is not below its
/// bound, as it must be; else what is wrong, in words.
[[nodiscard]] std::string replay_problem(const Replay& replay);

/// Its synthesis, as evaluate() begins. Errors: as there.
[[nodiscard]] Attempt attempt(const Case& c);

/// What runs out of memory is out_of_memory, what was cancelled timed_out, each with a note. A
/// schedule that can't be changed as asked for is unsupported, and so are chunks below a byte only
/// because of the algorithm's chunk multiple. A compact schedule is expanded where the engine, the
/// discipline, a timeline, draws or late starts need each transfer; one of more than any list holds
/// stays without replay then, with a note. What was remembered is verified as everything
/// is, and shows in measured seconds only; a cache that can't be written is no error.
/// Errors: InputError for bad input (a collective that the topology can't hold, an unknown setting,
/// a discipline that the engine doesn't know, an unwritable schedule file).
[[nodiscard]] Evaluation evaluate(const Case& c);
/// The same from its verification on, of what is made already. Errors: as there.
[[nodiscard]] Evaluation evaluate_given(const Case& c, Attempt made);

/// A schedule that is there already, as a case under its time model. Points to the topology and to
/// the file's text.
[[nodiscard]] Case given_case(const Topology& topology, const ScheduleFile& file);

/// Replays a schedule that verify() accepted, with its bound. Errors: as EngineFunction.
[[nodiscard]] Replay replay(const Topology& topology, const Collective& collective,
                            const Schedule& schedule, const TimeModel& model,
                            const EngineRow& engine, const RunOptions& options = {},
                            BoundEffort bound = BoundEffort::quick);

/// Errors: InputError naming the engines that know fluid sharing, where this one doesn't but
/// should.
void require_discipline(const EngineRow& engine, Discipline discipline);

} // namespace tutti
