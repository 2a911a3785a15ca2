// The network as k-synchronous synthesis sees it (Cai et al. 2021, "Synthesizing Optimal Collective
// Algorithms", sec. 3.2.1): nodes that keep chunks, paths between them that a chunk takes within
// one step, and the bandwidth relation B in chunks per round.
#pragma once

#include "sim/ratio.hpp"
#include "synth/timed/lane_network.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

/// An entry of B: so many chunks a round over these lanes together. A step of r rounds carries
/// floor(per_round * r).
struct StepLimit {
  std::string name;          ///< "npu0>npu3", or the shared group's
  std::vector<LaneId> lanes; ///< ascending; one that needs the bandwidth twice stands twice
  Ratio per_round;           ///< >= 1
};

/// Nodes are indices of `nodes`; each lane is a link, or links through switches, and takes one
/// step.
struct StepNetwork : LaneNetwork {
  std::vector<NodeId> nodes; ///< those that store and copy; ascending, so NPUs first
  std::vector<StepLimit> limits;
  Bandwidth round;   ///< a round is the time of one chunk at this rate: 1 / beta
  Time step_latency; ///< alpha: the largest latency of a lane
};

/// Chunks a round over each lane by the narrowest limit that it is in.
[[nodiscard]] std::vector<Ratio> lane_widths(const StepNetwork& network);

/// Chunks a round into each node, as far as the limits of its single lanes tell: no more than that
/// arrives.
[[nodiscard]] std::vector<Ratio> intake(const StepNetwork& network);

/// Lanes are the links between nodes that store and copy (and reduce, where `reducing`), and all
/// shortest paths through nodes that don't store, at most eight between two nodes. Limits are the
/// links and the shared groups, in units of the slowest lane's bandwidth.
/// Errors: InputError where two nodes are joined by more paths than memory allows (10^7 lanes).
[[nodiscard]] StepNetwork step_network(const Topology& topology, bool reducing);

} // namespace tutti
