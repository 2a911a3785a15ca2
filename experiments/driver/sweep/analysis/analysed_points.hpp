// What analyses read of a sweep's points: parameters as levels, objectives as numbers.
#pragma once

#include "experiments/driver/sweep/analysis/levels.hpp"
#include "experiments/driver/sweep/space/point_table.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

/// An objective of every point.
struct ObjectiveValues {
  std::string name;
  bool maximise = false;
  Unit unit = Unit::none;
  std::vector<double> values; ///< [row]; NaN: the point isn't done, or has no value

  [[nodiscard]] bool has(std::size_t row) const { return values[row] == values[row]; }
  [[nodiscard]] bool better(double a, double b) const { return maximise ? a > b : a < b; }
  /// Which is the best, in a word.
  [[nodiscard]] const char* aim() const { return maximise ? "largest" : "least"; }
};

/// Values of the objective in rows whose status is "done". An expression that is a column's name is
/// that column; any other is evaluated for each row; a row for which that fails (a division by
/// zero) has no value.
/// Errors: InputError for an expression that can't be read, or a table without a column that it
/// needs.
[[nodiscard]] ObjectiveValues objective_values(const PointTable& table, const Objective& objective);

class AnalysedPoints {
public:
  /// Both must outlive it. Rows in the sweep's order. Errors: InputError without a column `status`.
  AnalysedPoints(const Sweep& sweep, const PointTable& table);

  [[nodiscard]] const Sweep& sweep() const { return *sweep_; }
  [[nodiscard]] const PointTable& table() const { return *table_; }
  [[nodiscard]] std::size_t rows() const { return table_->rows; }

  /// Both are computed once, at their first use; references stay valid. Errors: InputError for an
  /// unknown name. `column`: or several as one, whose levels are texts: "network, npus".
  const Levels& levels(const std::string& column);
  const ObjectiveValues& objective(const std::string& name);

  /// The levels of several columns.
  std::vector<const Levels*> levels_of(std::span<const std::string> columns);
  /// The levels of all parameters with more than one value, but for these.
  std::vector<const Levels*> varied_but(std::span<const Levels* const> these);

  /// Rows with equal values in these columns.
  Grouping grouped_by(std::span<const std::string> columns);
  /// Parameters of the table that have more than one value.
  std::vector<std::string> varied_parameters();
  /// Whether both are of one zip, in which every value of `from` has one value of `other`.
  bool follows(const std::string& other, const std::string& from);

private:
  const Sweep* sweep_;
  const PointTable* table_;
  std::map<std::string, Levels> levels_;
  std::map<std::string, ObjectiveValues> objectives_;
};

/// [group]: the row with the best objective, the first of equals; no_index: none has a value.
[[nodiscard]] std::vector<std::uint32_t> best_rows(const Grouping& grouping,
                                                   const ObjectiveValues& objective);

/// The table with a column for each objective that isn't one by its name.
[[nodiscard]] PointTable with_objectives(const Sweep& sweep, PointTable table);

struct ChosenPoints {
  std::vector<std::uint32_t> rows;
  std::vector<std::string> names; ///< columns that the condition names
  std::size_t unclear = 0;        ///< rows for which it can't be computed: a division by zero
  std::string why = {};           ///< for the first of them
};
/// Those for which a condition over the table's columns holds. Errors: InputError for a condition
/// that can't be read, or that holds nowhere and can't be computed somewhere.
[[nodiscard]] ChosenPoints points_where(const PointTable& table, const std::string& condition);

/// The rows in the order of the sweep's axes (numbers ascending, texts as they are listed), the
/// last axis running fastest: the same whatever order they had, where no two have the same
/// parameters.
[[nodiscard]] PointTable in_sweep_order(const Sweep& sweep, const PointTable& table);

} // namespace tutti::sweep
