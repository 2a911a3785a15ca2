// Both the bound and the profile start from what a node's lanes let in. The bound's flow program is
// relaxed, and what it proves is computed from its rounded duals in exact arithmetic.
#include "synth/sccl/rounds.hpp"

#include "synth/sccl/program.hpp"
#include "synth/solvers/proven_minimum.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tutti {

namespace {

constexpr std::size_t most_sends = 50'000; // what Clp solves within seconds

/// What a node is to receive over what its lanes bring.
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

std::vector<std::uint32_t> earliest_rounds(const StepProblem& problem,
                                           const StepInstance& instance) {
  const std::size_t nodes = problem.network.node_count();
  std::vector<std::int64_t> due; // [step][node], in chunks; to the farthest
  for (const TimedChunk& chunk : problem.chunks) {
    if (chunk.destinations.empty()) continue;
    problem.require_time();
    const std::vector<std::uint32_t> away = problem.network.distances_from(chunk.sources);
    for (const std::uint32_t n : chunk.destinations) {
      if (away[n] > instance.steps) return {};
      due.resize(std::max(due.size(), away[n] * nodes));
      due[(away[n] - 1) * nodes + n] += instance.chunks_per_shard;
    }
  }
  const std::vector<Ratio> capacity = intake(problem.network);
  std::vector<std::uint32_t> rounds(instance.steps, 1);
  for (std::uint32_t s = 0; s < due.size() / nodes; ++s)
    for (std::uint32_t n = 0; n < nodes; ++n)
      if (const std::int64_t chunks = due[s * nodes + n]; chunks > 0)
        rounds[s] =
            std::max(rounds[s], static_cast<std::uint32_t>((Ratio(chunks) / capacity[n]).ceil()));
  const std::uint32_t sum = std::accumulate(rounds.begin(), rounds.end(), 0U);
  if (sum > instance.rounds) return {};
  rounds.front() += instance.rounds - sum;
  return rounds;
}

} // namespace tutti
