// Checks what can't be spread, then assigns blocks to stages by their computing time, recomputing
// included, so that stages take about as long.
//
// Backward passes fill gradients from the last layer to the first, so buckets are collected in that
// order. Dense and expert parameters are summed among different replicas and never share a bucket.

#include "workloads/parallelism/training_layout.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "workloads/parallelism/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tutti {

namespace {

void add_buckets(std::span<const LayerWork> layers, std::uint32_t first, std::uint32_t end,
                 Bytes least, std::int64_t gradient_bytes, bool is_expert,
                 std::vector<GradientBucket>& buckets) {
  GradientBucket open;
  for (std::uint32_t l = end; l-- > first;) {
    const std::int64_t parameters = is_expert ? layers[l].expert_gradients : layers[l].parameters;
    if (parameters == 0) continue;
    if (open.parameters == 0) open = {l, l, 0, is_expert};
    open.first = l;
    open.parameters += parameters;
    if (open.parameters * gradient_bytes < least.count) continue;
    buckets.push_back(open);
    open = {};
  }
  if (open.parameters > 0) buckets.push_back(open);
}

/// The buckets of layers `first` .. `end`-1 in the order in which they are full, dense before
/// expert: each takes layers until its gradients reach `least`; what remains in the end is a bucket
/// too.
std::vector<GradientBucket> gradient_buckets(std::span<const LayerWork> layers, std::uint32_t first,
                                             std::uint32_t end, Bytes least,
                                             std::int64_t gradient_bytes) {
  std::vector<GradientBucket> buckets;
  add_buckets(layers, first, end, least, gradient_bytes, false, buckets);
  add_buckets(layers, first, end, least, gradient_bytes, true, buckets);
  std::stable_sort(
      buckets.begin(), buckets.end(),
      [](const GradientBucket& a, const GradientBucket& b) { return a.first > b.first; });
  return buckets;
}

void check_amounts(const TrainingSpec& spec) {
  if (spec.micro_batch == 0 || spec.micro_batches == 0)
    throw InputError(fmt::format("an iteration of 0 samples (micro_batch {} x micro_batches {})",
                                 spec.micro_batch, spec.micro_batches));
  if (spec.zero > 3)
    throw InputError(fmt::format("zero {}: its stages are 0 (none) to 3", spec.zero));
  if (spec.gradient_bytes < 0 || spec.gradient_bytes > 8)
    throw InputError(fmt::format("gradient_bytes {}: 1 to 8, or 0 for those of the precision",
                                 spec.gradient_bytes));
  if (spec.bucket.count < 0)
    throw InputError(fmt::format("a bucket of {} bytes", spec.bucket.count));
  for (const std::uint8_t priority : spec.priority)
    if (priority > JobTiming::highest_priority)
      throw InputError(fmt::format("priority {} is out of range (0 to {})", priority,
                                   JobTiming::highest_priority));
}

void check_pipeline(const TrainingSpec& spec, std::size_t blocks, const Model& model) {
  if (spec.model_parts == 0) throw InputError("model_parts 0: a stage has at least 1");
  if (spec.model_parts > 1 && spec.schedule != PipelineSchedule::interleaved)
    throw InputError(
        fmt::format("model_parts {}: only the interleaved schedule has several", spec.model_parts));
  if (spec.model_parts > 1 && spec.pipeline == 1)
    throw InputError(fmt::format("model_parts {}: a pipeline of 1 stage has nothing to interleave",
                                 spec.model_parts));
  const std::uint64_t stages = std::uint64_t{spec.pipeline} * spec.model_parts;
  if (stages > blocks)
    throw InputError(fmt::format("pipeline {} x model_parts {} = {} stages, but {} has {} blocks",
                                 spec.pipeline, spec.model_parts, stages, model.name, blocks));
  if (spec.model_parts > 1 && spec.micro_batches % spec.pipeline != 0)
    throw InputError(fmt::format("micro_batches {}: the interleaved schedule needs a multiple of "
                                 "pipeline {}",
                                 spec.micro_batches, spec.pipeline));
  constexpr std::uint64_t most = 1U << 20;
  if (std::uint64_t{spec.micro_batches} * spec.model_parts > most)
    throw InputError(fmt::format("micro_batches {} x model_parts {} are too many (at most {})",
                                 spec.micro_batches, spec.model_parts, most));
}

void check_splits(const TrainingSpec& spec, const Model& model) {
  const auto splits = [](const Layer& layer) { return layer.split == TensorSplit::block; };
  if (spec.tensor > 1 && std::none_of(model.layers.begin(), model.layers.end(), splits))
    throw InputError(
        fmt::format("tensor {}: {} has no layer that can be split", spec.tensor, model.name));
  if (spec.expert == 1) return;
  if (model.experts == 0)
    throw InputError(fmt::format("expert {}: {} has no experts", spec.expert, model.name));
  if (model.experts % spec.expert != 0)
    throw InputError(fmt::format("expert {}: {} has {} experts, which don't divide by it",
                                 spec.expert, model.name, model.experts));
}

std::vector<IndexRange> blocks_of(const Model& model) {
  std::vector<IndexRange> blocks;
  for (std::uint32_t l = 0; l < model.layers.size(); ++l) {
    if (l == 0 || model.layers[l].block != model.layers[l - 1].block) blocks.push_back({l, l});
    blocks.back().end = l + 1;
  }
  return blocks;
}

Time block_time(const TrainingLayout& layout, IndexRange block) {
  Time sum;
  for (std::uint32_t l = block.first; l < block.end; ++l) {
    const LayerWork& layer = layout.layers[l];
    sum += layer.forward() + layer.backward();
    if (layout.spec.recompute == Recompute::full) sum += layer.forward();
    if (layout.spec.recompute == Recompute::attention) sum += layer.attention;
  }
  return std::max(sum, Time{1}); // blocks that take no time are spread by their number
}

} // namespace

TrainingLayout training_layout(const Model& model, const NpuProfile& npu,
                               const TrainingSpec& spec) {
  if (model.layers.empty()) throw InputError(fmt::format("{} has no layers", model.name));
  TrainingLayout layout;
  layout.spec = spec;
  layout.blocks = blocks_of(model);
  check_amounts(spec);
  check_pipeline(spec, layout.blocks.size(), model);
  check_splits(spec, model);
  layout.layers = layer_work(model, npu, spec);
  layout.element_bytes = element_bytes(spec.precision);
  layout.gradient_bytes = spec.gradient_bytes > 0 ? spec.gradient_bytes : layout.element_bytes;

  std::vector<Time> costs;
  for (const IndexRange block : layout.blocks) costs.push_back(block_time(layout, block));
  const std::vector<std::uint32_t> cut = balanced_stages(costs, layout.virtual_stages());
  for (std::uint32_t s = 0; s < layout.virtual_stages(); ++s)
    layout.stages.push_back({cut[s], cut[s + 1]});
  for (std::uint32_t s = 0; s < layout.virtual_stages(); ++s) {
    const IndexRange range = layout.layers_of(s);
    layout.buckets.push_back(gradient_buckets(layout.layers, range.first, range.end, spec.bucket,
                                              layout.gradient_bytes));
  }
  return layout;
}

} // namespace tutti
