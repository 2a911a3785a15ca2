// What the five kinds of reports begin and end with. A study may have thousands of combinations of
// `by`: tables and CSV have them all, but a page with a figure for each would be of no use.
#include "experiments/driver/sweep/report/analysis_report.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti::sweep {

AnalysisReport begun_report(std::string kind, const AnalysisHead& head) {
  AnalysisReport report;
  report.kind = std::move(kind);
  report.label = head.label;
  report.title = head.title.empty() ? head.label : head.title;
  return report;
}

void limit_figures(AnalysisReport& report) {
  if (report.figures.size() <= most_figures) return;
  report.notes.push_back(fmt::format("Figures of the first {} of {} combinations; the table has "
                                     "all.",
                                     most_figures, report.figures.size()));
  report.figures.resize(most_figures);
}

} // namespace tutti::sweep
