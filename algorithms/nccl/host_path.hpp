// Where GPUs of a node have no NVLink in common: over PCIe, the links of CPUs' packages and those
// between CPUs.
#pragma once

#include "sim/topology.hpp"

#include <functional>
#include <vector>

namespace tutti::nccl {

/// The widest path by switches that `may_cross` allows, and of those of one width the one of the
/// fewest hops, the first by number. Empty: there is none. Cost: O(hops * links).
[[nodiscard]] std::vector<LinkId> host_path(const Topology& topology, NodeId from, NodeId to,
                                            const std::function<bool(NodeId)>& may_cross);

} // namespace tutti::nccl
