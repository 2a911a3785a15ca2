// A sweep as the page shows it: its points, which filter and open their networks, each analysis
// with conclusions, table and figures, what was varied, and how points ended.
#pragma once

#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/space/point_table.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"

#include <deque>
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

/// Large sweeps show their first 20,000 points, and say so. `networks` gets those that the page
/// points to: up to 16 with 4,000 nodes and links each at most.
[[nodiscard]] Exploration sweep_exploration(const Sweep& sweep, const PointTable& table,
                                            std::span<const PageSection> sections,
                                            std::deque<Topology>& networks);

} // namespace tutti::sweep
