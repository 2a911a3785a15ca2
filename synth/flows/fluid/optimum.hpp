// The optimal fluid schedule by (Mirrored) Dantzig-Wolfe decomposition (Shapley 2025, ch. 5) with
// combinatorial pricing.
#pragma once

#include "sim/error.hpp"
#include "sim/work_limit.hpp"
#include "synth/flows/fluid/fluid.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

struct FluidOptions {
  bool mirrored = true;        ///< use symmetries; false: every demand on its own
  std::vector<double> weights; ///< [link]: of the secondary objective; empty: none
  double bound_seconds = 0;    ///< a lower bound that is known already
  /// Counted: ColumnProgram::work(), and links that are looked at. Ends with the best so far, as
  /// the limit does.
  std::uint64_t most_work = UINT64_MAX;
};

/// Errors: OutOfReach where what nodes can do leaves a demand no tree; LimitReached before
/// symmetries are known.
[[nodiscard]] FluidSolution fluid_optimum(const FlowProblem& problem, const FluidOptions& options,
                                          const WorkLimit& limit);

} // namespace tutti
