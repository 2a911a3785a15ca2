// A topology as NCCL's search sees it: one node's GPUs and NICs, joined by wires of a speed that it
// believes in, and paths of a type. Nodes that aren't like the first have pictures of their own.
#pragma once

#include "algorithms/nccl/hardware.hpp"
#include "algorithms/routed_schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::nccl {

/// In the order in which the search gives ground.
enum class PathType : std::uint8_t {
  nvlink,   ///< one NVLink or xGMI hop, or an NVSwitch
  via_peer, ///< two, through a GPU (NVB)
  nic_near, ///< to the NIC next to the GPU (PIX)
  via_rail, ///< over NVLink to the GPU next to the NIC (PXN)
  system,   ///< any other
  none,
};
[[nodiscard]] std::string_view to_text(PathType type); ///< "NVL", "NVB", "PIX", "PXN", "SYS"

struct Path {
  std::vector<std::uint32_t> wires;
  double speed = 0; ///< of the slowest wire, GB/s
  PathType type = PathType::none;
};

/// A network card: its ports count as one.
struct Nic {
  double speed = 0;      ///< GB/s each way
  std::uint32_t gpu = 0; ///< the one that it is next to
  bool by_host = false;  ///< it reaches host memory only: no GPUDirect
};

/// Its ports in one node: links away, and the ones back.
struct NicLinks {
  std::vector<LinkId> out, in;
};

/// GPUs of a node for which rings are searched; of more there is one, by number.
constexpr std::uint32_t most_searched = 128;

struct System {
  std::string problem; ///< why nothing is known of it; else empty
  const Gpu* gpu = nullptr;
  bool gpu_is_assumed = false;       ///< the topology doesn't say what its NPUs are
  std::uint32_t nodes = 1, gpus = 0; ///< GPUs of this picture's node
  bool has_switch = false;           ///< NVSwitch
  /// Per node its switch that reduces and copies (NVLS), next to all of its GPUs; empty: not all
  /// nodes have one.
  std::vector<NodeId> reducing_switches;
  /// Per NIC the switch that reduces between all nodes' (SHARP); empty: not all NICs have one.
  std::vector<NodeId> reducing_between;
  /// Nodes in order of their lowest rank, inside by number; [node]: where its ranks begin, and end.
  std::vector<Rank> ranks;
  std::vector<std::uint32_t> begins;
  std::vector<double> wires;                    ///< speed of each, GB/s
  std::vector<Path> paths;                      ///< [from * gpus + to]
  std::vector<Nic> nics;                        ///< of this picture's node
  std::vector<std::vector<NicLinks>> nic_links; ///< [node][nic]
  std::vector<Path> out;                        ///< [gpu * nics + nic]
  std::vector<Path> in;                         ///< [gpu * nics + nic], from the NIC
  double total = 0;                             ///< what a GPU's own links carry together, GB/s

  /// Pictures of nodes that differ from the first; [node]: which is its, 0 for this one.
  std::vector<System> others;
  std::vector<std::uint32_t> picture;

  [[nodiscard]] Rank rank(std::uint32_t node, std::uint32_t index) const {
    return ranks[begins[node] + index];
  }
  [[nodiscard]] std::uint32_t gpus_of(std::uint32_t node) const {
    return begins[node + 1] - begins[node];
  }
  [[nodiscard]] const System& of(std::uint32_t node) const {
    return picture[node] == 0 ? *this : others[picture[node] - 1];
  }
  [[nodiscard]] const Path& path(std::uint32_t from, std::uint32_t to) const {
    return paths[from * gpus + to];
  }
};

/// What NCCL would find. `model` and `node_size`, where given, overrule what the topology says of
/// its NPUs, which are taken for `assumed` where nobody says what they are, and of NPUs per node.
/// Errors: InputError for an unknown model.
[[nodiscard]] System system_of(const Topology& topology, std::span<const NodeId> group,
                               std::string_view model, std::string_view assumed,
                               std::uint32_t node_size);

} // namespace tutti::nccl
