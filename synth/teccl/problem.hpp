// What is asked in epochs, and what is answered.
#pragma once

#include "sim/collective.hpp"
#include "synth/teccl/network.hpp"
#include "synth/timed/ids.hpp"
#include "synth/timed/timed_chunk.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Nodes are NodeId values.
struct EpochProblem : TimedProblem<EpochNetwork> {
  /// Chunks that a node keeps for others at once (App. B): those of which it is neither source
  /// nor destination, from the epoch for which they arrive to the one in which it sends them for
  /// the last time, both included; what it never sends doesn't count. Nothing: no limit.
  std::optional<std::uint32_t> buffer_limit;
};

/// Chunks count as large as the largest. Pre: `collective` doesn't reduce (the caller turns
/// Reduce-Scatter into All-Gather on the reversed topology, and so on). Errors: those of
/// epoch_network(), and where a source or a destination can't store and copy.
[[nodiscard]] EpochProblem epoch_problem(const Topology& topology, const Collective& collective,
                                         const EpochSettings& settings);

struct EpochSend {
  Epoch epoch;
  LaneId lane;
  ChunkId chunk;
  auto operator<=>(const EpochSend&) const = default;
};

/// Ascending, without repeats.
using EpochPlan = std::vector<EpochSend>;

/// The number of epochs K that a plan takes: everything wanted is there at the beginning of epoch
/// K. Nothing where something wanted never comes.
[[nodiscard]] std::optional<std::uint32_t> epochs_of(const EpochProblem& problem,
                                                     const EpochPlan& plan);

} // namespace tutti
