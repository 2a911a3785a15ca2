// A run that executes for real takes as long as it takes, and what it measured is gone if the
// program is killed before its tables: each run says so at once.
#include "experiments/driver/studies/executions/display.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace tutti {

namespace {

std::string what_came_of(const ExecutionRun& run) {
  if (!run.problem.empty()) return run.problem;
  if (!run.execution) return run.note;
  const Time measured = time_of_seconds(run.measured());
  return short_text(measured) +
         (run.predicted.empty() ? "" : ", predicted " + short_text(run.predicted.front()));
}

} // namespace

std::function<void(const ExecutionRun&)> execution_announcer(std::string label, std::ostream& out) {
  return [label = std::move(label), &out](const ExecutionRun& run) {
    out << fmt::format("tutti: {}{}, {}: {}\n", label.empty() ? "" : label + ": ", run.algorithm,
                       short_text(run.size), what_came_of(run))
        << std::flush;
  };
}

std::function<void(const ExecutionRun&)> execution_announcer(std::string label, bool lines_wanted) {
  if (!lines_wanted && isatty(STDERR_FILENO) == 0) return {};
  return execution_announcer(std::move(label), std::cerr);
}

} // namespace tutti
