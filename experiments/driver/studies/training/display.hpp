// What those who wait see of training on stderr: a line before each run and after it.
//   tutti: ResNet-50: RFS, tacos, undisturbed: begins
//   tutti: ResNet-50: RFS, tacos, undisturbed: 12.34 ms per iteration
#pragma once

#include "experiments/driver/studies/training/evaluation.hpp"

#include <functional>
#include <iosfwd>
#include <string>

namespace tutti {

/// `label` stands before each; `out` must outlive it.
[[nodiscard]] std::function<void(const TrainingRun&, bool)> run_announcer(std::string label,
                                                                          std::ostream& out);

/// The same on stderr where that is a terminal or lines are wanted; else it says nothing.
[[nodiscard]] std::function<void(const TrainingRun&, bool)> run_announcer(std::string label,
                                                                          bool lines_wanted);

} // namespace tutti
