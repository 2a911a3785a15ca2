// In which order a pipeline stage computes.
#pragma once

#include "workloads/parallelism/training.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// One pass of one micro-batch through one of a stage's model parts.
struct PipelineSlot {
  bool is_backward = false;
  std::uint32_t part = 0;        ///< of the stage's model parts
  std::uint32_t micro_batch = 0; ///< 0 .. micro_batches-1
  bool operator==(const PipelineSlot&) const = default;
};

/// GPipe: all forward, then all backward in reverse order (its fig. 2c). 1F1B: as many forward as
/// there are stages behind, then forward and backward in turns. Interleaved: the same with micro-
/// batches in rounds of `pipeline`, each round through the model parts one by one (Megatron-LM,
/// arXiv:2104.04473 fig. 4). Pre: stage < spec.pipeline; `interleaved` with several parts:
/// micro_batches divide by pipeline.
[[nodiscard]] std::vector<PipelineSlot> pipeline_order(const TrainingSpec& spec,
                                                       std::uint32_t stage);

} // namespace tutti
