// The network as k-synchronous synthesis sees it (Cai et al. 2021, "Synthesizing Optimal Collective
// Algorithms", sec. 3.2.1): nodes that keep chunks, ways between them that a chunk takes within one
// step, and the bandwidth relation B in chunks per round.
#pragma once

#include "sim/ratio.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// A way from one node that stores to another within one step: a link, or links through switches.
struct Lane {
  std::uint32_t from = 0, to = 0; ///< indices into StepNetwork::nodes
  std::vector<LinkId> links;      ///< in order; not empty
};

/// An entry of B: so many chunks a round over these lanes together. A step of r rounds carries
/// floor(per_round * r).
struct LaneLimit {
  std::string name;                 ///< "npu0>npu3", or the shared group's
  std::vector<std::uint32_t> lanes; ///< ascending; one that needs the bandwidth twice stands twice
  Ratio per_round;                  ///< >= 1
};

struct StepNetwork {
  std::vector<NodeId> nodes; ///< those that store and copy; ascending, so NPUs first
  std::vector<Lane> lanes;   ///< by from, to
  std::vector<LaneLimit> limits;
  Bandwidth round;   ///< a round is the time of one chunk at this rate: 1 / beta
  Time step_latency; ///< alpha: the largest latency of a lane
  std::vector<std::vector<std::uint32_t>> out_lanes, in_lanes; ///< per node, ascending

  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(nodes.size());
  }
  /// Steps from the nearest of `sources` to each node; `unreachable` where there is no way.
  [[nodiscard]] std::vector<std::uint32_t>
  distances_from(std::span<const std::uint32_t> sources) const;
  /// Steps from each node to the nearest of `targets`.
  [[nodiscard]] std::vector<std::uint32_t>
  distances_to(std::span<const std::uint32_t> targets) const;
};
inline constexpr std::uint32_t unreachable = UINT32_MAX;

/// Chunks a round over each lane by the narrowest limit that it is in.
[[nodiscard]] std::vector<Ratio> lane_widths(const StepNetwork& network);

/// Chunks a round into each node, as far as the limits of its single lanes tell: no more than that
/// arrives.
[[nodiscard]] std::vector<Ratio> intake(const StepNetwork& network);

/// Lanes are the links between nodes that store and copy (and reduce, where `reducing`), and all
/// shortest ways through nodes that don't store, at most eight between two nodes. Limits are the
/// links and the shared groups, in units of the slowest lane's bandwidth.
/// Errors: InputError where two nodes are joined by more ways than memory allows (10^7 lanes).
[[nodiscard]] StepNetwork step_network(const Topology& topology, bool reducing);

} // namespace tutti
