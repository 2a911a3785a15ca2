// Integer programs by COIN-OR Cbc, as its own command would solve them: CbcMain1 with
// preprocessing, heuristics and cuts. Most of this file are guards against Cbc 2.10: names for
// columns that its preprocessing adds, no time limit of its own (it crashes where that ends the
// preprocessing), and large programs in a process of their own, since the preprocessing asks nobody
// whether to go on.

#include "sim/limit_watch.hpp"
#include "sim/processes/isolated.hpp"
#include "synth/solvers/clp.hpp"
#include "synth/solvers/integer_search.hpp"

#include <fmt/format.h>

#include <coin/CbcEventHandler.hpp>
#include <coin/CbcModel.hpp>
#include <coin/CbcSolver.hpp>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinError.hpp>
#include <coin/OsiClpSolverInterface.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
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

// Where the preprocessing of Cbc 2.10 adds columns and there is a start, it asks the program before
// that for the names of columns that this doesn't have; Clp complains on the standard error output
// and throws. Here they have names, of which no start knows anything.
class NamingSolver : public OsiClpSolverInterface {
public:
  using OsiClpSolverInterface::OsiClpSolverInterface;
  [[nodiscard]] OsiSolverInterface* clone(bool copy_data = true) const override {
    return copy_data ? new NamingSolver(*this) : new NamingSolver;
  }
  [[nodiscard]] std::string getColName(int column, unsigned longest) const override {
    if (column >= 0 && column < getNumCols())
      return OsiClpSolverInterface::getColName(column, longest);
    return fmt::format("added{}", column);
  }
};

// The options of the command `cbc`. Without its limit of seconds: where that ends Cbc 2.10 in the
// middle of its preprocessing, it takes back what was never done, and crashes. The handler is asked
// from the first relaxation on; see ended_with_limit().
std::vector<std::string> arguments(const IntegerSettings& settings, bool with_costs) {
  std::vector<std::string> result{"cbc", "-log", "0", "-threads", "0", "-timeMode", "elapsed"};
  const auto add = [&](const std::string& option, const std::string& value) {
    result.push_back(option);
    result.push_back(value);
  };
  if (settings.first_feasible) add("-maxSolutions", "1");
  if (settings.most_nodes >= 0) add("-maxNodes", fmt::format("{}", settings.most_nodes));
  if (with_costs && settings.gap > 0) add("-ratioGap", fmt::format("{}", settings.gap));
  if (with_costs && std::isfinite(settings.below))
    add("-cutoff", fmt::format("{}", settings.below));
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

// Cbc knows columns of a start by their names.
void set_start(CbcModel& model, const std::vector<double>& start) {
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t c = 0; c < start.size(); ++c)
    named.emplace_back(model.solver()->getColName(static_cast<int>(c)), start[c]);
  model.setMIPStart(named);
}

} // namespace

std::string_view integer_solver_name() { return "Cbc"; }

namespace {

// Pre: `start` is empty, or has a value for every column.
IntegerSolution searched(const LinearProgram& program, bool with_costs, const WorkLimit& limit,
                         const IntegerSettings& settings, const std::vector<double>& start) {
  ClpSimplex clp;
  load(program, with_costs, clp);
  const NamingSolver solver(&clp);
  CbcModel model(solver);
  LimitWatch watch(limit);
  LimitHandler handler(watch);
  model.passInEventHandler(&handler);
  set_start(model, start);
  search(model, arguments(settings, with_costs));
  IntegerSolution solution;
  solution.status = solver_status(model);
  if (const double bound = model.getBestPossibleObjValue(); bound > -1e49)
    solution.at_least = bound; // else it has none
  const double* const best = model.bestSolution();
  if (best == nullptr) return solution;
  for (std::uint32_t c = 0; c < program.column_count(); ++c)
    solution.columns.push_back(program.is_integer(c) ? std::round(best[c]) : best[c]);
  return solution;
}

IntegerSolution searched_from_start(const LinearProgram& program, bool with_costs,
                                    const WorkLimit& limit, const IntegerSettings& settings) {
  if (with_costs && !settings.start.empty()) {
    try {
      return searched(program, with_costs, limit, settings, settings.start);
    } catch (const CoinError&) {
      // Where its preprocessing adds columns, Cbc (2.10) asks for their names before it searches.
    }
  }
  try {
    return searched(program, with_costs, limit, settings, {});
  } catch (const CoinError&) { // a failure of its own, which proves nothing
    return {};
  }
}

// One pass of the preprocessing takes seconds on large programs, and asks nobody: so in a process
// of its own, which gets some time beyond the limit to end by itself and show what it has.
IntegerSolution ended_with_limit(const LinearProgram& program, bool with_costs,
                                 const WorkLimit& limit, const IntegerSettings& settings) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> reached;
  Watch watch = [&](const WorkProgress&) {
    if (!reached && limit.reached()) reached = Clock::now();
    return reached && Clock::now() - *reached > std::chrono::milliseconds(200);
  };
  if (limit.is_counted()) watch = nullptr; // it asks itself
  const auto exchange = [](auto& stream, auto& solution) {
    stream.value(solution.status);
    stream.value(solution.objective);
    stream.vector(solution.columns);
    stream.value(solution.at_least);
  };
  try {
    return run_isolated(
        [&] { return searched_from_start(program, with_costs, limit.silent(), settings); },
        exchange, watch);
  } catch (const Stopped&) {
    return {};
  }
}

} // namespace

IntegerSolution integer_search(const LinearProgram& program, bool with_costs,
                               const WorkLimit& limit, const IntegerSettings& settings) {
  constexpr std::size_t quick = 1'000; // rows and columns: preprocessed in some milliseconds
  const std::size_t size = std::size_t{program.row_count()} + program.column_count();
  return size <= quick ? searched_from_start(program, with_costs, limit, settings)
                       : ended_with_limit(program, with_costs, limit, settings);
}

} // namespace tutti
