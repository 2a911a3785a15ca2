// Integer programs by HiGHS, where CMake finds it: what cbc.cpp answers, in a library that asks a
// callback whether to go on. An upper limit on the objective becomes a row, as HiGHS has no cutoff
// for integer programs.

#include "sim/limit_watch.hpp"
#include "synth/solvers/integer_search.hpp"

#include <Highs.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tutti {

namespace {

double highs_bound(double bound) {
  return std::isfinite(bound) ? bound : std::copysign(kHighsInf, bound);
}

void add_columns(const LinearProgram& program, bool with_costs, HighsLp& lp) {
  lp.num_col_ = static_cast<HighsInt>(program.column_count());
  for (std::uint32_t c = 0; c < program.column_count(); ++c) {
    lp.col_cost_.push_back(with_costs ? program.cost(c) : 0);
    lp.col_lower_.push_back(highs_bound(program.column(c).low));
    lp.col_upper_.push_back(highs_bound(program.column(c).high));
    lp.integrality_.push_back(program.is_integer(c) ? HighsVarType::kInteger
                                                    : HighsVarType::kContinuous);
  }
}

HighsLp loaded(const LinearProgram& program, bool with_costs, double below) {
  HighsLp lp;
  add_columns(program, with_costs, lp);
  lp.a_matrix_.format_ = MatrixFormat::kRowwise;
  lp.a_matrix_.num_col_ = lp.num_col_;
  const auto end_row = [&](double low, double high) {
    lp.row_lower_.push_back(highs_bound(low));
    lp.row_upper_.push_back(highs_bound(high));
    lp.a_matrix_.start_.push_back(static_cast<HighsInt>(lp.a_matrix_.index_.size()));
    lp.num_row_ = lp.a_matrix_.num_row_ = static_cast<HighsInt>(lp.row_lower_.size());
  };
  const auto add_term = [&](std::uint32_t column, double factor) {
    lp.a_matrix_.index_.push_back(static_cast<HighsInt>(column));
    lp.a_matrix_.value_.push_back(factor);
  };
  for (std::uint32_t r = 0; r < program.row_count(); ++r) {
    for (const Term& term : program.terms(r)) add_term(term.column, term.factor);
    end_row(program.row(r).low, program.row(r).high);
  }
  if (with_costs && std::isfinite(below)) { // it has no cut-off of its own for integer programs
    for (std::uint32_t c = 0; c < program.column_count(); ++c)
      if (program.cost(c) != 0) add_term(c, program.cost(c));
    end_row(-unlimited, below);
  }
  return lp;
}

void set_options(Highs& highs, bool with_costs, const WorkLimit& limit,
                 const IntegerSettings& settings) {
  highs.setOptionValue("output_flag", false);
  highs.setOptionValue("threads", 1);
  highs.setOptionValue("mip_rel_gap", with_costs ? settings.gap : 0.0);
  highs.setOptionValue("mip_abs_gap", 1e-9);
  if (settings.first_feasible) highs.setOptionValue("mip_max_improving_sols", 1);
  if (settings.most_nodes >= 0)
    highs.setOptionValue("mip_max_nodes", static_cast<HighsInt>(settings.most_nodes));
  if (!limit.is_counted() && std::isfinite(limit.remaining_seconds()))
    highs.setOptionValue("time_limit", limit.remaining_seconds());
}

SolverStatus model_status(const Highs& highs) {
  switch (highs.getModelStatus()) {
  case HighsModelStatus::kOptimal: return SolverStatus::optimal;
  case HighsModelStatus::kInfeasible: return SolverStatus::infeasible;
  case HighsModelStatus::kUnbounded:
  case HighsModelStatus::kUnboundedOrInfeasible: return SolverStatus::unbounded;
  default: return SolverStatus::stopped;
  }
}

} // namespace

std::string_view integer_solver_name() { return "HiGHS"; }

IntegerSolution integer_search(const LinearProgram& program, bool with_costs,
                               const WorkLimit& limit, const IntegerSettings& settings) {
  Highs highs;
  set_options(highs, with_costs, limit, settings);
  if (highs.passModel(loaded(program, with_costs, settings.below)) == HighsStatus::kError)
    return {};
  LimitWatch watch(limit);
  highs.setCallback([&watch](int, const std::string&, const auto*, auto* answer, void*) {
    if (watch.reached()) answer->user_interrupt = true;
  });
  for (const auto when : {kCallbackMipInterrupt, kCallbackSimplexInterrupt, kCallbackIpmInterrupt})
    highs.startCallback(when);
  if (with_costs && !settings.start.empty()) {
    HighsSolution start;
    start.col_value = settings.start;
    highs.setSolution(start);
  }
  highs.run();
  IntegerSolution solution;
  solution.status = model_status(highs);
  const std::vector<HighsVarType>& kinds = highs.getLp().integrality_; // without, it isn't set
  if (std::ranges::find(kinds, HighsVarType::kInteger) != kinds.end())
    if (const double bound = highs.getInfo().mip_dual_bound; std::isfinite(bound))
      solution.at_least = bound;
  if (highs.getInfo().primal_solution_status != kSolutionStatusFeasible) return solution;
  const std::vector<double>& best = highs.getSolution().col_value;
  for (std::uint32_t c = 0; c < program.column_count(); ++c)
    solution.columns.push_back(program.is_integer(c) ? std::round(best[c]) : best[c]);
  return solution;
}

} // namespace tutti
