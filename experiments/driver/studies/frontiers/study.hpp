// What an experiment asks of Pareto frontiers ([[frontiers]]), and what came of it: a frontier, and
// each row of a paper's table that it belongs to.
// Format: docs/formats/frontiers.md.
#pragma once

#include "experiments/driver/studies/frontiers/evaluation.hpp"
#include "experiments/driver/studies/frontiers/paper_instance.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/study.hpp"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class ConfigTable;
struct Experiment;
struct StudyOption;
template <typename Target> struct Key;

struct FrontierStudy {
  static constexpr std::string_view kind = "frontiers";

  std::string label;        ///< unique in its experiment
  std::size_t topology = 0; ///< into the networks
  std::string collective;
  std::vector<Bytes> sizes;
  SynthesisOptions options;
  std::vector<const EngineRow*> engines = all_engines(); ///< several must agree
  std::vector<PaperInstance> paper;

  /// Points into the networks.
  [[nodiscard]] FrontierCase frontier(Networks networks) const;

  /// Those of its table that need no others to be read.
  [[nodiscard]] static std::span<const Key<FrontierStudy>> keys();
  /// Keys that `tutti frontier` takes.
  [[nodiscard]] static std::vector<StudyOption> options_of_command();

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// From its table, after `others` of its kind. Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong, also for a label that another study has,
  /// or that gives the same file name.
  [[nodiscard]] static FrontierStudy read(ConfigTable table, const Experiment& experiment,
                                          const std::string& source_name,
                                          std::span<const FrontierStudy> others);
};

/// Errors: InputError.
void require_sound(const FrontierStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const FrontierStudy& study, const StudyRun& how);

struct FrontierStudyEvaluation {
  FrontierEvaluation frontier;
  std::vector<InstanceEvaluation> instances; ///< of FrontierStudy::paper
};

/// The frontier, then every row of the paper. `found` is called for each point, and may be empty.
/// Where the case's `cancelled` holds, the rows that are left are not begun.
/// Errors: as evaluate_frontier().
[[nodiscard]] FrontierStudyEvaluation
evaluate_study(const FrontierCase& c, std::span<const PaperInstance> paper,
               const std::function<void(const FrontierPoint&)>& found,
               const FrontierFunction& function = synthesize_frontier);

/// Points of the frontier that no row of the paper comes up to; none where there are no rows.
[[nodiscard]] std::vector<std::size_t> beyond_paper(const FrontierStudyEvaluation& study);

/// One for each row of a paper that was evaluated.
[[nodiscard]] std::vector<Comparison> comparisons_of(const FrontierStudyEvaluation& study);

/// What is wrong with each, in words; empty where all is well.
[[nodiscard]] std::vector<std::string> problems_of(const FrontierStudyEvaluation& study);

/// Each point's bandwidth over the size, as in SCCL (Cai et al. 2021, Fig. 4 to 7), and the sizes
/// from which on another point is best; both axes logarithmic. Errors: InputError where no point
/// has a time.
[[nodiscard]] Figure frontier_figure(const FrontierEvaluation& evaluation);

/// A line for each point as it is found, for FrontierRequest::found:
///   tutti: all_gather on dgx1: (6,3,7), 7/6 rounds per chunk, SAT, 4-fold symmetric, 0.063 s
/// `what` stands before each point; `out` must outlive it.
[[nodiscard]] std::function<void(const FrontierPoint&)> point_announcer(std::string what,
                                                                        std::ostream& out);

} // namespace tutti
