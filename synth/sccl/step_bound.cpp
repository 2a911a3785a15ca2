#include "synth/sccl/step_bound.hpp"

#include "synth/sccl/step_program.hpp"

#include <algorithm>
#include <cstddef>

namespace tutti {

namespace {

constexpr std::size_t most_pairs = 20'000'000;

} // namespace

Ratio least_rounds(const StepProblem& problem, std::span<const StepAutomorphism> generators,
                   std::optional<std::uint32_t> steps, const WorkLimit& limit) {
  std::size_t wanted = 0;
  for (const StepChunk& chunk : problem.chunks) wanted += chunk.wanters.size();
  if (wanted == 0 || wanted * problem.network.lanes.size() > most_pairs) return 0;
  const StepProgram flows(problem, generators, {steps.value_or(0), std::nullopt});
  const LinearSolution solution = solve_relaxed(flows.program(), limit);
  if (solution.status != SolverStatus::optimal) return 0;
  return std::max(proven_minimum(flows.program(), solution.duals).value_or(0), Ratio(0));
}

} // namespace tutti
