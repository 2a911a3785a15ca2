// The optimum as one linear program over flows (Shapley 2025, LP (3.13) and (4.2), and for
// All-Reduce the combined one of sec. 4.2): the readable reference for small cases, and, with
// variables merged by symmetries, a quick bound for large ones. A relaxation: flows of one source
// to different sinks may share a link even where no tree has both.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/flows/fluid/fluid.hpp"
#include "synth/flows/problem.hpp"
#include "synth/solvers/linear_program.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

struct FlowProgramOptions {
  bool merge = true; ///< variables that symmetries exchange are one; false: one for each
  /// Generators of the symmetries, where they are known and keep the weights; else they are found.
  std::span<const FlowAutomorphism> symmetry;
  std::size_t most_columns = 200'000;
  /// [link]: what a byte over it counts in the secondary objective; empty: none is asked for.
  std::vector<double> weights;
};

struct FlowProgramAnswer {
  SolverStatus status = SolverStatus::stopped;
  bool too_large = false; ///< more columns than allowed: not tried
  double seconds = 0;     ///< the least for which the program has a solution
  double traffic = 0;     ///< the least weighted traffic for so many seconds, where asked for
  /// [resource]: what a byte over it costs, where all resources cost one together in each second
  /// (the sum of price * bandwidth is 1): the duals of the bandwidths. See price_bound.hpp.
  std::vector<double> prices;
  std::size_t rows = 0, columns = 0;
};

/// Minimizes the time, then (where weights are given) the traffic for that time, both to some 1e-7
/// of them (price_bound has no such error). Over a link into a node that doesn't copy goes only
/// what serves some destination; LP (3.13), a relaxation, doesn't ask that. All-Reduce may come
/// together at any node that reduces. Cost: one search for symmetries; without merging demands x
/// sinks x links columns, with it orbits of these. Deterministic as long as the limit isn't
/// reached.
[[nodiscard]] FlowProgramAnswer solve_flow_program(const FlowProblem& problem,
                                                   const FlowProgramOptions& options,
                                                   const WorkLimit& limit);

} // namespace tutti
