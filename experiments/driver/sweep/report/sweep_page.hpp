// One static page about a sweep: its conclusions first, then all analyses with their figures
// inline, what was varied, and how points ended. No scripts, nothing from elsewhere, light or dark
// as the reader has it.
#pragma once

#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/space/point_table.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

struct PageFigure {
  std::string title, file;
  std::string svg;
};

struct PageSection {
  AnalysisReport report;
  std::string csv_file, json_file; ///< json_file: empty: none
  std::vector<PageFigure> figures;
};

/// How many points have each status, in the order of PointStatus.
[[nodiscard]] Table status_table(const PointTable& table);
/// Why points aren't done: status and message, the most frequent first.
[[nodiscard]] Table problem_table(const PointTable& table);

/// Tables beyond 60 rows are cut, with the name of the CSV;
/// figures beyond ten, and tables of more than a dozen rows, are there behind folds.
[[nodiscard]] std::string sweep_page(const Sweep& sweep, const PointTable& table,
                                     std::span<const PageSection> sections);

} // namespace tutti::sweep
