// What a node's name says about it, where nothing else does.
#pragma once

#include "sim/topology.hpp"

#include <string>
#include <string_view>

namespace tutti::topologies {

/// Whether it is called after a switch, a router or a NIC: "tor3", "leaf-0", "nvswitch".
[[nodiscard]] bool is_switch_name(std::string_view name);

/// The name with "_" for letters that names of nodes can't have; at most 200 letters of it.
[[nodiscard]] std::string legal_name(std::string_view name);

/// "switch0, switch1 and 3 more"; "none".
[[nodiscard]] std::string few_switches(const TopologyParts& parts);

} // namespace tutti::topologies
