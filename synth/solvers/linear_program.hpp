// Linear programs, and their solution by COIN-OR Clp.
#pragma once

#include "sim/work_limit.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tutti {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Term {
  std::uint32_t column;
  double factor;
};

/// Minimize cost * x, where row.low <= terms * x <= row.high and column.low <= x <= column.high.
class LinearProgram {
public:
  struct Range {
    double low, high;
  };

  /// The index of the new column.
  std::uint32_t add_column(double cost, double low, double high, bool integer = false);
  /// The index of the new row. A column may stand in several terms: they add up.
  std::uint32_t add_row(double low, double high, std::span<const Term> terms);

  [[nodiscard]] std::uint32_t column_count() const {
    return static_cast<std::uint32_t>(columns_.size());
  }
  [[nodiscard]] std::uint32_t row_count() const { return static_cast<std::uint32_t>(rows_.size()); }
  [[nodiscard]] double cost(std::uint32_t column) const { return costs_[column]; }
  [[nodiscard]] Range column(std::uint32_t column) const { return columns_[column]; }
  [[nodiscard]] Range row(std::uint32_t row) const { return rows_[row]; }
  [[nodiscard]] bool is_integer(std::uint32_t column) const { return integer_[column] != 0; }
  /// Without zeros, each column once, in the order of their first mention.
  [[nodiscard]] std::span<const Term> terms(std::uint32_t row) const {
    return std::span(terms_).subspan(row_begin_[row], row_begin_[row + 1] - row_begin_[row]);
  }

private:
  std::vector<double> costs_;
  std::vector<Range> columns_, rows_;
  std::vector<std::uint8_t> integer_;
  std::vector<Term> terms_;
  std::vector<std::size_t> row_begin_{0};
};

/// Whether these values of the first columns keep to their ranges, and to the first rows, which
/// have terms in these columns only; to 1e-6 of a side, or of 1.
[[nodiscard]] bool satisfies(const LinearProgram& program, std::span<const double> columns,
                             std::uint32_t rows);

enum class SolverStatus : std::uint8_t {
  optimal,
  infeasible,
  unbounded,
  stopped, ///< by the limit or a numerical failure: nothing is proven
};

struct LinearSolution {
  SolverStatus status = SolverStatus::stopped;
  double objective = 0;
  std::vector<double> columns; ///< values of the columns; empty unless optimal
  std::vector<double> duals;   ///< per row: what a higher row costs; empty unless optimal
};

/// Clp; integrality is ignored. Deterministic as long as the limit isn't reached.
[[nodiscard]] LinearSolution solve_relaxed(const LinearProgram& program, const WorkLimit& limit);

} // namespace tutti
