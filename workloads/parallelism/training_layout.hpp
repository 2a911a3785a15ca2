// How a model is spread: layers to blocks to pipeline stages, and what is summed among whom.
#pragma once

#include "workloads/layers/work.hpp"
#include "workloads/parallelism/training.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// Indices first .. end-1.
struct IndexRange {
  std::uint32_t first = 0, end = 0;
};

/// Gradients that are communicated together: of neighbouring layers, of dense or of expert
/// parameters.
struct GradientBucket {
  std::uint32_t first = 0, last = 0; ///< layers; it is full after the backward pass of `first`
  std::int64_t parameters = 0;
  bool is_expert = false;
};

/// Virtual stages are counted along the model: model part v of stage s is number
/// v * pipeline + s.
struct TrainingLayout {
  TrainingSpec spec;
  std::vector<LayerWork> layers;
  std::vector<IndexRange> blocks;                   ///< [block]: its layers
  std::vector<IndexRange> stages;                   ///< [virtual stage]: its blocks
  std::vector<std::vector<GradientBucket>> buckets; ///< [virtual stage], as they become full
  std::int64_t element_bytes = 0, gradient_bytes = 0;

  /// Among how many NPUs gradients are summed, and shards spread.
  [[nodiscard]] std::uint32_t replicas(bool is_expert) const {
    return is_expert ? spec.data : spec.data * spec.expert;
  }
  [[nodiscard]] std::uint32_t virtual_stages() const { return spec.pipeline * spec.model_parts; }
  [[nodiscard]] std::uint32_t virtual_stage(std::uint32_t stage, std::uint32_t part) const {
    return part * spec.pipeline + stage;
  }
  [[nodiscard]] IndexRange layers_of(std::uint32_t virtual_stage) const {
    const IndexRange range = stages[virtual_stage];
    return {blocks[range.first].first, blocks[range.end - 1].end};
  }
};

/// Blocks go to virtual stages so that the one that computes longest (forward, backward, and what
/// is recomputed) is as short as possible; see balanced_stages(). Errors: InputError as
/// make_training(), but for the placement.
[[nodiscard]] TrainingLayout training_layout(const Model& model, const NpuProfile& npu,
                                             const TrainingSpec& spec);

} // namespace tutti
