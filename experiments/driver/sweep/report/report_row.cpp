// One number is written in two ways, see cells.cpp; what isn't known is empty in files and a dash
// for readers, who would take a gap for a mistake.
#include "experiments/driver/sweep/report/report_row.hpp"

#include "experiments/driver/sweep/analysis/cells.hpp"
#include "sim/ids.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tutti::sweep {

void ReportRow::add(const std::string& header, const Column& column, const std::string& exact,
                    const std::string& shown) {
  headers_.push_back(header);
  exact_.push_back(exact);
  if (!column.title.empty()) {
    columns_.push_back(column);
    shown_.push_back(shown);
  }
}

void ReportRow::add_level(const Levels& levels, std::uint32_t row, const std::string& before,
                          std::uint8_t spare, bool wraps) {
  const std::uint32_t level = row == no_index ? no_index : levels.of_row[row];
  add(before + column_title(levels.name, levels.unit),
      {before + levels.name, levels.numeric() ? Align::right : Align::left, spare,
       wraps && !levels.numeric()},
      level == no_index ? "" : exact_text(levels.values[level]),
      level == no_index ? "-" : display_text(levels.values[level]));
}

void ReportRow::add_number(const std::string& header, const Column& column, Unit unit,
                           double number) {
  add(column_title(header, unit), column, exact_text(number),
      std::isnan(number) ? "-" : display_text(number, unit));
}

void ReportRow::add_objective(const ObjectiveValues& objective, std::uint32_t row) {
  add_number(objective.name, {objective.name, Align::right}, objective.unit,
             row == no_index ? std::nan("") : objective.values[row]);
}

void ReportRow::add_count(const std::string& header, const Column& column, std::size_t count) {
  add(header, column, fmt::to_string(count), fmt::to_string(count));
}

} // namespace tutti::sweep
