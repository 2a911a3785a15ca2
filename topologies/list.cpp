// One row per family; its file explains the wiring and names its source.

#include "topologies/list.hpp"

#include "topologies/families.hpp"

#include <array>

namespace tutti {

namespace {

using namespace topologies;

constexpr std::string_view nodes = "[nodes; 1]";

constexpr std::array<TopologyRow, 35> rows{{
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
    {"taccl_ndv2", taccl_machine, "[machines; 1]",
     "Azure NDv2, 8 V100 each, as TACCL measured them (Table 1); values are for NVLink, "
     "InfiniBand"},
    {"taccl_dgx2", taccl_machine, "[machines; 1]",
     "DGX-2, 16 V100 each, as TACCL measured them (Table 1); values are for NVLink, InfiniBand"},
    {"random", random_graph, "NPUs",
     "seeded, strongly connected; every cable draws one of the bandwidths", random_graph_options},
    {"hgx_a100", gpu_machine, nodes,
     "8 A100, NVLink 3 to NVSwitches (12 x 25 GB/s each way), 8 NICs of 200 Gb/s; DGX A100 user "
     "guide",
     mesh_machine_options},
    {"dgx_h100", gpu_machine, nodes,
     "8 H100, NVLink 4 to NVSwitches (18 x 25 GB/s each way), 8 NICs of 400 Gb/s; DGX H100 user "
     "guide",
     nvswitch_options},
    {"dgx_h200", gpu_machine, nodes,
     "8 H200, NVLink 4 to NVSwitches (18 x 25 GB/s), 8 NICs of 400 Gb/s; DGX H200 user guide",
     nvswitch_options},
    {"dgx_b200", gpu_machine, nodes,
     "8 B200, NVLink 5 to NVSwitches (18 x 50 GB/s), 8 NICs of 400 Gb/s; DGX B200 user guide",
     nvswitch_options},
    {"hgx_b300", gpu_machine, nodes,
     "8 B300, NVLink 5 to NVSwitches (18 x 50 GB/s), 8 NICs of 800 Gb/s; DGX B300 user guide",
     nvswitch_options},
    {"gb200_nvl72", gpu_machine, "[racks; 1]",
     "72 GB200 on one NVLink 5 fabric (18 x 50 GB/s), a NIC of 400 Gb/s each; DGX GB200 user guide",
     nvswitch_options},
    {"gb300_nvl72", gpu_machine, "[racks; 1]",
     "72 GB300 on one NVLink 5 fabric (18 x 50 GB/s), a NIC of 800 Gb/s each; DGX GB300 user guide",
     nvswitch_options},
    {"mi300x", gpu_machine, nodes,
     "8 MI300X, each two joined by Infinity Fabric (64 GB/s each way), 8 NICs of 400 Gb/s; AMD "
     "MI300X platform data sheet",
     mesh_machine_options},
    {"mi325x", gpu_machine, nodes,
     "8 MI325X, each two joined by Infinity Fabric (64 GB/s each way), 8 NICs of 400 Gb/s; AMD "
     "MI325X platform data sheet",
     mesh_machine_options},
    {"mi355x", gpu_machine, nodes,
     "8 MI355X, each two joined by Infinity Fabric (76.8 GB/s each way), 8 NICs of 400 Gb/s; AMD "
     "MI355X platform data sheet",
     mesh_machine_options},
    {"l40s", gpu_machine, nodes,
     "8 L40S at PCIe 4, 4 NICs of 200 Gb/s; L40S data sheet, NVIDIA's OVX reference server",
     mesh_machine_options},
    {"a10g", gpu_machine, nodes,
     "8 A10G at PCIe 4, a NIC of 100 Gb/s; A10 data sheet, AWS g5.48xlarge", mesh_machine_options},
    {"rtx4090", gpu_machine, nodes,
     "8 RTX 4090 at PCIe 4, 4 NICs of 200 Gb/s; Ada architecture white paper",
     mesh_machine_options},
    {"rtx5090", gpu_machine, nodes,
     "8 RTX 5090 at PCIe 5, 4 NICs of 400 Gb/s; RTX Blackwell architecture white paper",
     mesh_machine_options},
    {"rtx_pro_6000", gpu_machine, nodes,
     "8 RTX PRO 6000 Blackwell at PCIe 5, 4 NICs of 400 Gb/s; its data sheet",
     mesh_machine_options},
    {"dgx_spark", gpu_machine, "nodes",
     "a GB10 each, one NIC of 200 Gb/s; two of them by a cable, more by a switch; DGX Spark user "
     "guide",
     mesh_machine_options},
}};

// Instances of clouds by their vendors' pages: p4d and p4de 4 EFA of 100 Gb/s, p5 3.2 Tb/s of EFA
// for 8 H100, p5e and p5en for 8 H200, p6-b200 for 8 B200; ND A100 v4, ND H100 v5; A3 High and
// Mega.
constexpr std::array<TopologyAlias, 31> aliases{{
    {"a100", "hgx_a100", ""},
    {"dgx_a100", "dgx_a100_rail", ""}, // with a number: without one it is a file
    {"h100", "dgx_h100", ""},
    {"hgx_h100", "dgx_h100", ""},
    {"h200", "dgx_h200", ""},
    {"hgx_h200", "dgx_h200", ""},
    {"b200", "dgx_b200", ""},
    {"hgx_b200", "dgx_b200", ""},
    {"b300", "hgx_b300", ""},
    {"dgx_b300", "hgx_b300", ""},
    {"gb200", "gb200_nvl72", ""},
    {"gb300", "gb300_nvl72", ""},
    {"nvl72", "gb200_nvl72", ""},
    {"v100", "dgx1", ""},
    {"p3", "dgx1", ""},
    {"dgx_1", "dgx1", ""},
    {"dgx_2", "dgx2", ""},
    {"p4d", "hgx_a100", "nics=4x12.5GB/s,nic=efa"},
    {"p4de", "hgx_a100", "nics=4x12.5GB/s,nic=efa"},
    {"p5", "dgx_h100", "nic=efa"},
    {"p5e", "dgx_h200", "nic=efa"},
    {"p5en", "dgx_h200", "nic=efa"},
    {"p6_b200", "dgx_b200", "nic=efa"},
    {"g5", "a10g", "nic=efa"},
    {"ndv4", "hgx_a100", ""},
    {"ndv5", "dgx_h100", ""},
    {"rtx_4090", "rtx4090", ""},
    {"rtx_5090", "rtx5090", ""},
    {"gb10", "dgx_spark", ""},
    {"spark", "dgx_spark", ""},
    {"mi300", "mi300x", ""},
}};

} // namespace

std::span<const TopologyRow> topology_families() { return rows; }
std::span<const TopologyAlias> topology_aliases() { return aliases; }

} // namespace tutti
