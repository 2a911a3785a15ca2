// Servers that differ, in one network.
#pragma once

#include "sim/topology.hpp"

#include <span>
#include <string>

namespace tutti::topologies {

/// Servers of one kind on a switch called "fabric", as families and files of servers make them with
/// coordinates (GPU, server), and how many of the first ones count.
struct ServersOfAKind {
  Topology topology;
  int count;
};

/// All of them on one fabric, NPUs by server; coordinates (GPU, server). The model of NPU is the
/// oldest of theirs, by which NCCL goes, too. Errors: InputError for what has no servers.
[[nodiscard]] Topology side_by_side(std::span<const ServersOfAKind> kinds, const std::string& name);

} // namespace tutti::topologies
