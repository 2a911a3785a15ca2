#include "synth/sccl/answer.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

void sort_sends(StepSchedule& schedule) {
  std::ranges::sort(schedule.sends, {}, [](const StepSend& send) {
    return std::tuple(send.step, send.lane, send.chunk);
  });
}

StepSchedule without_dead_ends(const StepProblem& problem, const StepInstance& instance,
                               StepSchedule schedule) {
  const std::size_t nodes = problem.network.node_count();
  std::vector<bool> needed(problem.chunks.size() * instance.chunks_per_shard * nodes);
  for (std::size_t c = 0; c < problem.chunks.size() * instance.chunks_per_shard; ++c)
    for (const std::uint32_t n : problem.chunks[c / instance.chunks_per_shard].destinations)
      needed[c * nodes + n] = true;
  // Backwards: what a send that is needed passes on is needed at its start.
  std::vector<StepSend> kept;
  for (std::size_t i = schedule.sends.size(); i-- > 0;) {
    const StepSend& send = schedule.sends[i];
    const Lane& lane = problem.network.lanes[send.lane];
    if (!needed[send.chunk * nodes + lane.to]) continue;
    needed[send.chunk * nodes + lane.from] = true;
    kept.push_back(send);
  }
  std::ranges::reverse(kept);
  schedule.sends = std::move(kept);
  return schedule;
}

} // namespace tutti
