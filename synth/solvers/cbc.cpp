#include "synth/solvers/clp.hpp"
#include "synth/solvers/limit_watch.hpp"

#include <fmt/format.h>

#include <coin/CbcEventHandler.hpp>
#include <coin/CbcModel.hpp>
#include <coin/CbcSolver.hpp>
#include <coin/ClpSimplex.hpp>
#include <coin/OsiClpSolverInterface.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tutti {

namespace {

// Cbc's copies of it, one for each of its inner models, share the watch.
class LimitHandler : public CbcEventHandler {
public:
  explicit LimitHandler(LimitWatch& watch) : watch_(&watch) {}
  CbcAction event(CbcEvent) override { return watch_->reached() ? stop : noAction; }
  CbcAction event(CbcEvent which, void*) override { return event(which); }
  [[nodiscard]] CbcEventHandler* clone() const override { return new LimitHandler(*this); }

private:
  LimitWatch* watch_;
};

// The options of the command `cbc`.
std::vector<std::string> arguments(const IntegerSettings& settings, const WorkLimit& limit) {
  std::vector<std::string> result{"cbc", "-log", "0", "-threads", "0", "-timeMode", "elapsed"};
  const auto add = [&](const std::string& option, const std::string& value) {
    result.push_back(option);
    result.push_back(value);
  };
  if (settings.first_feasible) add("-maxSolutions", "1");
  if (settings.most_nodes >= 0) add("-maxNodes", fmt::format("{}", settings.most_nodes));
  if (std::isfinite(limit.remaining_seconds()))
    add("-seconds", fmt::format("{:.3f}", limit.remaining_seconds()));
  result.insert(result.end(), {"-solve", "-quit"});
  return result;
}

// Cbc as its own command calls it: with preprocessing, and all heuristics and cuts by default.
void search(CbcModel& model, const std::vector<std::string>& options) {
  std::vector<const char*> argv;
  for (const std::string& option : options) argv.push_back(option.c_str());
  CbcSolverUsefulData data;
  data.noPrinting_ = true;
  data.useSignalHandler_ = false;
  CbcMain0(model, data);
  CbcMain1(
      static_cast<int>(argv.size()), argv.data(), model, [](CbcModel*, int) { return 0; }, data);
}

SolverStatus solver_status(const CbcModel& model) {
  if (model.isProvenOptimal()) return SolverStatus::optimal;
  if (model.isContinuousUnbounded()) return SolverStatus::unbounded;
  if (model.isProvenInfeasible()) return SolverStatus::infeasible;
  return SolverStatus::stopped;
}

bool within(double value, const LinearProgram::Range& range) {
  const auto tolerance = [](double side) { return 1e-6 * std::max(1.0, std::abs(side)); };
  return value >= range.low - tolerance(range.low) && value <= range.high + tolerance(range.high);
}

bool satisfied(const LinearProgram& program, const std::vector<double>& columns) {
  for (std::uint32_t c = 0; c < program.column_count(); ++c)
    if (!within(columns[c], program.column(c))) return false;
  for (std::uint32_t r = 0; r < program.row_count(); ++r) {
    double sum = 0;
    for (const Term& term : program.terms(r)) sum += term.factor * columns[term.column];
    if (!within(sum, program.row(r))) return false;
  }
  return true;
}

// Without costs only feasibility is asked.
IntegerSolution solve(const LinearProgram& program, bool with_costs, const WorkLimit& limit,
                      const IntegerSettings& settings) {
  ClpSimplex clp;
  load(program, with_costs, clp);
  const OsiClpSolverInterface solver(&clp);
  CbcModel model(solver);
  LimitWatch watch(limit);
  LimitHandler handler(watch);
  model.passInEventHandler(&handler);
  search(model, arguments(settings, limit));
  IntegerSolution solution{solver_status(model), 0, {}};
  const double* const best = model.bestSolution();
  if (best == nullptr) return solution;
  for (std::uint32_t c = 0; c < program.column_count(); ++c) {
    solution.columns.push_back(program.is_integer(c) ? std::round(best[c]) : best[c]);
    solution.objective += program.cost(c) * solution.columns.back();
  }
  return satisfied(program, solution.columns) ? solution : IntegerSolution{};
}

} // namespace

IntegerSolution solve_integer(const LinearProgram& program, const WorkLimit& limit,
                              const IntegerSettings& settings) {
  if (limit.reached()) return {};
  if (program.column_count() == 0) // Cbc says nothing of that
    return {solve_relaxed(program, limit).status, 0, {}};
  IntegerSolution solution = solve(program, true, limit, settings);
  if (solution.status != SolverStatus::unbounded) return solution;
  // Only without its integrality is it known to be.
  const IntegerSettings any{.first_feasible = true, .most_nodes = settings.most_nodes};
  const IntegerSolution feasible = solve(program, false, limit, any);
  if (feasible.columns.empty()) solution.status = feasible.status;
  return solution;
}

} // namespace tutti
