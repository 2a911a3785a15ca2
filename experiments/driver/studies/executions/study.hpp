// What an experiment asks of executions ([[executions]]): schedules run with real data, and how far
// predictions may be off.
//
//   [[executions]]
//   label = "DGX-1"                        # names its files; unique; none where it is alone
//   topology = "DGX-1"                     # a label
//   collective = "all_gather"
//   sizes = ["1KiB..256MiB"]               # default 1MiB..16MiB
//   algorithms = ["ring", "tacos"]
//   file = "program.xml"                   # instead: a program as MSCCL XML (it needs one size; of
//                                          # a custom one, collective says what it is), or a
//                                          # schedule, which says its collective and size itself
//   chunks = 1                             # per shard; default "auto": of those that divide;
//                                          # link_busy, forwarding, limit, settings as in [[runs]]
//   backend = "cpu"                        # default; or cuda
//   links = "emulated"                     # default: throttled to the topology's; or "real"
//   predicted_by = "profile"               # default: the network is measured first; or "topology",
//                                          # for emulated links, or "nothing"
//   fit = "none"                           # default; half: by every other size the profiled
//                                          # network is fitted to what caches make of sizes; the
//                                          # others are what is predicted
//   type = "float32"                       # default; float64, int32, uint8
//   op = "sum"                             # default; max
//   instances = 1                          # default; parts of a chunk, on channels of their own
//   in_place = false                       # default
//   copy_per_step = false                  # default; a copy for each step, not one persistent run
//   repetitions = 5                        # default; the median of these; warmups = 1
//   passes = 1                             # default; how often all is done, the profile too
//   profile_sizes = ["64KiB", "1MiB"]      # of chunks; default 1KiB to 4MiB
//   watchdog = "30s"                       # default; a run without a step for so long is ended
//   [[executions.expect]]                  # see expectation.hpp
//   of = {algorithm = "ring", size = "1MB.."}
//   metric = "measured_over_predicted"     # default; or copy_rate_fraction: bytes over all
//                                          # connections a second, over what the device copies from
//                                          # memory to memory; memory_rate_fraction: bytes read and
//                                          # written, each place once; or any other column
//   summary = "error"                      # how far the ratios are from 1, either way
//   at_most = 0.25
//   repeats_within = 0.1                   # judged only where no ratio differs by more between
//                                          # passes; default judged in any case
#pragma once

#include "experiments/driver/studies/executions/evaluation.hpp"
#include "experiments/driver/studies/study.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class ConfigTable;
class PackBackend;
struct Experiment;
struct StudyOption;

struct ExecutionStudy {
  static constexpr std::string_view kind = "executions";

  std::string label;        ///< unique in its experiment
  std::size_t topology = 0; ///< into the networks
  ExecutionCase execution;  ///< without its topology
  std::vector<Expectation> expectations;
  PackBackend* gpu_pack = nullptr; ///< that it is measured by, if not here; not owned

  /// With its topology, which points into the networks.
  [[nodiscard]] ExecutionCase complete(Networks networks) const;

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static std::vector<ExecutionStudy>
  read_all(ConfigTable& root, const Experiment& experiment, const std::string& source_name);
  /// Keys that `tutti exec` takes.
  [[nodiscard]] static std::span<const StudyOption> options_of_command();
};

/// Errors: InputError.
void require_sound(const ExecutionStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const ExecutionStudy& study, const StudyRun& how);

/// One after another, as they are timed.
[[nodiscard]] ExecutionEvaluation evaluate_study(const ExecutionStudy& study, const StudyRun& how);
/// What is wrong with each run, in words, and that nothing ran at all where that is so; empty where
/// all is well.
[[nodiscard]] std::vector<std::string> problems_of(const ExecutionEvaluation& evaluation);

} // namespace tutti
