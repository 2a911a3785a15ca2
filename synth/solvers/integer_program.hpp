// Integer programs by HiGHS or COIN-OR Cbc.
#pragma once

#include "synth/solvers/linear_program.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tutti {

struct IntegerSolution {
  /// `optimal`: proven so, up to `gap`. `stopped` with columns: the best so far.
  SolverStatus status = SolverStatus::stopped;
  double objective = 0;
  std::vector<double> columns; ///< integer columns rounded; empty where none was found
  /// No solution has a lower objective, as far as doubles prove it (Cbc's own tolerances); minus
  /// infinity where nothing is known. Plus infinity where it is infeasible.
  double at_least = -unlimited;
};

struct IntegerSettings {
  bool first_feasible = false;  ///< any solution will do: ends at the first
  std::int64_t most_nodes = -1; ///< of the search tree; a limit that is the same on every machine
  /// Ends where the best solution is within this part of its objective of the bound.
  double gap = 0;
  /// Only solutions with an objective below this are asked for: `infeasible` where there are none.
  double below = unlimited;
  /// Values of all columns to start from; nothing comes out that is worse. Ignored where it doesn't
  /// satisfy the program.
  std::vector<double> start = {};
};

/// By HiGHS where it was there when this was built, else by Cbc, with one thread; the columns that
/// it returns satisfy the program to 1e-6.
[[nodiscard]] IntegerSolution solve_integer(const LinearProgram& program, const WorkLimit& limit,
                                            const IntegerSettings& settings = {});
/// "Cbc" or "HiGHS".
[[nodiscard]] std::string_view integer_solver_name();

} // namespace tutti
