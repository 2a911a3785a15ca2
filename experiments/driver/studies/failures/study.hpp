// What an experiment asks of failures ([[failures]]): one collective through events, by several
// algorithms and policies, and what is expected of them.
//
//   [[failures]]                           # a collective through failures
//   label = "Torus"                        # names its figures; unique; none where it is alone
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
//   starts, start_file, skews, jitter, noise_seed, draws   # as at the head of noise/request.hpp
//   [[failures.expect]]                    # see expectation.hpp
//   of = {policy = "resynthesize", failed_links = [1, 2]}   # and algorithm, seed
//   over = {policy = "restart"}            # without it: over the undisturbed run
//   metric = "slowdown"                    # default
//   summary = "largest"                    # of several numbers of failed links
//   at_most = 1.0
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

  /// Keys that `tutti failures` takes.
  [[nodiscard]] static std::span<const StudyOption> options_of_command();

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// Pre: the experiment has its topologies. Files of events are looked for beside `source_name`.
  /// Errors: InputError with the place of what is wrong, also for a label that another study has,
  /// or that gives the same file name.
  [[nodiscard]] static std::vector<FailureStudy>
  read_all(ConfigTable& root, const Experiment& experiment, const std::string& source_name);
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
