// Partial sums that can be added up: each contribution in exactly one of them.
#pragma once

#include "sim/ids.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

struct PartialSum {
  NodeId npu;
  std::span<const std::uint64_t> contributions; ///< a bit each
};

/// NPUs (in the order of `sums`) whose sums are disjoint and together hold all of `wanted`, or
/// nothing where none were found. Largest sums first, of equal ones those listed first; where that
/// leaves gaps, by a search for an exact cover that is given up after 10,000 steps.
/// Pre: sums aren't empty and hold nothing but what is wanted.
[[nodiscard]] std::optional<std::vector<NodeId>>
disjoint_cover(std::span<const PartialSum> sums, std::span<const std::uint64_t> wanted);

} // namespace tutti
