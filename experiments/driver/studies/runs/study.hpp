// What an experiment asks of collectives ([[runs]]): every combination of lists of networks,
// collectives, sizes, chunks and algorithms is a case. All [[runs]] of an experiment are one study,
// so that its cases run side by side, figures show any of them, and expectations compare them.
//
//   [[runs]]                               # each is the product of its lists
//   topologies = ["Mesh"]                  # default: all
//   collectives = ["all_reduce"]           # a list in the list: several at once
//   sizes = ["1GB"]                        # default 1GiB; ranges as `1KiB..1GiB`
//   algorithms = ["all"]                   # or names
//   chunks = [1, "auto"]                   # per shard; default "auto"
//   engine = "simgrid"                     # default; native, both, which must agree, or auto:
//                                          # native, simgrid for fluid;
//                                          # network_model = "ideal" of fluid;
//                                          # disciplines = ["fifo"], link_busy = "serialization",
//                                          # forwarding = "auto", routing = "auto"
//   label = "..."                          # default none; limit = "60s,8GiB" (either or both),
//                                          # threads = 1, settings = {key = "value"}
//   sizes_per_chunk = ["25MiB"]            # instead of sizes: times the chunks per shard
//   relays = "paths"                       # default; "transfers": NPUs on paths send themselves
//   dependencies = "kept"                  # default; "dropped": queues alone decide
//   transport = "ideal"                    # default; nccl, rccl or a file: what links become
//   over_nccl = true                       # default false: NCCL's time is known for every row
//   starts, skews, jitter, ... = ...       # who joins late, what is drawn: noise/request.hpp
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
//   [[expect]]                             # see expectation.hpp
//   of = {topology = "Mesh", algorithm = "tacos"}   # and label, collective, size, chunks (as asked
//                                          # for), discipline (default: the run's first)
//   metric = "algbw"                       # default; busbw, collective_time, gap, synthesis (CPU),
//                                          # planned_time (that the algorithm expects),
//                                          # planned_ratio (over the replayed), ..., or
//                                          # "fact:fluid_seconds": what an algorithm states of
//                                          # its answer, a number without unit
#pragma once

#include "experiments/driver/studies/runs/figure.hpp"
#include "experiments/driver/studies/study.hpp"
#include "sim/engines/engine.hpp"
#include "sim/synthesizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class ConfigTable;
struct Experiment;
struct StudyOption;

/// One [[runs]]: the product of its lists.
struct RunMatrix {
  std::string label;
  std::vector<std::size_t> topologies;               ///< into the networks
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
  ScheduleChange change;
  std::shared_ptr<const Transport> transport; ///< null: ideal links
  bool over_nccl = false;
  NoiseRequest noise;

  /// By topology, collective, size, chunks, algorithm. They point into the networks.
  [[nodiscard]] std::vector<Case> cases(Networks networks) const;
  /// Size of the collective for one of `sizes` and one of `chunks`.
  [[nodiscard]] Bytes case_size(Bytes size, const std::optional<std::uint32_t>& case_chunks) const;
};

struct RunStudy {
  static constexpr std::string_view kind = "runs";

  std::string label = {}; ///< none: it is the only one
  std::vector<RunMatrix> matrices;
  std::vector<FigureRequest> figures;
  std::vector<Expectation> expectations; ///< of rows as planned_runs() says

  /// Matrix by matrix.
  [[nodiscard]] std::vector<Case> cases(Networks networks) const;

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// None where there is no [[runs]]. Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static std::vector<RunStudy>
  read_all(ConfigTable& root, const Experiment& experiment, const std::string& source_name);
  /// Keys that `tutti synth` takes.
  [[nodiscard]] static std::span<const StudyOption> options_of_command();
};

struct PlannedRows;
/// A row for each case and discipline.
[[nodiscard]] PlannedRows planned_runs(std::span<const Case> cases);

/// Side by side, each in a process of its own, or in this one. Errors: as run_cases().
[[nodiscard]] std::vector<Evaluation> evaluate_cases(std::vector<Case> cases, const StudyRun& how);

/// Errors: InputError.
void require_sound(const RunStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const RunStudy& study, const StudyRun& how);

} // namespace tutti
