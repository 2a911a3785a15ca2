// Themis: Hierarchical with an order of dimensions for each chunk, so that all dimensions send for
// as long. Chunk by chunk, greedily: Reduce-Scatter goes from the dimension that has sent least so
// far to the one that has sent most, since the first sends most. If that differs by less than what
// a 16th of the chunk takes, the chunk has the order of the dimensions instead.
// All-Gather has the order of its own Reduce-Scatter reversed: it loads dimensions alike, so that
// it needs no account of its own. An All-Gather alone is planned as the Reduce-Scatter that it
// undoes.
// Source: Rashidi et al. 2022 (ISCA, "Themis"), its inter-dimension scheduling as ASTRA-sim's
// OfflineGreedy has it; TACOS (MICRO 2024), sec. VI.B. What happens in a dimension:
// dimension_phases.hpp.
// Cost: as Hierarchical, with dimensions that change roles; O(chunks * d log d) for the orders.

#include "algorithms/dimension_phases.hpp"
#include "algorithms/list.hpp"

#include <algorithm>
#include <numeric>

namespace tutti {

namespace {

constexpr std::int64_t threshold_divisor = 16; // of a chunk

class GreedyOrders {
public:
  explicit GreedyOrders(std::span<const PlannedDimension> dimensions)
      : dimensions_(dimensions), load_(dimensions.size()) {}

  DimensionOrder next(Bytes chunk) {
    DimensionOrder order(dimensions_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto [least, most] = std::ranges::minmax_element(load_);
    const auto idlest = static_cast<std::size_t>(least - load_.begin());
    const Bytes small{chunk.count / threshold_divisor};
    if (*most - *least >= sending_time(dimensions_[idlest], small))
      std::ranges::stable_sort(order, {}, [&](std::size_t d) { return load_[d]; });
    charge(order, chunk);
    return order;
  }

private:
  void charge(const DimensionOrder& order, Bytes chunk) {
    for (const std::size_t d : order) {
      load_[d] += sending_time(dimensions_[d], chunk);
      chunk.count /= static_cast<std::int64_t>(dimensions_[d].extent);
    }
  }

  std::span<const PlannedDimension> dimensions_;
  std::vector<Time> load_; // how long each has sent
};

} // namespace

Outcome themis(const Topology& topology, const Collective& collective,
               const SynthesisOptions& options) {
  return by_dimensions(
      topology, collective, options,
      [](std::span<const PlannedDimension> dimensions, std::span<const Bytes> chunks) {
        GreedyOrders greedy(dimensions);
        std::vector<DimensionOrder> orders;
        for (const Bytes chunk : chunks) orders.push_back(greedy.next(chunk));
        return orders;
      });
}

} // namespace tutti
