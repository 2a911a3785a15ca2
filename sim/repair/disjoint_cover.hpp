// Partial sums that can be added up: each contribution in at most one of them.
#pragma once

#include "sim/ids.hpp"
#include "sim/repair/segment.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

struct PartialSum {
  NodeId npu;
  std::span<const std::uint64_t> contributions; ///< a bit each
  Start start = Start::present;                 ///< how the NPU comes by it ...
  std::vector<Arrival> takes_in = {};           ///< ... and of what waits at it
};

/// Positions, ascending, of sums that are disjoint and to which no other could be added. Together
/// they hold all of `wanted` but for as few as were found: largest sums first, of equal ones those
/// listed first; where that leaves gaps, by a branch and bound that is given up after 10,000 steps.
/// Contributions that are a sum of their own never are a gap, so that it branches on others alone.
/// Even where it is given up, no sum would hold more in place of those chosen that it has within
/// it: where both fit, it is tried before them.
/// Pre: sums aren't empty and hold nothing but what is wanted.
[[nodiscard]] std::vector<std::uint32_t> disjoint_cover(std::span<const PartialSum> sums,
                                                        std::span<const std::uint64_t> wanted);

} // namespace tutti
