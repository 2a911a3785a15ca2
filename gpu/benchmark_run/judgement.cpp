// What rows say of a step, by what its row in the table of steps expects. It only reads them.
#include "gpu/benchmark_run/judgement.hpp"

#include "gpu/execute.hpp"
#include "gpu/text.hpp"

#include <algorithm>

namespace tutti::gpu {

std::string first_problem(const runtime::Rows& rows) {
  std::string first;
  std::size_t more = 0;
  const auto note = [&](const std::string& problem) {
    if (first.empty())
      first = problem;
    else
      ++more;
  };
  for (const runtime::TestRow& test : rows.tests)
    if (!is_well(test))
      note(test.name + " " + std::string(to_text(test.outcome)) + ": " + test.words);
  for (const runtime::RunRow& run : rows.runs) {
    if (is_well(run)) continue;
    const std::string how = run.execution.check.wrong == 0
                                ? std::string(to_text(run.outcome))
                                : std::to_string(run.execution.check.wrong) + " of " +
                                      std::to_string(run.execution.check.checked) +
                                      " elements are wrong";
    note(run.file + " " + how + (run.words.empty() ? "" : ": " + run.words));
  }
  return more == 0 ? first : first + "; and " + std::to_string(more) + " more";
}

std::vector<std::string> unexpected_figures(const DayStep& step, const runtime::Rows& rows) {
  std::vector<std::string> unexpected;
  for (const runtime::FigureRow& figure : rows.figures)
    for (const FigureRange& range : step.figures)
      if (figure.name == range.name && (figure.value < range.least || figure.value > range.most))
        unexpected.push_back(figure.name + " is " + figure_text(figure.value, figure.unit) +
                             ", expected " + figure_text(range.least, figure.unit) + " to " +
                             figure_text(range.most, figure.unit));
  return unexpected;
}

} // namespace tutti::gpu
