// What is asked of a synthesizer that cuts time: SCCL in steps (Cai et al. 2021, sec. 3.2), TE-CCL
// in epochs (Liu et al. 2024, sec. 3.1).
#pragma once

#include "sim/work_limit.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Who has a chunk at the start, and who else wants it. Indices of the network's nodes, ascending,
/// disjoint.
struct TimedChunk {
  std::vector<std::uint32_t> sources, destinations;
  auto operator<=>(const TimedChunk&) const = default;
};

/// Whether no chunk has two destinations.
[[nodiscard]] inline bool is_unicast(std::span<const TimedChunk> chunks) {
  return std::ranges::all_of(
      chunks, [](const TimedChunk& chunk) { return chunk.destinations.size() <= 1; });
}

/// A collective that copies, on a network of lanes; chunks as the collective's, also those without
/// a destination.
template <typename Network> struct TimedProblem {
  Network network;
  std::vector<TimedChunk> chunks;
  /// The limit to all work on the problem, where there is one; must outlive it.
  const WorkLimit* limit = nullptr;

  [[nodiscard]] bool is_unicast() const { return tutti::is_unicast(chunks); }
  /// Asked by whatever grows with the problem and has nothing to show before its end. Errors:
  /// LimitReached.
  void require_time() const {
    if (limit != nullptr) limit->require();
  }
};

} // namespace tutti
