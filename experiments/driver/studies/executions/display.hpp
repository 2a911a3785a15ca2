// What those who wait see of executions on stderr: a line after each run.
//   tutti: DGX-1: ring, 1.000 MiB: 2.1 ms, predicted 2.0 ms
#pragma once

#include "experiments/driver/studies/executions/evaluation.hpp"

#include <functional>
#include <iosfwd>
#include <string>

namespace tutti {

/// `label` stands before each; `out` must outlive it.
[[nodiscard]] std::function<void(const ExecutionRun&)> execution_announcer(std::string label,
                                                                           std::ostream& out);

/// The same on stderr where that is a terminal or lines are wanted; else it says nothing.
[[nodiscard]] std::function<void(const ExecutionRun&)> execution_announcer(std::string label,
                                                                           bool lines_wanted);

} // namespace tutti
