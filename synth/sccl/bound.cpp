#include "synth/sccl/bound.hpp"

#include "synth/sccl/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

namespace {

constexpr std::size_t most_sends = 50'000; // what Clp solves within seconds

/// What a node wants over what its lanes bring.
Ratio intake_bound(const StepProblem& problem) {
  std::vector<std::int64_t> wanted(problem.network.node_count());
  for (const TimedChunk& chunk : problem.chunks)
    for (const std::uint32_t n : chunk.destinations) ++wanted[n];
  const std::vector<Ratio> brought = intake(problem.network);
  Ratio bound;
  for (std::uint32_t n = 0; n < wanted.size(); ++n)
    if (wanted[n] > 0) bound = std::max(bound, Ratio(wanted[n]) / brought[n]);
  return bound;
}

} // namespace

Ratio least_rounds(const StepProblem& problem, std::span<const StepAutomorphism> generators,
                   std::optional<std::uint32_t> steps, const WorkLimit& limit) {
  const Ratio least = intake_bound(problem);
  const StepProgram flows(problem, generators, {steps.value_or(0), std::nullopt, most_sends});
  if (flows.too_large() || limit.reached()) return least;
  const LinearSolution solution = solve_relaxed(flows.program(), limit);
  if (solution.status != SolverStatus::optimal) return least;
  return std::max(proven_minimum(flows.program(), solution.duals).value_or(0), least);
}

} // namespace tutti
