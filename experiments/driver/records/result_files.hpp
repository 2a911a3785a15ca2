// The folder that an experiment leaves behind: its TOML, results.csv, frontier.csv, failures.csv,
// results.json, verdicts.md and the figures.
#pragma once

#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/experiment.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What an experiment came to.
struct ExperimentResults {
  std::vector<Evaluation> evaluations;          ///< of Experiment::cases()
  std::vector<StudyEvaluation> frontiers;       ///< of Experiment::frontiers
  std::vector<FailureStudyEvaluation> failures; ///< of Experiment::failures
  std::vector<JobStudyEvaluation> jobs;         ///< of Experiment::jobs
  std::vector<TrainingEvaluation> trainings;    ///< of Experiment::trainings
  std::vector<ExecutionEvaluation> executions;  ///< of Experiment::executions
  /// Of Experiment::expectations, then of frontiers, then of failures, of trainings, of executions.
  std::vector<Comparison> comparisons;
};

/// Copies the experiment's file to `folder`/NAME.toml, before anything runs: an unwritable folder
/// must not cost hours. Errors: InputError "FILE: cannot write: ...".
void start_results(const std::string& folder, const Experiment& experiment,
                   const std::string& toml);

/// Title, seed, versions, evaluations, frontiers and failures where there are any, and comparisons.
[[nodiscard]] nlohmann::ordered_json results_json(const Experiment& experiment,
                                                  const ExperimentResults& results);

/// results.csv where there are runs, frontier.csv where there are frontiers, frontier_paper.csv
/// where these have rows of a paper, failures.csv where there are failures, training.csv and
/// training_npus.csv where something is trained, executions.csv and nccl_tests.txt where something
/// is executed, results.json, and verdicts.md where something is
/// expected. Returns the names of the files.
/// Errors: InputError where one can't be written; each is whole or not there.
std::vector<std::string> write_results(const std::string& folder, const Experiment& experiment,
                                       const ExperimentResults& results);

/// Every figure as .svg and .png, every frontier with a point and every study of failures, jobs,
/// training and execution as .svg.
/// Returns the names of the files. Errors: InputError.
std::vector<std::string> write_figures(const std::string& folder, const Experiment& experiment,
                                       const ExperimentResults& results);

} // namespace tutti
