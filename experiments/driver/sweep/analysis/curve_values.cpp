// Points are grouped twice: by what makes a place on a curve (`by`, series, x), and within it by
// the repetition. Each repetition gives one value, its best; a place without repetitions has one.
#include "experiments/driver/sweep/analysis/curve_values.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace tutti::sweep {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> cell_columns(const CurvesAnalysis& analysis, bool with_series) {
  std::vector<std::string> columns = analysis.head.by;
  if (with_series && !analysis.series.empty()) columns.push_back(analysis.series);
  columns.push_back(analysis.x);
  return columns;
}

std::vector<std::string> with_replicates(std::vector<std::string> columns,
                                         const CurvesAnalysis& analysis) {
  if (!analysis.replicates.empty()) columns.push_back(analysis.replicates);
  return columns;
}

// By the text that the sweep says, which is a number's or a text's.
std::uint32_t reference_level(const CurvesAnalysis& analysis, const Levels& series) {
  std::vector<std::string> known;
  for (std::uint32_t level = 0; level < series.values.size(); ++level) {
    known.push_back(to_text(series.values[level]));
    if (known.back() == analysis.relative_to ||
        series.values[level] == text_value(analysis.relative_to))
      return level;
  }
  throw InputError(unknown_name("series", analysis.relative_to, known));
}

// What values are divided by: 1, or those of the reference series. A repetition is compared with
// the same repetition of the reference (the same seed, say): what both share cancels, and the
// spread of the ratio is that of the difference alone.
class Reference {
public:
  Reference(const CurvesAnalysis& analysis, AnalysedPoints& points) {
    if (analysis.relative_to.empty() || points.rows() == 0) return;
    const Levels& series = points.levels(analysis.series);
    const std::uint32_t level = reference_level(analysis, series);
    const ObjectiveValues& objective = points.objective(analysis.objective);
    places_ = points.grouped_by(with_replicates(cell_columns(analysis, false), analysis));
    ObjectiveValues of_series = objective;
    for (std::size_t row = 0; row < series.of_row.size(); ++row)
      if (series.of_row[row] != level) of_series.values[row] = nothing;
    for (const std::uint32_t row : best_rows(places_, of_series))
      values_.push_back(row == no_index ? nothing : objective.values[row]);
    there_ = true;
  }
  // The value of a point over the reference's; NaN where that has none.
  [[nodiscard]] double relative(double value, std::uint32_t row) const {
    if (!there_) return value;
    const double ratio = value / values_[places_.of_row[row]];
    return std::isfinite(ratio) ? ratio : nothing;
  }

private:
  bool there_ = false;
  Grouping places_;
  std::vector<double> values_; ///< [place]
};

} // namespace

std::vector<CurveCell> curve_cells(const CurvesAnalysis& analysis, AnalysedPoints& points) {
  const ObjectiveValues& objective = points.objective(analysis.objective);
  const Reference reference(analysis, points);
  const std::vector<std::string> columns = cell_columns(analysis, true);
  const Grouping places = points.grouped_by(columns);
  const Grouping repetitions = points.grouped_by(with_replicates(columns, analysis));
  const std::vector<std::uint32_t> best = best_rows(repetitions, objective);
  std::vector<CurveCell> cells(places.size());
  std::vector<std::vector<double>> values(places.size());
  for (std::size_t p = 0; p < places.size(); ++p) cells[p].first_row = places.first_row[p];
  for (std::size_t r = 0; r < repetitions.size(); ++r) {
    const std::uint32_t place = places.of_row[repetitions.first_row[r]];
    const double value =
        best[r] == no_index ? nothing : reference.relative(objective.values[best[r]], best[r]);
    if (std::isnan(value)) {
      ++cells[place].without_result;
      continue;
    }
    cells[place].row = best[r];
    values[place].push_back(value);
  }
  for (std::size_t p = 0; p < cells.size(); ++p) {
    if (values[p].empty()) continue;
    if (!analysis.replicates.empty()) {
      cells[p].row = no_index;
      cells[p].summary = summary_of(values[p]);
    }
    cells[p].value = analysis.quantile > 0 ? quantile_of(values[p], analysis.quantile)
                     : cells[p].summary    ? cells[p].summary->mean
                                           : values[p].front();
  }
  return cells;
}

} // namespace tutti::sweep
