// Ways through switches as hops of their own: what hyper-edges are made of.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace tutti {

/// Shortest ways (fewest links) from one node to others that keep chunks, through nodes that
/// neither keep nor store. What stores and yet isn't one that keeps (it can't copy) is crossed by
/// none.
class SwitchWays {
public:
  static constexpr std::size_t most_ways = 8; ///< between two nodes

  /// `keeps`: [node]. Both arguments must outlive this.
  SwitchWays(const Topology& topology, const std::vector<bool>& keeps);

  /// Every shortest way, at most `most_ways` to each end, by end, in the order of their links.
  [[nodiscard]] std::map<NodeId, std::vector<std::vector<LinkId>>> from(NodeId start);

private:
  void measure(NodeId start);
  void extend(NodeId node);
  [[nodiscard]] bool passes(NodeId node) const;

  const Topology& topology_;
  const std::vector<bool>& keeps_;
  std::vector<std::uint32_t> distance_; // in links
  std::vector<LinkId> way_;
  std::map<NodeId, std::vector<std::vector<LinkId>>> ways_;
};

} // namespace tutti
