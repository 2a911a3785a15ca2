// Ways between nodes that store, through those that don't.
#pragma once

#include "synth/teccl/network.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// From any node, through nodes that don't store, to one that does.
struct EpochPassage {
  std::uint32_t from = 0, delay = 0;
  std::vector<std::uint32_t> lanes; ///< in order
};

/// [node that stores]: the ways to it without a node twice, by delay, then number of lanes, then
/// lanes; without those that need more of a limit than there is even if nothing else uses it. Those
/// from nodes that don't store are parts of others.
[[nodiscard]] std::vector<std::vector<EpochPassage>> epoch_passages(const EpochNetwork& network);

} // namespace tutti
