// New columns are collected and given to Clp at the next solution, as it copies its matrix each
// time. The basis of the last solution stays feasible for the primal simplex, so that it goes on
// from there. Tolerances are tighter than Clp's own, since loads are compared to 1e-9.

#include "synth/solvers/column_program.hpp"

#include "synth/solvers/clp.hpp"
#include "synth/solvers/clp_limit.hpp"

#include <coin/ClpFactorization.hpp>
#include <coin/ClpSimplex.hpp>

#include <algorithm>

namespace tutti {

namespace {

constexpr double tolerance = 1e-10; // of rows and reduced costs: loads are compared to 1e-9

} // namespace

struct ColumnProgram::Implementation {
  ClpSimplex model;
  // Columns that Clp doesn't have yet: it copies its matrix whenever it gets some.
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> rows;
  std::vector<double> factors, costs, lows, highs;
  std::uint64_t numbers = 0, factor = 0, work = 0;

  void flush() {
    if (costs.empty()) return;
    model.addColumns(static_cast<int>(costs.size()), lows.data(), highs.data(), costs.data(),
                     starts.data(), rows.data(), factors.data());
    starts.assign(1, 0);
    for (std::vector<double>* some : {&factors, &costs, &lows, &highs}) some->clear();
    rows.clear();
  }
};

ColumnProgram::ColumnProgram(std::span<const LinearProgram::Range> rows)
    : implementation_(std::make_unique<Implementation>()) {
  ClpSimplex& model = implementation_->model;
  model.setLogLevel(0);
  model.setPrimalTolerance(tolerance);
  model.setDualTolerance(tolerance);
  model.resize(static_cast<int>(rows.size()), 0);
  for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
    const LinearProgram::Range range = rows[static_cast<std::size_t>(row)];
    model.setRowBounds(row, clp_bound(range.low), clp_bound(range.high));
  }
}

ColumnProgram::~ColumnProgram() = default;

std::uint32_t ColumnProgram::add_column(double cost, double low, double high,
                                        std::span<const RowTerm> terms) {
  Implementation& with = *implementation_;
  const std::uint32_t column = column_count();
  for (const RowTerm& term : terms) {
    with.rows.push_back(static_cast<int>(term.row));
    with.factors.push_back(term.factor);
  }
  with.numbers += terms.size();
  with.starts.push_back(static_cast<CoinBigIndex>(with.rows.size()));
  with.costs.push_back(cost);
  with.lows.push_back(clp_bound(low));
  with.highs.push_back(clp_bound(high));
  return column;
}

void ColumnProgram::set_cost(std::uint32_t column, double cost) {
  implementation_->flush();
  implementation_->model.setObjectiveCoefficient(static_cast<int>(column), cost);
}

void ColumnProgram::set_limits(std::uint32_t column, double low, double high) {
  implementation_->flush();
  implementation_->model.setColumnBounds(static_cast<int>(column), clp_bound(low), clp_bound(high));
}

std::uint32_t ColumnProgram::column_count() const {
  return static_cast<std::uint32_t>(implementation_->model.numberColumns()) +
         static_cast<std::uint32_t>(implementation_->costs.size());
}

std::uint64_t ColumnProgram::work() const { return implementation_->work; }

std::uint64_t ColumnProgram::pivot_work() const {
  const auto rows = static_cast<std::uint64_t>(implementation_->model.numberRows());
  constexpr std::uint64_t passes = 4; // forth and back, for the column and for the row
  return implementation_->numbers +
         std::min(rows * rows, passes * (rows + implementation_->factor));
}

LinearSolution ColumnProgram::solve(const WorkLimit& limit, std::uint64_t most_pivots) {
  implementation_->flush();
  LimitWatch watch(limit, most_pivots); // asked at each pivot
  LinearSolution solution;
  if (watch.reached()) return solution;
  ClpSimplex& model = implementation_->model;
  ClpLimitHandler handler(watch);
  model.passInEventHandler(&handler);
  model.primal();
  // Dense columns sometimes make Clp call a program infeasible that isn't: dual simplex, or a start
  // from the slack basis, settles it.
  if (model.status() != 0 && !watch.reached()) model.dual();
  if (model.status() != 0 && !watch.reached()) {
    model.allSlackBasis(true);
    model.primal();
  }
  if (const ClpFactorization* factorization = model.factorization())
    implementation_->factor = static_cast<std::uint64_t>(factorization->numberElements());
  implementation_->work += watch.questions() * pivot_work();
  if (watch.reached()) return solution;
  solution.status = status_of(model);
  if (solution.status == SolverStatus::optimal) read_off(model, solution);
  return solution;
}

} // namespace tutti
