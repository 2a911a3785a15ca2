// Which gradients are communicated together.
#pragma once

#include "sim/units.hpp"
#include "workloads/layers/work.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Gradients of neighbouring layers, of dense or of expert parameters.
struct GradientBucket {
  std::uint32_t first = 0, last = 0; ///< layers; it is full after the backward pass of `first`
  std::int64_t parameters = 0;
  bool is_expert = false;
};

/// The buckets of layers `first` .. `end`-1 in the order in which they are full, dense before
/// expert: each takes layers until its gradients reach `least`; what remains in the end is a bucket
/// too.
[[nodiscard]] std::vector<GradientBucket> gradient_buckets(std::span<const LayerWork> layers,
                                                           std::uint32_t first, std::uint32_t end,
                                                           Bytes least,
                                                           std::int64_t gradient_bytes);

} // namespace tutti
