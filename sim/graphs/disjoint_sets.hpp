// Disjoint sets that are joined one pair at a time ("union-find"), with path halving (Tarjan and
// van Leeuwen, "Worst-case analysis of set union algorithms", J. ACM 1984). The root of a set is
// its least element, whatever the order of the joins, so that results which name sets by their
// roots don't depend on that order. Joining by index instead of by rank costs the inverse Ackermann
// bound: operations take amortized O(log(elements)).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace tutti {

/// Disjoint sets of the numbers below `elements`, each of which is at first in a set of its own.
class DisjointSets {
public:
  explicit DisjointSets(std::size_t elements) : parent_(elements) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  /// The least element of the set that it is in.
  [[nodiscard]] std::uint32_t find(std::uint32_t element) {
    while (parent_[element] != element) element = parent_[element] = parent_[parent_[element]];
    return element;
  }

  /// Whether they were in different sets before.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

  /// [element]: find(element).
  [[nodiscard]] std::vector<std::uint32_t> least() && {
    for (std::uint32_t element = 0; element < parent_.size(); ++element)
      parent_[element] = find(element);
    return std::move(parent_);
  }

private:
  std::vector<std::uint32_t> parent_; ///< [element]: a lower one of its set, or itself
};

} // namespace tutti
