// In a step every tree edge carries one chunk at most: which one follows from the rank's height
// (reducing) or depth (copying), so that no order has to be searched.

#include "algorithms/tree_pipeline.hpp"

#include <algorithm>

namespace tutti {

std::uint32_t TreePipeline::steps() const {
  return first_step + static_cast<std::uint32_t>(chunks.size()) + tree.height[tree.root];
}

void TreePipeline::list_step(std::uint32_t step, RoutedSchedule& schedule) const {
  for (Rank rank = 0; rank < tree.parent.size(); ++rank) {
    if (rank == tree.root) continue;
    const std::uint32_t first =
        first_step + (op == Op::reduce ? tree.height[rank] : tree.depth[rank] - 1);
    if (step >= first && step - first < chunks.size())
      schedule.send_along(path[rank], chunks[step - first], op);
  }
}

void list_step_by_step(std::span<const TreePipeline> pipelines, RoutedSchedule& schedule) {
  std::uint32_t steps = 0;
  for (const TreePipeline& pipeline : pipelines) steps = std::max(steps, pipeline.steps());
  for (std::uint32_t step = 0; step < steps; ++step)
    for (const TreePipeline& pipeline : pipelines) pipeline.list_step(step, schedule);
}

} // namespace tutti
