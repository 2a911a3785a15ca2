// Channels: the orders of GPUs that NCCL's graph search finds, each for a part of the bandwidth.
#pragma once

#include "algorithms/nccl/system.hpp"

#include <cstdint>
#include <vector>

namespace tutti::nccl {

enum class Pattern : std::uint8_t {
  ring,          ///< GPU a > b > ... > x > a; between nodes: NIC > a > ... > x > NIC
  balanced_tree, ///< a chain a > ... > x, whose first two GPUs share the NIC's traffic
  tree,          ///< the same, with all of the NIC's traffic at a
  nvls,          ///< a head pulls from all through the switch
  collnet_chain, ///< a chain to a head, whose NIC reaches a switch that reduces
  collnet_direct ///< all to a head
};

struct Channel {
  std::vector<std::uint32_t> gpus;       ///< of a node, in order; the first one is the head
  std::uint32_t nic_in = 0, nic_out = 0; ///< between nodes: where it begins and ends
  bool operator==(const Channel&) const = default;
};

/// What a search gives: channels with the speed of each, GB/s.
struct Channels {
  Pattern pattern = Pattern::ring;
  std::vector<Channel> all;
  double inside = 0, between = 0; ///< speed in a node, and between nodes
  PathType type_inside = PathType::none, type_between = PathType::none; ///< the worst allowed
  bool are_same = true; ///< all have one order of GPUs
  std::uint32_t cross_nic = 0;
  std::uint32_t hops = 0; ///< wires, over all channels

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(all.size()); }
};

struct ChannelLimits {
  std::uint32_t least = 1, most = 32;
  std::uint32_t cross_nic = 2; ///< NCCL_CROSS_NIC: 0 never, 1 always, 2 where it is faster
};

/// Pre: more than one GPU in all. Cost: at most 2^19 steps of the search, as NCCL's own.
[[nodiscard]] Channels search_channels(const System& system, Pattern pattern,
                                       const ChannelLimits& limits);

} // namespace tutti::nccl
