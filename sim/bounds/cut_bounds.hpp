// What cuts prove: the time that the links across need for what must cross.
#pragma once

#include "sim/bounds.hpp"
#include "sim/bounds/cuts.hpp"
#include "sim/bounds/demand.hpp"
#include "sim/bounds/partition.hpp"
#include "sim/bounds/problem.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::bounds {

/// A partition with what must enter and leave its parts.
struct Parts {
  Partition partition;
  std::vector<std::vector<NodeId>> nodes; ///< [part]
  Collective quotient;                    ///< its sets, with parts as nodes
  NodeDemands demands;                    ///< [part]

  Parts(const Problem& problem, Partition parted);

  [[nodiscard]] std::uint32_t of(NodeId node) const { return partition.part_of[node.value]; }
};

// Each of these is nothing where nothing has to pass. Of equal times the first counts.

/// The worst node. `kind` is in_cut or out_cut; `nodes` has each alone. Cost: O(links log links).
[[nodiscard]] std::optional<Bound> node_cut(const Problem& problem, BoundKind kind,
                                            const Parts& nodes);

/// The worst of the sets, out of it or into it. Cost: O(links log links + chunk classes + set
/// sizes) for each.
[[nodiscard]] std::optional<Bound> set_cut(const Problem& problem, BoundKind kind,
                                           const std::vector<NodeSet>& sets);

/// The worst part of two nodes or more, into it or out of it. Cost: O(links log links) for all.
[[nodiscard]] std::optional<Bound> part_cut(const Problem& problem, BoundKind kind,
                                            const Parts& parts);

/// All deliveries to parts where they can happen, over the links from others into these. `kind` is
/// total_work (each node is a part) or work_between. Cost: O(links log links + chunk classes).
[[nodiscard]] std::optional<Bound> work(const Problem& problem, BoundKind kind, const Parts& parts);

} // namespace tutti::bounds
