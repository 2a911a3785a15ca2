// A row of an analysis, for its CSV and its table alike: a column is said once, with its titles and
// its cell in both forms.
#pragma once

#include "experiments/driver/sweep/report/analysis_report.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::sweep {

class ReportRow {
public:
  /// `header`: of the CSV. `column`: of the table; without a title it isn't there.
  void add(const std::string& header, const Column& column, const std::string& exact,
           const std::string& shown);
  /// Value of a parameter at a point; none where that is no_index or has none. `before`: of titles.
  void add_level(const Levels& levels, std::uint32_t row, const std::string& before = "",
                 std::uint8_t spare = 0, bool wraps = false);
  void add_number(const std::string& header, const Column& column, Unit unit, double number);
  /// The objective of a point; none where that is no_index.
  void add_objective(const ObjectiveValues& objective, std::uint32_t row);
  void add_count(const std::string& header, const Column& column, std::size_t count);

  /// The columns, without a row: those of a row of nothing are those of all.
  void begin(AnalysisReport& report) const {
    begin_csv(report);
    begin_table(report);
  }
  /// Pre: begun with a row of these columns.
  void append_to(AnalysisReport& report) const {
    append_to_csv(report);
    append_to_table(report);
  }
  /// The same of only one of both.
  void begin_csv(AnalysisReport& report) const { report.csv.push_back(headers_); }
  void begin_table(AnalysisReport& report) const { report.table.columns = columns_; }
  void append_to_csv(AnalysisReport& report) const { report.csv.push_back(exact_); }
  void append_to_table(AnalysisReport& report) const { report.table.rows.push_back(shown_); }

private:
  std::vector<std::string> headers_, exact_, shown_;
  std::vector<Column> columns_;
};

} // namespace tutti::sweep
