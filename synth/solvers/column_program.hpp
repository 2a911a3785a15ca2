// A linear program that grows by columns: the master problem of a column generation. By COIN-OR
// Clp, which goes on from the basis that it has.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/solvers/linear_program.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tutti {

struct RowTerm {
  std::uint32_t row;
  double factor;
};

/// Minimize cost * x, where row.low <= columns * x <= row.high and x within its limits. Not
/// copyable.
class ColumnProgram {
public:
  explicit ColumnProgram(std::span<const LinearProgram::Range> rows);
  ~ColumnProgram();
  ColumnProgram(const ColumnProgram&) = delete;
  ColumnProgram& operator=(const ColumnProgram&) = delete;
  ColumnProgram(ColumnProgram&&) = delete;
  ColumnProgram& operator=(ColumnProgram&&) = delete;

  /// The index of the new column. Each row at most once among the terms.
  std::uint32_t add_column(double cost, double low, double high, std::span<const RowTerm> terms);
  void set_cost(std::uint32_t column, double cost);
  void set_limits(std::uint32_t column, double low, double high);
  [[nodiscard]] std::uint32_t column_count() const;

  /// Primal simplex from where the last one ended, of about so many pivots. Deterministic as long
  /// as the limit isn't reached. `duals`: what a higher row costs.
  [[nodiscard]] LinearSolution solve(const WorkLimit& limit,
                                     std::uint64_t most_pivots = UINT64_MAX);
  /// What a pivot takes now, counted: the numbers of the columns, of which it prices all, and
  /// those of the last factor, of which there are few where columns share few rows.
  [[nodiscard]] std::uint64_t pivot_work() const;
  /// That of all pivots so far.
  [[nodiscard]] std::uint64_t work() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace tutti
