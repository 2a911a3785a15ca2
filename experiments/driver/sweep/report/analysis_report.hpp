// What one analysis comes to, before it is written: tables, figures, words.
#pragma once

#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/sweep/analysis/analysed_points.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

struct ReportFigure {
  std::string part; ///< which values of `by`: "all_reduce"; empty: the only one
  std::string title;
  Figure figure;
};

struct AnalysisReport {
  std::string kind;  ///< "pareto": what its files' names begin with
  std::string label; ///< what they go on with
  std::string title;
  std::string title_text;               ///< with ${names} of `by`, and of parameters with one value
  std::vector<const Levels*> titled;    ///< columns of these names
  std::string explanation;              ///< how to read the table
  std::vector<std::string> conclusions; ///< what it says, in sentences with their numbers
  std::vector<std::string> notes;       ///< what a reader must know of these results
  Table table;                          ///< for readers
  std::vector<std::vector<std::string>> csv; ///< with a header
  std::vector<ReportFigure> figures;
  std::string json; ///< empty: none

  /// The title for one combination of `by`, of which `row` is one: the words name it, unless the
  /// title does. Names that differ within it stay names.
  [[nodiscard]] std::string title_of(const std::string& words, std::span<const Levels* const> by,
                                     std::uint32_t row) const;
};

/// An analysis has at most so many figures; beyond, a note says how many there would be.
inline constexpr std::size_t most_figures = 24;

/// Columns and rows are there, without rows where no point has a value. Errors: InputError for
/// columns that the table lacks.
[[nodiscard]] AnalysisReport pareto_report(const ParetoAnalysis& analysis, AnalysedPoints& points);
[[nodiscard]] AnalysisReport best_report(const BestAnalysis& analysis, AnalysedPoints& points);
[[nodiscard]] AnalysisReport sensitivity_report(const SensitivityAnalysis& analysis,
                                                AnalysedPoints& points);
[[nodiscard]] AnalysisReport curves_report(const CurvesAnalysis& analysis, AnalysedPoints& points);
[[nodiscard]] AnalysisReport selection_report(const SelectionAnalysis& analysis,
                                              AnalysedPoints& points);

/// A note under a figure, which begins with the sweep's title: pictures are looked at alone, too.
[[nodiscard]] std::string case_note(const Sweep& sweep, const std::string& note);

/// "torus: ", to say of which combination something is; "" of the only one.
[[nodiscard]] std::string begin_of_part(const std::string& part);

/// Kind, label and title, nothing else.
[[nodiscard]] AnalysisReport begun_report(std::string kind, const AnalysisHead& head,
                                          AnalysedPoints& points);
/// "tacos in 60 of 88 cases, flows in 20, rhd in 5, 2 others in 3": the most frequent first.
[[nodiscard]] std::string counts_text(const std::vector<std::string>& names);
/// Drops figures beyond the most, with a note.
void limit_figures(AnalysisReport& report);

} // namespace tutti::sweep
