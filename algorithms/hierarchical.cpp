// Hierarchical All-Reduce: Reduce-Scatter along the first dimension, then the second, ..., and
// All-Gather in the reverse order. All chunks take this order, one behind the other; the first
// dimension carries most of the traffic and is the bottleneck where all are equally fast.
// Source: Cho et al. 2019 (BlueConnect, IBM JRD 63(6)); the "Hierarchical" of TACOS (MICRO 2024),
// sec. VI.B. What happens in a dimension: dimension_phases.hpp.
// Cost: along dimension k an NPU sends (n_k - 1) / (n_1 ... n_k) of the buffer, in each phase.

#include "algorithms/dimension_phases.hpp"
#include "algorithms/list.hpp"

#include <numeric>

namespace tutti {

Outcome hierarchical(const Topology& topology, const Collective& collective,
                     const SynthesisOptions& options) {
  return by_dimensions(
      topology, collective, options,
      [](std::span<const PlannedDimension> dimensions, std::span<const Bytes> chunks) {
        DimensionOrder order(dimensions.size());
        std::iota(order.begin(), order.end(), 0);
        return std::vector<DimensionOrder>(chunks.size(), order);
      });
}

} // namespace tutti
