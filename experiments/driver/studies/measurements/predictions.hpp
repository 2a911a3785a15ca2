// What a collective takes on a machine, for whole curves of sizes.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/runner.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

struct Forecast {
  std::optional<Time> time;         ///< none: the algorithm has no schedule
  std::optional<Interval> interval; ///< that 90 % of what is measured is within; where it is known
  std::vector<ConstantEffect> sensitivities; ///< where the case asks for them
  Time bound;                                ///< what nothing on this network is faster than
  std::string bound_words;
  std::string picked;      ///< the algorithm's own choice, in words
  std::string why_not;     ///< without a time, in words
  std::string problem;     ///< a defect of Tutti, in words
  bool is_on_line = false; ///< through other sizes: it isn't replayed itself
};

/// Evaluates all cases, as run_cases() does.
using Evaluator = std::function<std::vector<Evaluation>(std::span<const Case>)>;

/// One for each case. A large size of NCCL's or RCCL's is extrapolated from smaller ones that are
/// sent as that size would be (same algorithm, channels and chunks), from where three of them lie
/// on a line within 1 %: a pipeline that is filled takes as long for every further chunk. Of
/// smaller ones those that one schedule sends are interpolated between such as are replayed, where
/// what lies outside says that they are off by 1 % at most. Bounds are each size's own. Errors:
/// those of the evaluator.
[[nodiscard]] std::vector<Forecast> predict(std::span<const Case> cases, const Evaluator& evaluate);

} // namespace tutti
