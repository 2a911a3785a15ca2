// What a study's results say: tables, figures, and one page with all of them.
#pragma once

#include "experiments/sweep/point_table.hpp"
#include "experiments/sweep/study.hpp"

#include <string>
#include <vector>

namespace tutti::sweep {

/// Writes into `folder`: points.csv (every point: parameters, derived, facts, results, status and
/// message; nothing measured, so that the same study gives the same bytes), one CSV and SVG for
/// each analysis, a JSON for each selection, and index.html, a page without scripts that has all of
/// it inline. Names of the files, in order. Each is whole or not there.
/// Analyses see points that are done; how many aren't, and why, stands on the page.
/// Where gnuplot is missing: no SVG, and a line on the page.
/// Errors: InputError where a file can't be written.
std::vector<std::string> write_analyses(const Study& study, const PointTable& table,
                                        const std::string& folder);

/// The columns that the study's analyses need, for Store::table().
[[nodiscard]] std::vector<std::string> analysed_columns(const Study& study);

/// The analyses as text for a terminal: fronts, best choices, sensitivities, selections; each at
/// most so many lines.
[[nodiscard]] std::string analyses_text(const Study& study, const PointTable& table,
                                        std::size_t most_lines);

} // namespace tutti::sweep
