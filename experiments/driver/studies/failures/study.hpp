// What an experiment asks of failures ([[failures]]): one collective through events, by several
// algorithms and policies, and what is expected of them.
// Format: docs/formats/failures.md.
#pragma once

#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/failures/evaluation.hpp"
#include "experiments/driver/studies/study.hpp"

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class ConfigTable;
struct Experiment;
struct StudyOption;
template <typename Target> struct Key;

struct FailureStudy {
  static constexpr std::string_view kind = "failures";

  std::string label;        ///< unique in its experiment
  std::size_t topology = 0; ///< into the networks
  FailureCase common;       ///< without topology and algorithm
  std::vector<AlgorithmRow> algorithms;
  std::optional<AlgorithmRow> planner;   ///< none: default_planner() of each algorithm
  std::vector<Expectation> expectations; ///< of rows of failure_records()

  /// One for each algorithm; they point into the networks.
  [[nodiscard]] std::vector<FailureCase> cases(Networks networks) const;

  /// Those of its table that need no others to be read.
  [[nodiscard]] static std::span<const Key<FailureStudy>> keys();
  /// Keys that `tutti failures` takes.
  [[nodiscard]] static std::vector<StudyOption> options_of_command();

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// From its table, after `others` of its kind. Files of events are looked for beside
  /// `source_name`. Pre: the experiment has its topologies. Errors: InputError with the place of
  /// what is wrong, also for a label that another study has, or that gives the same file name.
  [[nodiscard]] static FailureStudy read(ConfigTable table, const Experiment& experiment,
                                         const std::string& source_name,
                                         std::span<const FailureStudy> others);
};

/// Errors: InputError.
void require_sound(const FailureStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const FailureStudy& study, const StudyRun& how);

/// Progress of one run over time: how much of what is wanted is in place, with one curve per policy
/// and one undisturbed, and the events as vertical lines. Pre: a verified evaluation, a run of it.
[[nodiscard]] Figure progress_figure(const FailureEvaluation& evaluation,
                                     const ScenarioEvaluation& scenario);

/// Where there is a sweep, its median times over the number of failed links, one curve per
/// algorithm and policy, without points that aren't complete; else the progress of every
/// algorithm's run. None where nothing ran, or several seeds make several runs.
[[nodiscard]] std::vector<NamedFigure>
failure_figures(std::span<const FailureEvaluation> evaluations);

/// Network use of each algorithm that has a single run, with what is dead in the end, under the
/// policy that is complete first (if none is, the one with the earliest last delivery); none where
/// nothing ran. They point to the topology.
[[nodiscard]] std::vector<NetworkUse> network_uses(std::span<const FailureEvaluation> evaluations,
                                                   const Topology& topology);

/// A line for each policy as it ends:
///   tutti: Torus, tacos: 4 failed links, seed 1: resynthesize complete at 21.42 ms
/// `what` stands before each; `out` must outlive it.
[[nodiscard]] PolicyFinished policy_announcer(std::string what, std::ostream& out);

/// What is wrong with each, in words; empty where all is well.
[[nodiscard]] std::vector<std::string> problems_of(std::span<const FailureEvaluation> evaluations);

} // namespace tutti
