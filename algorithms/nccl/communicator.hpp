// What NCCL sets up once for a group of GPUs, and the paths over which its channels send.
#pragma once

#include "algorithms/nccl/system.hpp"
#include "algorithms/nccl/tuner.hpp"
#include "algorithms/rank_tree.hpp"
#include "algorithms/routed_schedule.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace tutti::nccl {

/// Rings, trees and heads in the numbers that a communicator has of them, by NCCL's search; of RCCL
/// its written rings on a full mesh of eight. Pre: more than one rank.
[[nodiscard]] Graphs nccl_graphs(const System& system, const ChannelLimits& limits, bool collnet);
[[nodiscard]] Graphs rccl_graphs(const System& system, const ChannelLimits& limits, bool collnet);

/// A node's part of a channel's ring.
[[nodiscard]] const Channel& ring_in(const System& system, const Graphs& graphs, std::uint32_t node,
                                     std::uint32_t channel);
/// The same of its tree.
[[nodiscard]] const Channel& chain_in(const System& system, const Graphs& graphs,
                                      std::uint32_t node, std::uint32_t channel);

/// The ranks of a channel's ring, from the first GPU of node 0 on.
[[nodiscard]] std::vector<Rank> ring_of(const System& system, const Graphs& graphs,
                                        std::uint32_t channel);

/// A channel's tree over all ranks.
[[nodiscard]] RankTree tree_of(const System& system, const Graphs& graphs, std::uint32_t channel);

/// A GPU of a node with the NIC that it uses.
struct AtNic {
  std::uint32_t node, gpu, nic;
  auto operator<=>(const AtNic&) const = default;
};

/// Where data goes from one GPU to another: over NVLink in a node, from a NIC to a NIC between
/// nodes, over NVLink to the NIC's GPU first where that is another one (PXN). Where there are
/// several links or ports, each channel takes another one; equally short ways between NICs are
/// shared as routes are.
class Wiring {
public:
  Wiring(const Topology& topology, const System& system, RoutedSchedule& schedule);

  /// `port` picks among equal links.
  [[nodiscard]] PathId inside(std::uint32_t node, std::uint32_t from, std::uint32_t to,
                              std::uint32_t port);
  /// The same for each call with the same arguments. Where no fabric joins the two NICs, a GPU of
  /// either node hands over to the one next to the other's rail.
  [[nodiscard]] PathId between(const AtNic& from, const AtNic& to, std::uint32_t port,
                               std::uint32_t channel);
  /// Between any two ranks, as the ports of their own GPUs allow.
  [[nodiscard]] PathId any(Rank from, Rank to, std::uint32_t port);

  /// The link from a GPU up to its node's switch that reduces and copies, or down from it.
  /// Pre: System::reducing_switches.
  [[nodiscard]] PathId up(std::uint32_t node, std::uint32_t gpu) const;
  [[nodiscard]] PathId down(std::uint32_t node, std::uint32_t gpu) const;
  /// From a GPU over a NIC of its node to the switch between nodes that is there, and back.
  [[nodiscard]] PathId to_switch(std::uint32_t node, std::uint32_t gpu, std::uint32_t nic);
  [[nodiscard]] PathId from_switch(std::uint32_t node, std::uint32_t gpu, std::uint32_t nic);

  [[nodiscard]] std::uint32_t node_of(Rank rank) const { return node_[rank]; }
  [[nodiscard]] std::uint32_t index_of(Rank rank) const { return index_[rank]; }

private:
  /// Appends the links of the fastest way in a node: directly, else by a switch, else by a peer.
  /// False where there is none.
  bool append_inside(std::vector<LinkId>& links, std::uint32_t node, std::uint32_t from,
                     std::uint32_t to, std::uint32_t port) const;
  bool append_by_peer(std::vector<LinkId>& links, std::uint32_t node, std::uint32_t from,
                      std::uint32_t to, std::uint32_t port) const;
  /// From a GPU out of a port of the NIC, or in by one and to the GPU.
  bool append_nic(std::vector<LinkId>& links, bool out, std::uint32_t node, std::uint32_t gpu,
                  std::uint32_t nic, std::uint32_t port) const;
  /// By what forwards.
  bool append_across(std::vector<LinkId>& links, const Flow& flow) const;
  bool append_between(std::vector<LinkId>& links, const AtNic& from, const AtNic& to,
                      std::uint32_t port, std::uint32_t channel) const;
  [[nodiscard]] NodeId npu(std::uint32_t node, std::uint32_t index) const;
  /// Which GPU of a node that is; as many as there are for none.
  [[nodiscard]] std::uint32_t index_at(std::uint32_t node, NodeId at) const;
  [[nodiscard]] std::uint32_t nic_near(std::uint32_t node, std::uint32_t gpu,
                                       std::uint32_t port) const;

  const Topology& topology_;
  const System& system_;
  RoutedSchedule& schedule_;
  std::vector<std::uint32_t> node_, index_; // by rank
  std::map<std::tuple<AtNic, AtNic, std::uint32_t, std::uint32_t>, PathId> between_;
};

} // namespace tutti::nccl
