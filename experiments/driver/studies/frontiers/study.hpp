// What an experiment asks of Pareto frontiers ([[frontiers]]), and what came of it: a frontier, and
// each row of a paper's table that it belongs to.
#pragma once

#include "experiments/driver/studies/frontiers/evaluation.hpp"
#include "experiments/driver/studies/frontiers/paper_instance.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

struct FrontierStudy {
  std::string label;        ///< unique in its experiment
  std::size_t topology = 0; ///< into Experiment::topologies
  std::string collective;
  std::vector<Bytes> sizes;
  SynthesisOptions options;
  std::vector<PaperInstance> paper;
};

struct StudyEvaluation {
  FrontierEvaluation frontier;
  std::vector<InstanceEvaluation> instances; ///< of FrontierStudy::paper
};

/// The frontier, then every row of the paper. `found` is called for each point, and may be empty.
/// Where the case's `cancelled` holds, the rows that are left are not begun.
/// Errors: as evaluate_frontier().
[[nodiscard]] StudyEvaluation
evaluate_study(const FrontierCase& c, std::span<const PaperInstance> paper,
               const std::function<void(const FrontierPoint&)>& found,
               const FrontierFunction& function = synthesize_frontier);

/// One that was refused, or had no more memory: without points, and with `note` as why it ended.
[[nodiscard]] StudyEvaluation without_study(const FrontierCase& c, Status status,
                                            const std::string& note);

/// Points of the frontier that no row of the paper comes up to; none where there are no rows.
[[nodiscard]] std::vector<std::size_t> beyond_paper(const StudyEvaluation& study);

/// One for each row of a paper that was evaluated.
[[nodiscard]] std::vector<Comparison> comparisons_of(std::span<const StudyEvaluation> studies);

/// What is wrong with each, in words; empty where all is well.
[[nodiscard]] std::vector<std::string> problems_of(const StudyEvaluation& study);

} // namespace tutti
