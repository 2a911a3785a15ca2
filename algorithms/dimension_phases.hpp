// Collectives that go through the dimensions of a grid one after the other, each chunk in an order
// of its own: what Hierarchical and Themis share.
//
// A chunk here is Themis's, a slice of the whole buffer: two chunks of every shard, one for each
// direction of a ring. Reduce-Scatter along a dimension happens in every line of NPUs that differ
// only there: each takes over the shards of all NPUs that have its coordinate there (and, in the
// dimensions done before, the line's coordinates). All-Gather is its inversion, All-Reduce is both.
// A line whose NPUs are all a link or a switch apart exchanges directly, any other is a ring in the
// order of coordinates: in both directions, or one where the path back is longer. Where the ends
// aren't linked, no algorithm is made for the line, and what is taken is blind to it: a ring whose
// last hop crosses the whole line, or (setting `line`) direct exchange, routed.
#pragma once

#include "algorithms/member_grid.hpp"
#include "sim/synthesizer.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tutti {

/// A dimension as an algorithm plans with it, which doesn't see single links.
struct PlannedDimension {
  std::size_t extent;  ///< NPUs in a line
  Bandwidth bandwidth; ///< of an NPU into the dimension, all its links together
  Time latency;        ///< of a link
};

/// How long an NPU sends in Reduce-Scatter of `size` bytes along a dimension.
[[nodiscard]] Time sending_time(const PlannedDimension& dimension, Bytes size);

/// In which order a Reduce-Scatter goes through the dimensions; All-Gather in the opposite one.
using DimensionOrder = std::vector<std::size_t>;

/// Gives each chunk its order. The chunks are so many bytes each.
using ChooseOrders = std::function<std::vector<DimensionOrder>(
    std::span<const PlannedDimension> dimensions, std::span<const Bytes> chunks)>;

inline constexpr std::array<Setting, 1> by_dimensions_settings{{
    {"line", "ring or direct, along dimensions whose ends aren't linked; default ring"},
}};

/// Reduce-Scatter, All-Gather or All-Reduce by dimensions. `infeasible` where the members of the
/// group don't form a grid. Errors: InputError for an unknown value of a setting.
/// Cost: n - 1 transfers of a chunk per shard and phase, of n NPUs, as any algorithm that sends
/// nothing twice; time linear in them.
[[nodiscard]] Outcome by_dimensions(const Topology& topology, const Collective& collective,
                                    const SynthesisOptions& options, const ChooseOrders& choose);

} // namespace tutti
