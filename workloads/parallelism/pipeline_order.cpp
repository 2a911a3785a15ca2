// GPipe is written out. 1F1B and the interleaved schedule differ only in how many forward passes go
// ahead of the first backward pass, and in how the k-th pass of a stage is numbered.
#include "workloads/parallelism/pipeline_order.hpp"

#include <algorithm>
#include <cassert>

namespace tutti {

namespace {

std::vector<PipelineSlot> gpipe_order(std::uint32_t micro_batches) {
  std::vector<PipelineSlot> order;
  for (std::uint32_t m = 0; m < micro_batches; ++m) order.push_back({false, 0, m});
  for (std::uint32_t m = micro_batches; m-- > 0;) order.push_back({true, 0, m});
  return order;
}

/// The k-th forward or backward pass of a stage, counted through rounds of micro-batches.
PipelineSlot pass_of(const TrainingSpec& spec, std::uint32_t k, bool is_backward) {
  const std::uint32_t round = spec.pipeline * spec.model_parts;
  const std::uint32_t part = k % round / spec.pipeline;
  return {is_backward, is_backward ? spec.model_parts - 1 - part : part,
          k / round * spec.pipeline + k % spec.pipeline};
}

/// `ahead` forward passes, then forward and backward in turns.
std::vector<PipelineSlot> alternating_order(const TrainingSpec& spec, std::uint32_t ahead) {
  const std::uint32_t passes = spec.micro_batches * spec.model_parts;
  ahead = std::min(ahead, passes);
  const auto pass = [&](std::uint32_t k, bool is_backward) {
    return spec.model_parts == 1 ? PipelineSlot{is_backward, 0, k} : pass_of(spec, k, is_backward);
  };
  std::vector<PipelineSlot> order;
  for (std::uint32_t k = 0; k < ahead; ++k) order.push_back(pass(k, false));
  for (std::uint32_t k = 0; k < passes; ++k) {
    if (ahead + k < passes) order.push_back(pass(ahead + k, false));
    order.push_back(pass(k, true));
  }
  return order;
}

} // namespace

std::vector<PipelineSlot> pipeline_order(const TrainingSpec& spec, std::uint32_t stage) {
  assert(stage < spec.pipeline);
  const std::uint32_t behind = spec.pipeline - 1 - stage;
  if (spec.schedule == PipelineSchedule::gpipe) return gpipe_order(spec.micro_batches);
  if (spec.model_parts == 1) return alternating_order(spec, behind);
  assert(spec.micro_batches % spec.pipeline == 0);
  return alternating_order(spec, 2 * behind + (spec.model_parts - 1) * spec.pipeline);
}

} // namespace tutti
