// What a log says of the run itself, in NCCL's messages and in the lists of devices: the first
// things that explain a number.
#pragma once

#include "sim/collective.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// A value, and the line that says it; of several that agree, the first.
template <typename Value> struct LogFact {
  Value value{};
  std::size_t line = 0;
};

/// "#  Rank  0 Group  0 Pid 1 on host-a device  0 [0000:1b:00] NVIDIA H100 80GB HBM3"
struct LogDevice {
  std::uint32_t rank = 0;
  std::string host;
  std::string address; ///< on PCIe, as printed: "0000:1b:00", "0x1b"
  std::string model;   ///< "NVIDIA H100 80GB HBM3"; empty where the log is older
  std::size_t line = 0;
};

/// "AllReduce: 524288 Bytes -> Algo Ring proto LL channel{Lo..Hi}={0..1}"
struct LogChoice {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size; ///< as NCCL counts it: a rank's share of All-Gather and Reduce-Scatter
  std::string algorithm, protocol; ///< "Ring", "LL"
  std::uint32_t channels = 0;      ///< 0: not said
  std::size_t line = 0;
};

struct LogFacts {
  std::optional<LogFact<std::string>> nccl_version; ///< "2.27.7+cuda12.4"; of RCCL too
  /// What NCCL says that it uses, or what its channels go through: "IB", "Socket", "Libfabric".
  /// Several where ranks disagree.
  std::vector<LogFact<std::string>> networks;
  std::vector<LogFact<std::string>> nics; ///< "mlx5_0:1/IB"
  /// Whether NICs read the GPUs' memory: false where any channel over a network doesn't.
  std::optional<LogFact<bool>> gdrdma;
  std::optional<LogFact<bool>> nvls_supported; ///< multicast is available on the devices
  std::optional<LogFact<bool>> nvls_used;      ///< NVLS is connected, or has channels
  std::optional<LogFact<std::uint32_t>> collective_channels, collnet_channels, nvls_channels,
      p2p_channels, p2p_channels_per_peer;
  std::optional<LogFact<std::uint32_t>> ranks, nodes, local_ranks;
  std::map<std::string, LogFact<std::string>> environment; ///< "NCCL_ALGO" to "Ring"
  std::vector<LogFact<std::string>> warnings; ///< NCCL's WARN lines, each once; 20 at most
  std::vector<LogChoice> choices;             ///< of the tuner; one for each collective and size
  std::vector<LogDevice> devices;             ///< in the order of the log

  /// Any line of a log, without a launcher's prefix: those that say nothing are passed over.
  void take(std::string_view text, std::size_t line);
};

/// 22707 is 2.27.7, 2604 is 2.6.4.
[[nodiscard]] std::string nccl_version_text(std::uint32_t code);

} // namespace tutti
