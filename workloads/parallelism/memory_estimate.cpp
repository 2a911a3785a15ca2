// A stage's NPUs are alike, so one estimate for each stage serves all. Activations are largest
// where most micro-batches are between their forward and backward passes, which the pipeline order
// tells.
#include "workloads/parallelism/memory_estimate.hpp"

#include "workloads/parallelism/pipeline_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

/// What an NPU of the stage has, of dense and of expert parameters.
struct Held {
  std::int64_t dense = 0, expert = 0;
};

Held parameters_of(const TrainingLayout& layout, IndexRange layers) {
  Held held;
  for (std::uint32_t l = layers.first; l < layers.end; ++l) {
    held.dense += layout.layers[l].parameters;
    held.expert += layout.layers[l].expert_parameters;
  }
  return held;
}

std::int64_t share(std::int64_t whole, std::int64_t parts) { return (whole + parts - 1) / parts; }

std::int64_t spread(const TrainingLayout& layout, Held held, bool is_sharded) {
  if (!is_sharded) return held.dense + held.expert;
  return share(held.dense, layout.replicas(false)) + share(held.expert, layout.replicas(true));
}

/// Two blocks in whole, where there are replicas to gather them from.
std::int64_t gathered(const TrainingLayout& layout, std::uint32_t stage) {
  std::int64_t largest = 0;
  for (std::uint32_t part = 0; part < layout.spec.model_parts; ++part) {
    const IndexRange blocks = layout.stages[layout.virtual_stage(stage, part)];
    for (std::uint32_t b = blocks.first; b < blocks.end; ++b) {
      const Held held = parameters_of(layout, layout.blocks[b]);
      largest = std::max(largest, (layout.replicas(false) > 1 ? held.dense : 0) +
                                      (layout.replicas(true) > 1 ? held.expert : 0));
    }
  }
  return layout.spec.overlap ? 2 * largest : largest;
}

struct Activations {
  std::int64_t kept = 0;   ///< of a micro-batch, until its backward pass
  std::int64_t redone = 0; ///< of the largest block, while its backward pass goes on
};

Activations activations_of(const TrainingLayout& layout, IndexRange blocks) {
  Activations activations;
  for (std::uint32_t b = blocks.first; b < blocks.end; ++b) {
    const IndexRange layers = layout.blocks[b];
    std::int64_t stored = 0, largest_redone = 0;
    for (std::uint32_t l = layers.first; l < layers.end; ++l) {
      stored += layout.layers[l].stored.count;
      largest_redone = std::max(largest_redone, layout.layers[l].scores.count);
      if (layout.spec.recompute == Recompute::attention) stored -= layout.layers[l].scores.count;
    }
    const bool redoes_all = layout.spec.recompute == Recompute::full;
    activations.kept += redoes_all ? layout.layers[layers.first].inputs.count : stored;
    if (redoes_all) largest_redone = stored;
    if (layout.spec.recompute != Recompute::none)
      activations.redone = std::max(activations.redone, largest_redone);
  }
  return activations;
}

std::int64_t peak_activations(const TrainingLayout& layout, std::uint32_t stage) {
  std::vector<Activations> parts;
  for (std::uint32_t part = 0; part < layout.spec.model_parts; ++part)
    parts.push_back(activations_of(layout, layout.stages[layout.virtual_stage(stage, part)]));
  std::int64_t now = 0, peak = 0;
  for (const PipelineSlot& slot : pipeline_order(layout.spec, stage)) {
    const Activations& part = parts[slot.part];
    if (!slot.is_backward) now += part.kept;
    peak = std::max(peak, now + (slot.is_backward ? part.redone : 0));
    if (slot.is_backward) now -= part.kept;
  }
  return peak;
}

} // namespace

bool keeps_own_parameters(Precision precision) { return element_bytes(precision) < 4; }

std::int64_t optimizer_state_bytes(Precision precision) {
  return keeps_own_parameters(precision) ? 12 : 8;
}

MemoryEstimate memory_estimate(const TrainingLayout& layout, std::uint32_t stage) {
  Held held;
  for (std::uint32_t part = 0; part < layout.spec.model_parts; ++part) {
    const Held more = parameters_of(layout, layout.layers_of(layout.virtual_stage(stage, part)));
    held.dense += more.dense;
    held.expert += more.expert;
  }
  Held gradients{held.dense, 0};
  for (std::uint32_t part = 0; part < layout.spec.model_parts; ++part)
    for (const GradientBucket& bucket : layout.buckets[layout.virtual_stage(stage, part)])
      if (bucket.is_expert) gradients.expert += bucket.parameters;
  const std::uint32_t zero = layout.spec.zero;
  std::int64_t parameters = spread(layout, held, zero >= 3);
  if (zero >= 3) parameters += gathered(layout, stage);
  MemoryEstimate estimate;
  estimate.parameters = {parameters * layout.element_bytes};
  estimate.gradients = {spread(layout, gradients, zero >= 2) * layout.gradient_bytes};
  estimate.optimizer = {spread(layout, held, zero >= 1) *
                        optimizer_state_bytes(layout.spec.precision)};
  estimate.activations = {peak_activations(layout, stage)};
  return estimate;
}

std::string memory_warning(const Workload& workload, const Topology& topology,
                           const NpuProfile& npu) {
  std::size_t worst = 0, short_of = 0;
  for (std::size_t n = 0; n < workload.memory.size(); ++n) {
    if (workload.memory[n].total() <= npu.memory) continue;
    if (short_of == 0 || workload.memory[n].total() > workload.memory[worst].total()) worst = n;
    ++short_of;
  }
  if (short_of == 0) return {};
  const MemoryEstimate& estimate = workload.memory[worst];
  const auto name = topology.node(NodeId{static_cast<std::uint32_t>(worst)}).name;
  return fmt::format(
      "{} NPU{} of {} need{} more memory than {} has: {} an estimated {} (parameters {}, gradients "
      "{}, optimizer {}, activations {}) where there is {}: {} too much",
      short_of, short_of == 1 ? "" : "s", workload.memory.size(), short_of == 1 ? "s" : "",
      npu.name, name, short_text(estimate.total()), short_text(estimate.parameters),
      short_text(estimate.gradients), short_text(estimate.optimizer),
      short_text(estimate.activations), short_text(npu.memory),
      short_text(estimate.total() - npu.memory));
}

} // namespace tutti
