// An experiment in a TOML file: what to run, what to draw, and what a paper says should come out.
//
//   name = "fig02"                         # letters, digits, - and _; names the output folder
//   title = "TACOS, Fig. 2"
//   seed = 1                               # default 1
//   [topologies]                           # label = text of `tutti -t` (files: beside this one)
//   Mesh = "mesh2d:8x8,bandwidth=50GB/s,latency=0.5us"
//   [[runs]]                               # each is the product of its lists
//   topologies = ["Mesh"]                  # default: all
//   collectives = ["all_reduce"]           # a list in the list: several at once
//   sizes = ["1GB"]                        # default 1GiB; ranges as `1KiB..1GiB`
//   algorithms = ["all"]                   # or names
//   chunks = [1, "auto"]                   # per shard; default "auto"
//   engine = "simgrid"                     # default; disciplines = ["fifo"], link_busy =
//                                          # "serialization", forwarding = "auto", routing = "auto"
//   label = "..."                          # default none; limit = "60s,8GiB" (either or both),
//                                          # threads = 1, settings = {key = "value"}
//   sizes_per_chunk = ["25MiB"]            # instead of sizes: times the chunks per shard
//   [[frontiers]]                          # Pareto frontiers (SCCL)
//   label = "Allgather"                    # names its figure; unique
//   topology = "Mesh"                      # a label
//   collective = "all_gather"
//   sizes = ["1KiB..1GiB"]                 # default; the largest is what it is synthesized for
//   settings = {k = "6", max_steps = "5"}  # as --set of `tutti frontier`; and link_busy,
//                                          # forwarding, limit as in [[runs]]
//   [[frontiers.paper]]                    # one algorithm of a paper, synthesized on its own
//   chunks = 6                             # C, S, R as the paper counts
//   steps = 3
//   rounds = 7
//   optimality = "bandwidth"               # or "latency", "both": what the paper claims
//   seconds = 6.6                          # the paper's; default none
//   explanation = "..."                    # as in [[expect]]
//   [[failures]]                           # a collective through failures
//   label = "Torus"                        # names its figures; unique
//   topology = "Mesh"                      # a label
//   collective = "all_reduce"              # or a list: several at once
//   algorithms = ["tacos", "ring"]
//   size = "1GiB"                          # default; chunks = "auto", engine = "native", or
//                                          # "simgrid", "both"; link_busy, forwarding, limit and
//                                          # settings as in [[runs]]
//   policies = ["report", "reroute", "resynthesize", "restart"]   # default all
//   detection = "100us"                    # default; from an event until someone knows
//   decision = "50us"                      # default; from then until the answer is in force
//   planner = "tacos"                      # of what is left; default as `tutti failures`
//   failed_links = [0, 1, 2, 4, 8, 16]     # a sweep: so many random cables go down
//   at = "50%"                             # when they do: default; of the undisturbed run
//   seeds = [1, 2, 3]                      # medians count; default the experiment's seed
//   events = "events.toml"                 # or [[failures.events]], [failures.generated]: format
//                                          # at the head of event_reader.hpp; a file stands for
//                                          # failed_links, at and seeds, too
//   [[failures.expect]]
//   policy = "resynthesize"
//   over = "restart"                       # a policy, or "undisturbed" (default)
//   algorithm = "tacos"                    # needed where there are several
//   failed_links = [1, 2]                  # of several the largest ratio counts; default all
//   at_most = 1.0                          # or value = 1.2; of the ratio of times
//   tolerance = "10%"                      # default 0%; label, explanation as in [[expect]]
//   [[jobs]]                               # several jobs on one network, and what each costs the
//                                          # others: format at the head of jobs/reader.hpp
//   [[training]]                           # iterations of training, by several algorithms: format
//                                          # at the head of training/reader.hpp
//   [[executions]]                         # schedules run with real data, beside predictions:
//                                          # format at the head of executions/reader.hpp
//   include = ["gpu_rate"]                 # the executions of gpu_rate.toml beside this file, too;
//                                          # their labels become "gpu_rate: LABEL". It has nothing
//                                          # but executions, and includes no others
//   [[figures]]
//   kind = "bars"                          # heatmap, utilisation, bars, sizes, chunks, scaling,
//                                          # schedule
//   file = "bandwidth"                     # without ending
//   title = "..."
//   topologies, algorithms = [...]         # default: all
//   quantity = "utilisation"               # or "bytes": heatmap, utilisation
//   metric = "algbw"                       # bars, sizes, chunks, scaling; see [[expect]]
//   normalized = true                      # bars: over the least of each topology
//   normalized = "tacos"                   # bars, sizes, chunks: over this algorithm's
//   logarithmic = true                     # bars: the y axis
//   over = "npus"                          # scaling: the x axis; or "transfers"
//   [[expect]]
//   label = "TACOS / Ring on Mesh"
//   of = {topology = "Mesh", algorithm = "tacos"}   # and run, collective, size, chunks; topology
//   over = {topology = "Mesh", algorithm = "ring"}  # and algorithm may be lists. Without `over`:
//                                          # the value itself, with its unit
//   metric = "algbw"                       # default; busbw, time, gap, synthesis_seconds (CPU),
//                                          # planned (the time that the algorithm expects),
//                                          # planned_ratio (over the replayed), or
//                                          # "fact:fluid_seconds": what an algorithm states of
//                                          # its answer, a number without unit
//   mean = "geometric"                     # or "arithmetic": `of` and `over` may pick several
//                                          # cases; those of one problem make a ratio
//   exponent_over = "npus"                 # or "transfers", instead of a mean: how the values of
//                                          # several cases grow, by least squares of logarithms
//   discipline = "fifo"                    # default: the run's first
//   paper = 1.98
//   tolerance = "2%"
//   at_most = true                         # the paper gives an upper limit; default false
//   explanation = "..."                    # makes a difference one that doesn't fail the run
//
// At least one of [[runs]], [[frontiers]], [[failures]], [[jobs]], [[training]] and [[executions]].
// Unknown keys and labels are errors.
#pragma once

