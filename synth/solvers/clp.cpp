// Linear programs by COIN-OR Clp: which of its methods, for how long, and what its answers mean. An
// infeasible program that Clp calls unbounded is asked for feasibility alone.

#include "synth/solvers/clp.hpp"

#include "synth/solvers/clp_limit.hpp"

#include <coin/ClpSimplex.hpp>
#include <coin/ClpSolve.hpp>
#include <coin/CoinPackedMatrix.hpp>

#include <vector>

namespace tutti {

namespace {

struct Sides {
  std::vector<double> low, high;

  void add(LinearProgram::Range range) {
    low.push_back(clp_bound(range.low));
    high.push_back(clp_bound(range.high));
  }
};

CoinPackedMatrix matrix(const LinearProgram& program) {
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> columns;
  std::vector<double> factors;
  for (std::uint32_t row = 0; row < program.row_count(); ++row) {
    for (const Term& term : program.terms(row)) {
      columns.push_back(static_cast<int>(term.column));
      factors.push_back(term.factor);
    }
    starts.push_back(static_cast<CoinBigIndex>(columns.size()));
  }
  return {false, // by rows
          static_cast<int>(program.column_count()),
          static_cast<int>(program.row_count()),
          starts.back(),
          factors.data(),
          columns.data(),
          starts.data(),
          nullptr};
}

// Time-expanded flows: with variables merged by many symmetries, primal simplex needs few
// iterations and a barrier method (and a crossover to a vertex) a hundred times as long, since its
// factors are dense; with few symmetries the barrier is faster. So simplex gets a number of
// iterations that is the same on every machine, then comes the barrier.
constexpr int most_simplex_rows = 1000;       // up to here simplex alone
constexpr int rows_per_simplex_iteration = 2; // beyond

// What Clp says of the program that is loaded.
SolverStatus solve(ClpSimplex& model, ClpSolve::SolveType type, LimitWatch& watch) {
  ClpSolve settings;
  settings.setSolveType(type);
  settings.setPresolveType(ClpSolve::presolveOn);
  settings.setSpecialOption(2, 1); // no signal handler
  model.initialSolve(settings);
  if (watch.reached()) return SolverStatus::stopped;
  return status_of(model);
}

SolverStatus solve(const LinearProgram& program, bool with_costs, LimitWatch& watch,
                   ClpSimplex& model) {
  ClpLimitHandler handler(watch);
  load(program, with_costs, model);
  model.passInEventHandler(&handler);
  if (watch.reached()) return SolverStatus::stopped;
  if (model.numberRows() > most_simplex_rows) {
    const int unlimited_iterations = model.maximumIterations();
    model.setMaximumIterations(model.numberRows() / rows_per_simplex_iteration);
    for (const auto type : {ClpSolve::usePrimal, ClpSolve::useBarrier}) {
      const SolverStatus status = solve(model, type, watch);
      const bool decided = status == SolverStatus::optimal || status == SolverStatus::infeasible;
      if (decided || watch.reached()) return status;
      load(program, with_costs, model); // either may have failed where the next doesn't
      model.setMaximumIterations(unlimited_iterations);
    }
  }
  return solve(model, ClpSolve::usePrimal, watch);
}

} // namespace

void load(const LinearProgram& program, bool with_costs, ClpSimplex& model) {
  Sides columns, rows;
  std::vector<double> costs;
  for (std::uint32_t column = 0; column < program.column_count(); ++column) {
    columns.add(program.column(column));
    costs.push_back(with_costs ? program.cost(column) : 0);
  }
  for (std::uint32_t row = 0; row < program.row_count(); ++row) rows.add(program.row(row));
  model.setLogLevel(0);
  model.loadProblem(matrix(program), columns.low.data(), columns.high.data(), costs.data(),
                    rows.low.data(), rows.high.data());
  for (std::uint32_t column = 0; column < program.column_count(); ++column)
    if (program.is_integer(column)) model.setInteger(static_cast<int>(column));
}

SolverStatus status_of(const ClpSimplex& model) {
  switch (model.status()) {
  case 0: return SolverStatus::optimal;
  case 1: return SolverStatus::infeasible;
  case 2: return SolverStatus::unbounded;
  default: return SolverStatus::stopped;
  }
}

void read_off(const ClpSimplex& model, LinearSolution& solution) {
  solution.objective = model.objectiveValue();
  const double *columns = model.primalColumnSolution(), *duals = model.dualRowSolution();
  solution.columns.assign(columns, columns + model.numberColumns());
  solution.duals.assign(duals, duals + model.numberRows());
}

LinearSolution solve_relaxed(const LinearProgram& program, const WorkLimit& limit) {
  LimitWatch watch(limit);
  ClpSimplex model;
  LinearSolution solution;
  solution.status = solve(program, true, watch, model);
  if (solution.status == SolverStatus::unbounded) { // Clp says so of infeasible ones too
    ClpSimplex feasibility;
    const SolverStatus status = solve(program, false, watch, feasibility);
    if (status != SolverStatus::optimal) solution.status = status;
  }
  if (solution.status == SolverStatus::optimal) read_off(model, solution);
  return solution;
}

} // namespace tutti
