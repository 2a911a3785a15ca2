// The program starts from the plan that satisfiability found, and its bound is never worse than
// what holds without any search.
#include "synth/teccl/one_shot/optimum.hpp"

#include "synth/solvers/integer_program.hpp"
#include "synth/teccl/needed_sends.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace tutti {

namespace {

/// If everything were worth its least cost: what holds without any search.
double least_costs(const LinearProgram& program) {
  double sum = 0;
  for (std::uint32_t c = 0; c < program.column_count(); ++c)
    sum +=
        std::min(program.cost(c) * program.column(c).low, program.cost(c) * program.column(c).high);
  return sum;
}

EpochStatus epoch_status(const IntegerSolution& solution) {
  if (solution.status == SolverStatus::optimal) return EpochStatus::optimal;
  if (solution.status == SolverStatus::infeasible) return EpochStatus::infeasible;
  return solution.columns.empty() ? EpochStatus::timed_out : EpochStatus::feasible;
}

} // namespace

EpochAnswer epoch_optimum(const EpochProblem& problem, std::uint32_t epochs,
                          EpochObjective objective, const std::optional<EpochPlan>& start,
                          const OptimumEffort& effort, const WorkLimit& limit) {
  const auto began = std::chrono::steady_clock::now();
  EpochProgram made(problem, {.end = Epoch{epochs}}, reward_of(objective));
  IntegerSettings settings;
  settings.most_nodes = effort.most_nodes;
  settings.gap = effort.gap;
  if (start)
    if (auto columns = made.columns(without_useless(problem, *start)))
      settings.start = *std::move(columns);
  const IntegerSolution solution = solve_integer(made.program(), limit, settings);

  EpochAnswer answer;
  answer.status = epoch_status(solution);
  answer.method = std::string(integer_solver_name());
  if (answer.status == EpochStatus::optimal || answer.status == EpochStatus::feasible) {
    answer.plan = without_useless(problem, made.plan(solution.columns));
    answer.objective = -solution.objective;
  }
  if (answer.status != EpochStatus::infeasible)
    answer.at_most = -std::max(solution.at_least, least_costs(made.program()));
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return answer;
}

} // namespace tutti