#include "experiments/driver/cli/collective_request.hpp"
#include "experiments/driver/figures/heatmap.hpp"
#include "experiments/driver/studies/executions/study.hpp"
#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/failures/study.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"
#include "experiments/driver/studies/jobs/study.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/metric.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "sim/engines/engine.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct LabelledTopology {
  std::string label, text;
  Topology topology;
};

/// Every combination of its lists is a case.
struct RunMatrix {
  std::string label;
  std::vector<std::size_t> topologies;               ///< into Experiment::topologies
  std::vector<std::vector<std::string>> collectives; ///< the inner lists run at once
  std::vector<Bytes> sizes;
  bool sizes_are_per_chunk = false; ///< then the collective's is this times the chunks per shard
  std::vector<AlgorithmRow> algorithms;
  /// Per shard; none, and an empty list: auto.
  std::vector<std::optional<std::uint32_t>> chunks;
  SynthesisOptions options;
  const EngineRow* engine = nullptr;
  std::vector<Discipline> disciplines;
  BoundEffort bound = BoundEffort::quick;

  /// Of the collective, for one of `sizes` and one of `chunks`.
  [[nodiscard]] Bytes case_size(Bytes size, const std::optional<std::uint32_t>& case_chunks) const;
};

enum class FigureKind : std::uint8_t {
  heatmap,     ///< source x destination, one panel per evaluation
  utilisation, ///< links from the hottest to the coolest, one curve per evaluation
  bars,        ///< one group per topology, one bar per algorithm
  sizes,       ///< over the size, one curve per algorithm
  chunks,      ///< over the chunks per shard, one curve per algorithm
  scaling,     ///< over the problem's size, one curve per topology family and algorithm
  schedule,    ///< who sends what where, step by step; of one small evaluation
};

struct FigureRequest {
  FigureKind kind = FigureKind::heatmap;
  std::string title, file;
  std::vector<std::string> topologies, algorithms; ///< labels and names; empty: all
  LinkQuantity quantity = LinkQuantity::utilisation;
  Metric metric = Metric::algbw;
  bool normalized = false;    ///< over the least of each topology
  std::string reference = {}; ///< an algorithm: over its value for the same problem
  bool logarithmic = false;
  ProblemSize over = ProblemSize::npus;
};

struct Experiment {
  std::string name, title;
  std::uint64_t seed = 1;
  std::vector<LabelledTopology> topologies;
  std::vector<RunMatrix> runs;
  std::vector<FrontierStudy> frontiers;
  std::vector<FailureStudy> failures;
  std::vector<JobStudy> jobs;
  std::vector<TrainingStudy> trainings;
  std::vector<ExecutionStudy> executions;
  std::vector<FigureRequest> figures;
  std::vector<Expectation> expectations; ///< with indices into cases()

  /// By run, topology, collective, size, chunks, algorithm. They point into this experiment.
  [[nodiscard]] std::vector<Case> cases() const;
  /// One of `frontiers`, pointing into this experiment.
  [[nodiscard]] FrontierCase frontier_case(const FrontierStudy& study) const;
  /// One for each algorithm of one of `failures`, pointing into this experiment.
  [[nodiscard]] std::vector<FailureCase> failure_cases(const FailureStudy& study) const;
  /// The topologies of one of `trainings`, pointing into this experiment.
  [[nodiscard]] std::vector<TrainingNetwork> networks_of(const TrainingStudy& study) const;
  /// One of `executions`, pointing into this experiment.
  [[nodiscard]] ExecutionCase execution_case(const ExecutionStudy& study) const;
};

/// Errors: InputError with file:line:column for anything wrong or unknown.
[[nodiscard]] Experiment parse_experiment(std::string_view toml, const std::string& source_name);
[[nodiscard]] Experiment read_experiment(const std::string& file);

class ConfigTable;
/// From topologies and what runs on them, without name, title, seed, figures and expectations.
[[nodiscard]] Experiment unnamed_experiment(ConfigTable table, const std::string& source_name,
                                            std::uint64_t seed);

} // namespace tutti
