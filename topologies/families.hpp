// The topology families, one file each; list.cpp holds their rows. Every one takes a spec whose
// numbers mean what its row says, and throws InputError for numbers it can't build.
#pragma once

#include "topologies/list.hpp"

#include <array>
#include <span>

namespace tutti::topologies {

[[nodiscard]] Topology ring(const TopologySpec& spec);
[[nodiscard]] Topology fully_connected(const TopologySpec& spec);
[[nodiscard]] Topology mesh2d(const TopologySpec& spec);
[[nodiscard]] Topology mesh3d(const TopologySpec& spec);
[[nodiscard]] Topology torus2d(const TopologySpec& spec);
[[nodiscard]] Topology torus3d(const TopologySpec& spec);
[[nodiscard]] Topology hypercube(const TopologySpec& spec);
[[nodiscard]] Topology single_switch(const TopologySpec& spec);
[[nodiscard]] Topology two_level_switch(const TopologySpec& spec);
[[nodiscard]] Topology rfs(const TopologySpec& spec);
[[nodiscard]] Topology dragonfly(const TopologySpec& spec);
[[nodiscard]] Topology fat_tree(const TopologySpec& spec);
[[nodiscard]] Topology k_ary_tree(const TopologySpec& spec);
[[nodiscard]] Topology multi_rail(const TopologySpec& spec);
[[nodiscard]] Topology dgx_a100_rail(const TopologySpec& spec);
[[nodiscard]] Topology teccl_internal(const TopologySpec& spec);
/// The machine whose name the spec's begins with.
[[nodiscard]] Topology taccl_machine(const TopologySpec& spec);
[[nodiscard]] Topology random_graph(const TopologySpec& spec);
/// The machine whose name the spec's begins with.
[[nodiscard]] Topology gpu_machine(const TopologySpec& spec);

inline constexpr std::array<TopologyOption, 2> dgx_a100_rail_options{{
    {"links", "all, nvlink (NICs at the GPUs) or pcie; default all"},
    {"memory", "memory (stores and copies) or switch (forwards); default memory"},
}};
inline constexpr std::array<TopologyOption, 6> nvswitch_options{{
    {"npus", "GPUs of a node that are in use; default all"},
    {"nics", "of a node, and what each carries: 8x50GB/s; default as the machine has"},
    {"nic", "rdma (InfiniBand, RoCE) or efa: what transports know of it; default rdma"},
    {"fabric", "rails (a switch for every NIC index) or switch (one for all); default rails"},
    {"sharp", "on (switches between nodes reduce and copy) or off; default off"},
    {"nvls", "on (NVSwitches reduce and copy) or off; default on"},
}};
inline constexpr std::span<const TopologyOption> mesh_machine_options =
    std::span(nvswitch_options).first<5>();
inline constexpr std::array<TopologyOption, 1> teccl_internal_options{{
    {"switch", "forward or copy (out of several ports at once); default forward"},
}};
inline constexpr std::array<TopologyOption, 2> random_graph_options{{
    {"degree", "neighbours of an NPU, at most; default 4"},
    {"seed", "of everything that is drawn; default 1"},
}};

} // namespace tutti::topologies
