// Machines that aren't as they were: a network card, GPU or link lost or slower, another fabric.
// Each is a function of a network; `-t` has a word for it (what_ifs()).
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topologies {

/// A network card of a node, by number in the order of its links.
struct NetworkCard {
  std::string name;            ///< of a node of its own, "nic-mlx5_0.1"; else of what it leads to
  NodeId card;                 ///< that node; invalid: its ports are at GPUs or a PCIe switch
  std::vector<LinkId> out, in; ///< ports to the fabric, and those back
};

/// NPUs that are one server, or one rack that NVLink joins.
struct ClusterNode {
  std::vector<NodeId> npus;
  std::vector<NetworkCard> cards; ///< none where nothing leads to other nodes
};

struct Cluster {
  static constexpr std::uint32_t fabric = UINT32_MAX;
  std::vector<ClusterNode> nodes; ///< in order of their first NPUs
  std::vector<std::uint32_t> of;  ///< [node of the topology]: which of these, or `fabric`
};

/// Nodes by the last coordinate, where a machine says what its NPUs or cards are; else by
/// sets_joined_by_speed(), or all NPUs as one. Switches and memories belong to the node that alone
/// is next to them, by links of other dimensions than the last.
[[nodiscard]] Cluster cluster_of(const Topology& topology);

/// One of the cards or GPUs of a node. None: each.
struct WhichPart {
  std::optional<std::uint32_t> index = {}, node = {};
};
using WhichParts = std::span<const WhichPart>;

// Errors: InputError naming what there is, where there is no such part, or what is known of the
// machine doesn't suffice. Names of topologies stay.

[[nodiscard]] Topology with_lost_nics(const Topology& topology, WhichParts nics);
/// 0 < share: what is left of its bandwidth.
[[nodiscard]] Topology with_slow_nics(const Topology& topology, WhichParts nics, double share);
[[nodiscard]] Topology with_lost_npus(const Topology& topology, WhichParts npus);
[[nodiscard]] Topology with_lost_node(const Topology& topology, std::uint32_t node);
[[nodiscard]] Topology with_slow_links(const Topology& topology, std::span<const LinkId> links,
                                       double share);
/// One NVLink or xGMI link less, both ways: at its NVSwitch, or to the first of its peers.
[[nodiscard]] Topology with_lost_own_links(const Topology& topology, WhichParts npus);
/// All that leads out of a GPU but its own links has so many lanes of its generation of PCIe.
[[nodiscard]] Topology with_pcie_lanes(const Topology& topology, WhichParts npus, int lanes);
/// Without GPUDirect RDMA: cards reach host memory only, so that data crosses the link between a
/// PCIe switch and its CPU once to the host and once to the card. Where the network has no CPU or
/// memory, each node gets a host, to which its GPUs have 16 lanes of PCIe that their cards share.
[[nodiscard]] Topology without_gpu_direct(const Topology& topology);

/// What joins the cards of all nodes.
struct Fabric {
  enum class Kind : std::uint8_t {
    rails,     ///< port r of every node at switch r
    one,       ///< a single switch
    leaf_spine ///< a leaf for each node, and as many spines as make the links up
  };
  Kind kind = Kind::leaf_spine;
  double oversubscription = 1; ///< of leaves: what comes from the cards over what goes up
};
/// Latencies are those of the ports. Errors: also where there is one node, or cables join nodes.
[[nodiscard]] Topology with_fabric(const Topology& topology, const Fabric& fabric);

/// Grids whose rows in these dimensions become rings, by links like those that are there.
[[nodiscard]] Topology with_wrap(const Topology& topology, std::span<const int> dimensions);

/// A what-if as a key of `-t`: `lost-nic=3@node1`.
struct WhatIf {
  std::string_view key;
  std::string_view help; ///< what may stand there
  /// Errors: InputError without the key.
  Topology (*apply)(const Topology& topology, std::string_view value);
};
/// In the order in which they are applied.
[[nodiscard]] std::span<const WhatIf> what_ifs();

} // namespace tutti::topologies
