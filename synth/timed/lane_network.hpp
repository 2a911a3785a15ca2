// The time-expanded network that SCCL (Cai et al. 2021, sec. 3.2.1) and TE-CCL (Liu et al. 2024,
// sec. 3.1) plan on: what a chunk enters at one time, and is through at a later one.
#pragma once

#include "sim/topology.hpp"
#include "synth/timed/ids.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tutti {

/// A link, or the links of a path through switches that is taken as one.
struct Lane {
  std::uint32_t from = 0, to = 0; ///< nodes of the network that it is a lane of
  std::vector<LinkId> links;      ///< in order; not empty
  /// What enters at time t is there from time t + delay on. 0 only out of nodes that don't store.
  std::uint32_t delay = 1;
};

inline constexpr std::uint32_t unreachable = UINT32_MAX;

/// What SCCL's steps and TE-CCL's epochs have in common.
struct LaneNetwork {
  std::vector<Lane> lanes;                              ///< [LaneId], by from, to, links
  std::vector<std::vector<LaneId>> out_lanes, in_lanes; ///< [node], ascending

  [[nodiscard]] const Lane& lane(LaneId id) const { return lanes[id.value]; }
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(out_lanes.size());
  }
  /// Makes out_lanes and in_lanes from the lanes.
  void index_lanes(std::uint32_t nodes);

  /// Time from the nearest of `sources` to each node, by delays alone; `unreachable` where there is
  /// no path. Also through nodes that don't store.
  [[nodiscard]] std::vector<std::uint32_t>
  distances_from(const std::vector<std::uint32_t>& sources) const;
  /// From each node to the nearest of `destinations`.
  [[nodiscard]] std::vector<std::uint32_t>
  distances_to(const std::vector<std::uint32_t>& destinations) const;
};

/// Hyper-edges (TE-CCL App. C; SCCL's switches): a lane for every shortest path (fewest links)
/// between nodes that keep chunks, through nodes that neither keep nor store, at most eight from
/// one to another, in the order of their links. What stores and yet doesn't keep (it can't copy) is
/// crossed by none. Ends are NodeId values. `keeps`: [node]. Errors: InputError naming `user` where
/// there are more than 10^7.
[[nodiscard]] std::vector<Lane> lanes_through_switches(const Topology& topology,
                                                       const std::vector<bool>& keeps,
                                                       std::string_view user);

} // namespace tutti
