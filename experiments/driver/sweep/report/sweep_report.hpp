// What a sweep's results say: tables, figures, and one page with all of them.
#pragma once

#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/space/point_table.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

/// The sweep with only the analyses of these labels. Errors: InputError for an unknown one.
[[nodiscard]] Sweep with_only(Sweep sweep, std::span<const std::string> labels);

/// For Store::table(): everything that points.csv and the page show.
[[nodiscard]] std::vector<std::string> shown_columns(const Sweep& sweep);
/// What the analyses alone need: parameters, status, and what objectives are computed from.
[[nodiscard]] std::vector<std::string> analysed_columns(const Sweep& sweep);

struct SweepAnalyses {
  PointTable points; ///< in the sweep's order
  std::vector<AnalysisReport> reports;
};
/// They see points that are done. Errors: InputError for columns that the table lacks.
[[nodiscard]] SweepAnalyses analyses_of(const Sweep& sweep, const PointTable& table);

/// Writes into `folder`: points.csv (every point: parameters, derived, facts, results, status and
/// message; nothing measured, so that the same sweep gives the same bytes), one CSV and SVG for
/// each analysis, a JSON for each selection, and index.html, the page that has all of it, how many
/// points aren't done, and why. Names of the files, in order. `formats`: in which figures are
/// written, too. Each is whole or not there.
/// Errors: InputError where a file can't be written.
std::vector<std::string> write_sweep(const Sweep& sweep, const SweepAnalyses& analyses,
                                     const std::string& folder,
                                     std::span<const std::string> formats = {});
/// What the page has. It points to `networks`, which it fills.
[[nodiscard]] Exploration exploration_of(const Sweep& sweep, const SweepAnalyses& analyses,
                                         std::deque<Topology>& networks);
/// The files of the analyses alone, without points.csv and page.
std::vector<std::string> write_analyses(const SweepAnalyses& analyses, const std::string& folder,
                                        std::span<const std::string> formats = {});

/// The analyses as text for a terminal: fronts, best choices, sensitivities, selections; each at
/// most so many lines.
[[nodiscard]] std::string analyses_text(const SweepAnalyses& analyses, std::size_t most_lines,
                                        const TableForm& form = {});

} // namespace tutti::sweep
