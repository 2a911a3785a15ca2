// What an experiment asks of failures ([[failures]]): one collective through events, by several
// algorithms and policies, and what is expected of them.
#pragma once

#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/failures/evaluation.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What should come of two policies, or of one and the undisturbed run.
struct FailureExpectation {
  std::string label, algorithm;
  Policy policy = Policy::resynthesize;
  std::optional<Policy> over;            ///< none: over the undisturbed run
  std::vector<std::size_t> failed_links; ///< of several the largest ratio counts; empty: all
  double value = 1;                      ///< of the ratio of times, medians over the seeds
  double tolerance = 0;                  ///< of the value
  bool at_most = false;
  std::string explanation; ///< why it may differ; empty: it may not
};

struct FailureStudy {
  std::string label;        ///< unique in its experiment
  std::size_t topology = 0; ///< into Experiment::topologies
  FailureCase common;       ///< without topology and algorithm
  std::vector<AlgorithmRow> algorithms;
  std::optional<AlgorithmRow> planner; ///< none: default_planner() of each algorithm
  std::vector<FailureExpectation> expectations;
};

struct FailureStudyEvaluation {
  std::string label;
  std::vector<FailureEvaluation> algorithms;
  std::vector<FailureExpectation> expectations; ///< of FailureStudy
};

/// One for each expectation of each study. A policy that isn't complete has no time.
[[nodiscard]] std::vector<Comparison>
comparisons_of(std::span<const FailureStudyEvaluation> studies);

} // namespace tutti
