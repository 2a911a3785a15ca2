// One row per family; its file explains the wiring and names its source.

#include "topologies/list.hpp"

#include "topologies/families.hpp"

#include <array>

namespace tutti {

namespace {

using namespace topologies;

constexpr std::array<TopologyRow, 17> rows{{
    {"ring", ring, "NPUs", "directions=1 for one direction only"},
    {"fully_connected", fully_connected, "NPUs", "a link for every ordered pair"},
    {"mesh2d", mesh2d, "columns x rows", "no wrap-around"},
    {"mesh3d", mesh3d, "x, y, z extents", "3-D grid; \"3D Hypercube\" in the TACOS paper"},
    {"torus2d", torus2d, "columns x rows", "extent 2 has no doubled links; directions=1"},
    {"torus3d", torus3d, "x, y, z extents", "extent 2 has no doubled links; directions=1"},
    {"hypercube", hypercube, "dimensions", "binary: 2^dimensions NPUs"},
    {"switch", single_switch, "NPUs", "one switch; values are per link, NPU to switch"},
    {"two_level_switch", two_level_switch, "NPUs per box x boxes",
     "a port to the box's switch and one to that of the equal indices; \"2D Switch\" in TACOS"},
    {"rfs", rfs, "ring x fully connected x switch", "3D Ring-FullyConnected-Switch of TACOS"},
    {"dragonfly", dragonfly, "NPUs per group x groups",
     "groups fully connected, one link each way between any two groups"},
    {"fat_tree", fat_tree, "ports per switch (even)", "K^3/4 NPUs, three levels of switches"},
    {"k_ary_tree", k_ary_tree, "links down of a switch x levels",
     "a fat tree of K^N NPUs for any K; 8x2: leaf and spine"},
    {"multi_rail", multi_rail, "GPUs per node x nodes [x NICs per node]",
     "a switch in every node, a rail switch for every NIC index"},
    {"dgx_a100_rail", dgx_a100_rail, "servers of 8 GPUs",
     "DGX A100 on eight rails; values are for NVSwitch, PCIe, memory, rail", dgx_a100_rail_options},
    {"teccl_internal", teccl_internal, "GPUs per chassis x chassis",
     "rings joined by a switch, after Internal 1 (4xN) and Internal 2 (2xN) of TE-CCL",
     teccl_internal_options},
    {"random", random_graph, "NPUs",
     "seeded, strongly connected; every cable draws one of the bandwidths", random_graph_options},
}};

} // namespace

std::span<const TopologyRow> topology_families() { return rows; }

} // namespace tutti
