#include "synth/sccl/round_profiles.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace tutti {

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
