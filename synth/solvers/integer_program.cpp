// Solvers answer within tolerances, callers need facts. So a start is checked before it is given
// on, a solution after it comes back, both against the program itself; objectives are computed anew
// from rounded columns, and what isn't below the asked limit is no solution. A start that nothing
// beats is the optimum.

#include "synth/solvers/integer_program.hpp"

#include "synth/solvers/integer_search.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

double objective_of(const LinearProgram& program, const std::vector<double>& columns) {
  double objective = 0;
  for (std::uint32_t c = 0; c < program.column_count(); ++c)
    objective += program.cost(c) * columns[c];
  return objective;
}

bool is_start(const LinearProgram& program, const IntegerSettings& settings) {
  const std::vector<double>& start = settings.start;
  return start.size() == program.column_count() && satisfies(program, start, program.row_count()) &&
         objective_of(program, start) < settings.below;
}

// Better of what the search found, which is checked, and the start.
IntegerSolution found(const LinearProgram& program, IntegerSolution solution,
                      const IntegerSettings& settings) {
  if (!solution.columns.empty()) {
    solution.objective = objective_of(program, solution.columns);
    if (!satisfies(program, solution.columns, program.row_count())) solution = {};
  }
  if (!solution.columns.empty() && solution.objective >= settings.below) { // within tolerances
    solution.columns.clear();
    if (solution.status == SolverStatus::optimal) solution.status = SolverStatus::infeasible;
  }
  if (!settings.start.empty()) {
    const double objective = objective_of(program, settings.start);
    if (solution.columns.empty() || objective < solution.objective) {
      solution.columns = settings.start;
      solution.objective = objective;
      if (solution.status == SolverStatus::infeasible) { // nothing is better than the start
        solution.status = SolverStatus::optimal;
        solution.at_least = objective;
      }
    }
  }
  if (solution.columns.empty()) solution.objective = 0;
  if (solution.status == SolverStatus::infeasible) solution.at_least = unlimited;
  if (solution.status == SolverStatus::optimal)
    solution.at_least = std::min(solution.at_least, solution.objective);
  return solution;
}

} // namespace

IntegerSolution solve_integer(const LinearProgram& program, const WorkLimit& limit,
                              const IntegerSettings& settings) {
  IntegerSettings used = settings;
  if (!is_start(program, settings)) used.start.clear();
  if (limit.reached()) return found(program, {}, used);
  if (program.column_count() == 0) { // solvers of integer programs say nothing of that
    const SolverStatus status = solve_relaxed(program, limit).status;
    IntegerSolution solution;
    solution.status = status;
    solution.at_least = 0;
    return found(program, std::move(solution), used);
  }
  IntegerSolution solution = integer_search(program, true, limit, used);
  if (solution.status != SolverStatus::unbounded) return found(program, std::move(solution), used);
  // Only without its integrality is it known to be.
  const IntegerSettings any{.first_feasible = true, .most_nodes = settings.most_nodes};
  const IntegerSolution feasible = integer_search(program, false, limit, any);
  if (feasible.columns.empty()) solution.status = feasible.status;
  return found(program, std::move(solution), used);
}

} // namespace tutti
