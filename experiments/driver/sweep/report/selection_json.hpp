// Selections as JSON, for a tuner that isn't ours:
//   study, label, title   texts
//   objective             {name, unit ("seconds"), better ("least" or "largest")}
//   over                  {name, unit}
//   of                    [names of what is chosen]
//   constants             {name: value}: parameters, derived values and facts that all points share
//   selections            one for each combination of `by`:
//     by                  {name: value}
//     ranges              ascending; each
//       from, to          numbers: for from <= value < to; `to` is the next simulated value that
//                         has another choice or none, null after the last; or, where `over` is a
//                         text, `value` instead
//       choice            {name: value}
//       points            what was simulated: [{at, objective, next_best: {choice, ratio} or null}]
//                         `ratio`: how many times worse it is; null unless both are positive
//     unanswered          values of `over` for which no choice has a result
// Numbers are in SI units. Nothing is measured and no version is in it: the same points give the
// same bytes.
#pragma once

#include "experiments/driver/sweep/analysis/selection.hpp"

#include <string>
#include <vector>

namespace tutti::sweep {

/// Indented, with a newline at the end.
[[nodiscard]] std::string selection_json(const SelectionAnalysis& analysis, AnalysedPoints& points,
                                         const std::vector<Selection>& selections);

} // namespace tutti::sweep
