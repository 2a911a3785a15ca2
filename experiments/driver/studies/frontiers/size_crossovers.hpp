// Which of several is best at which size.
#pragma once

#include "sim/units.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// From this size on, up to the next entry's.
struct BestFrom {
  Bytes size;
  std::size_t which = 0;
  bool operator==(const BestFrom&) const = default;
};

/// Ascending by size, the first at the smallest of `sizes` that has a best one. `best` is asked at
/// the given sizes and, where two neighbours differ, between them by halves down to one byte: what
/// is best only between two sizes with the same best is not seen.
/// Pre: sizes ascend; if some size has a best one, so has every larger one.
/// Cost: calls of `best`: sizes + changes * log2(distance of two sizes).
[[nodiscard]] std::vector<BestFrom>
best_by_size(std::span<const Bytes> sizes,
             const std::function<std::optional<std::size_t>(Bytes)>& best);

} // namespace tutti
