// What a pipeline stage's NPUs have to hold at most.
#pragma once

#include "workloads/parallelism/training_layout.hpp"

#include <cstdint>

namespace tutti {

/// Parameters and gradients (what replicas share counts by its share; with ZeRO-3 two whole blocks
/// beside it, the one at work and the next), Adam's state, and activations: of all micro-batches
/// that are under way at once by the schedule, and what one block needs while it is recomputed.
/// Not counted: buffers of communication, fragmentation, what kernels need while they run.
[[nodiscard]] MemoryEstimate memory_estimate(const TrainingLayout& layout, std::uint32_t stage);

/// Whether the optimizer keeps parameters of its own, more exact than those that kernels read.
[[nodiscard]] bool keeps_own_parameters(Precision precision);

/// Bytes of optimizer state for each parameter: Adam's two moments in four bytes, and the parameter
/// itself where kernels read it in fewer.
[[nodiscard]] std::int64_t optimizer_state_bytes(Precision precision);

} // namespace tutti
