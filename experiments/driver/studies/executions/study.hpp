// What an experiment asks of executions ([[executions]]): schedules run with real data, and how far
// predictions may be off.
// Format: docs/formats/executions.md.
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
template <typename Target> struct Key;

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

  /// From its table, after `others` of its kind. Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static ExecutionStudy read(ConfigTable table, const Experiment& experiment,
                                           const std::string& source_name,
                                           std::span<const ExecutionStudy> others);
  /// Those of its table that need no others to be read.
  [[nodiscard]] static std::span<const Key<ExecutionCase>> keys();
  /// Keys that `tutti exec` takes.
  [[nodiscard]] static std::vector<StudyOption> options_of_command();
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
