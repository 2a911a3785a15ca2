// What NCCL and RCCL take for granted of GPUs, links and processors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::nccl {

/// By compute capability, as the tables of NCCL's tuner are.
enum class Generation : std::uint8_t { volta, ampere, hopper, blackwell, cdna };

enum class Processor : std::uint8_t { intel, amd, arm };

/// What a model of NPU is to the search and to the tuner. Speeds in GB/s each way, as the libraries
/// count them: less than what the links are sold with.
struct Gpu {
  std::string_view model; ///< Topology's npu_model
  Generation generation;
  Processor processor; ///< of the servers that it is sold in
  double link_speed;   ///< that is believed of one NVLink or xGMI link
  double link_rate;    ///< that one link has
  double pcie_speed;   ///< that is believed of its PCIe
  bool is_amd = false;
};

[[nodiscard]] std::span<const Gpu> gpus();
/// Null for one that isn't known.
[[nodiscard]] const Gpu* find_gpu(std::string_view model);

/// Speeds that the search tries for a channel, from the highest, inside a node and between nodes
/// (search.cc, speedArray*).
[[nodiscard]] std::span<const double> speeds_inside(Generation generation);
[[nodiscard]] std::span<const double> speeds_between(Generation generation);

[[nodiscard]] std::string_view to_text(Generation generation); ///< "hopper"
[[nodiscard]] std::string_view to_text(Processor processor);   ///< "intel"
/// Errors: InputError with the known names.
[[nodiscard]] Processor parse_processor(std::string_view text);

} // namespace tutti::nccl
