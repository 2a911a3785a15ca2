// Least times that data needs to cross an otherwise empty network: Dijkstra with a cost
// per link that no engine can undercut. Every link costs its latency. Its serialization is paid too
// where the data must be complete before it moves on, which is at nodes that can store; a node that
// can't passes the head on at once, even when a transfer ends there. With cut-through everywhere,
// or fluid sharing, only the last link is sure to be paid.
#pragma once

#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti::bounds {

/// No bound is longer, so that what takes longer doesn't matter; sums of two still fit.
inline constexpr std::int64_t never = INT64_MAX / 4;
inline constexpr const char* too_long = "the collective takes longer than 26 days"; ///< InputError

/// The least time that `size` occupies a link: rounded up on FIFO, where engines do that too, and
/// down in fluid sharing.
[[nodiscard]] std::int64_t least_serialization(Bytes size, Bandwidth rate, const TimeModel& model);

enum class Direction : std::uint8_t {
  from_sources, ///< along the links
  to_sources,   ///< against them: how long from a node until it is complete at a source
};

class LeastTimes {
public:
  LeastTimes(const Topology& topology, const TimeModel& model, Direction direction);

  void set_size(Bytes size); ///< of the chunk that travels; cost O(links)

  /// From now on, searches see only these nodes (all, unless called) and the links between them.
  void stay_inside(std::vector<bool> nodes) { inside_ = std::move(nodes); }

  /// Cost: O(links log nodes). Pre: set_size was called.
  void search(std::span<const NodeId> sources);

  /// from_sources: when data from a source can start to leave `node`. to_sources: how long after
  /// its full arrival at `node` until data is complete at a source. In ps; 0 at a source, else
  /// `never` where there is no path.
  [[nodiscard]] std::int64_t pass(NodeId node) const { return time_[node.value]; }

  /// The whole path between a source and `node`, until the last byte is there: its last link
  /// (from_sources) or first link (to_sources) is paid in full. In ps; 0 at a source.
  [[nodiscard]] std::int64_t complete(NodeId node) const;

  /// Does nothing leave this node before all of it is there?
  [[nodiscard]] bool must_be_complete_at(NodeId node) const;

private:
  [[nodiscard]] NodeId far_end(LinkId link) const;
  [[nodiscard]] NodeId near_end(LinkId link) const;

  const Topology& topology_;
  TimeModel model_;
  Direction direction_;
  std::vector<std::int64_t> serialization_; // per link
  std::vector<std::int64_t> hop_;           // per link: what a search adds
  std::vector<std::int64_t> time_;          // per node
  std::vector<bool> is_source_;             // per node
  std::vector<bool> inside_;                // per node; empty: all
};

} // namespace tutti::bounds
