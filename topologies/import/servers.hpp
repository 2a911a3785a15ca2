// Servers as operating systems and drivers see them: GPUs, their own links, PCIe, network cards,
// CPUs; and how several of a kind become a network.
#pragma once

#include "sim/topology.hpp"
#include "topologies/import/list.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::topologies {

/// What files of servers don't say of a GPU's model.
struct GpuKind {
  std::string_view model;        ///< as TopologyParts::npu_model has it; empty: unknown
  std::string_view own_link;     ///< row of Assumptions: one of its NVLinks or xGMI links
  std::string_view link_part;    ///< "nvlink4"
  int own_links;                 ///< of a GPU, at most
  int pcie;                      ///< generation of its PCIe
  std::string_view nic;          ///< row of Assumptions: the cards that it is sold with
  bool has_nvls;                 ///< its NVSwitches reduce and copy
  std::string_view devices = {}; ///< numbers on PCIe: "0x2330 0x2331" (pci.ids)
};

[[nodiscard]] std::span<const GpuKind> gpu_kinds();
/// Null where there is none of this model.
[[nodiscard]] const GpuKind* find_gpu_kind(std::string_view model);
/// What `npu=` of a file's options names; none where it isn't given. Errors: InputError for an
/// unknown model.
[[nodiscard]] std::optional<GpuKind> asked_gpu_kind(const ForeignFile& file);
/// The model that a device's name has in it ("NVIDIA A100-SXM4-40GB"); empty: none that is known.
[[nodiscard]] std::string_view model_in_name(std::string_view name);
/// A file of another form, in words of NCCL's: each element on the line of what it stands for, so
/// that errors have their places.
[[nodiscard]] TopologyParts read_as_nccl(ForeignFile file, std::string_view xml,
                                         Assumptions& assumed, std::string note);
/// By the device's number on PCIe; null for others.
[[nodiscard]] const GpuKind* gpu_kind_of_device(std::string_view device);
/// What is known of none: PCIe of the third generation, no links of its own.
[[nodiscard]] const GpuKind& unknown_gpu_kind();

/// Each way, after the encoding of that generation. Pre: 1 <= generation <= 6.
[[nodiscard]] Bandwidth pcie_rate(int generation, int lanes);

/// A port of a network card.
struct NicPort {
  Bandwidth bandwidth;
  Time latency; ///< from the card to what it is cabled to; 0: not said
};

/// Keys that files of servers take: how many cards there are (`nics=8x50GB/s`), what cables lead to
/// (`fabric=rails` or `switch`), how cards are driven (`nic=rdma` or `efa`), whether NVSwitches
/// reduce (`nvls=on` or `off`), and what GPUs are where the file doesn't say it: `npu=h100`.
inline constexpr std::array<std::string_view, 5> options_of_unnamed{"fabric", "nic", "nics", "npu",
                                                                    "nvls"};

/// And of one that may leave out which devices are GPUs: `gpus=8`.
inline constexpr std::array<std::string_view, 6> options_of_devices{"fabric", "gpus", "nic",
                                                                    "nics",   "npu",  "nvls"};

/// One server, part by part, and then as many of it as the file is asked for.
class ServerBuilder {
public:
  ServerBuilder(const ForeignFile& file, Assumptions& assumed, std::int64_t gpus, GpuKind kind);

  [[nodiscard]] static NodeId gpu(std::int64_t number) {
    return NodeId{static_cast<std::uint32_t>(number)};
  }
  NodeId add_cpu(std::int64_t number);
  NodeId add_pcie_switch();
  /// A card, with its PCIe, both ways; none where the file's options say which there are. Its name
  /// is made one that nodes can have, and that no other one has.
  void add_nic(std::string_view name, std::vector<NicPort> ports, NodeId above, Bandwidth rate);

  /// Links of PCIe, both ways; what is below has no other.
  void add_pcie(NodeId above, NodeId below, Bandwidth rate);
  /// Both ways, between CPUs, or from a GPU to the CPU of its package.
  void add_bus(NodeId a, NodeId b, Bandwidth rate);
  /// GPUs' own links, one way; of `parts` each has as much.
  void add_own_links(std::int64_t from, std::int64_t to, int count, int parts = 1);
  /// One way, between NPUs of one GPU. `rate`: row of Assumptions.
  void add_inner_link(std::int64_t from, std::int64_t to, std::string_view rate);
  /// Both ways, to a CPU that has such links, too.
  void add_links_to_cpu(std::int64_t gpu, NodeId cpu, int count);
  /// Both ways, to the switch that joins all of them.
  void add_switched_links(std::int64_t gpu, int count, int parts = 1);

  [[nodiscard]] std::size_t link_count() const { return parts_.links.size(); }
  /// What NPUs of one GPU have in common: of the links from the `first` on all of theirs, each way
  /// as fast as those of one of them. A single one shares nothing.
  void share(const std::string& what, std::span<const std::size_t> npus, std::size_t first);

  /// NPU = GPU + GPUs * server, coordinates (GPU, server). Several servers are cabled by rails: the
  /// r-th port of each at switch r. Cards that no GPU shares a PCIe switch with are left without a
  /// cable where others are at one. Nodes of several servers are called "NAME.SERVER".
  /// Errors: InputError for options that don't fit, and several servers without cards.
  [[nodiscard]] TopologyParts cluster() &&;

private:
  struct Nic {
    NodeId card;
    std::vector<NicPort> ports;
  };
  [[nodiscard]] Bandwidth own_rate(int count, int parts) const;
  NodeId add_forwarding(std::string name, bool reduces = false);
  [[nodiscard]] std::string option(std::string_view key,
                                   const std::vector<std::string>& known) const;
  void add_card(std::string_view name, std::vector<NicPort> ports, NodeId above, Bandwidth rate);
  void add_asked_nics();
  [[nodiscard]] std::vector<Nic> cabled_nics() const;
  [[nodiscard]] bool shares_a_switch(NodeId card) const;
  void name_parts();
  void add_rails(TopologyParts& whole, const std::vector<std::vector<NodeId>>& copies,
                 const std::vector<Nic>& nics);

  const ForeignFile& file_;
  Assumptions& assumed_;
  std::int64_t gpus_;
  const GpuKind kind_;
  TopologyParts parts_; // of one server
  std::vector<Nic> nics_;
  std::vector<std::optional<Link>> pcie_of_; // per node: from what is above it
  NodeId switch_;
  std::map<std::string, int> card_names_;
  std::uint32_t pcie_switches_ = 0;
  std::uint8_t pcie_part_ = 0;
  bool has_own_links_ = false;
};

} // namespace tutti::topologies
