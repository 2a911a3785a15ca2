// Topologies for tests of flows, built by hand so that they need no topologies/.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <vector>

namespace tutti::samples {

/// Which links of a DGX A100 there are beside those to the rails.
enum class DgxLinks : std::uint8_t { nvlink, pcie, both };

/// Servers of eight GPUs, joined (where there are several) by eight rail switches, to which GPUs
/// of the same index are attached; the cluster of Shapley 2025, ch. 6. GPU g of server s is NPU
/// 8 s + g. GB/s each way: GPU - NVSwitch 300; GPU - PCIe switch 32, of which each of a server's
/// four has two GPUs; PCIe switch - memory 32, one memory for each server, which stores and copies;
/// to each rail 25, from the GPU or, where there is PCIe, from its PCIe switch.
[[nodiscard]] TopologyParts dgx_a100_parts(std::uint32_t servers, DgxLinks links);
[[nodiscard]] Topology dgx_a100(std::uint32_t servers, DgxLinks links);

/// Shapley's secondary objective, [link]: 1 for a link at a GPU and 1 for one at a rail, so that
/// from GPU to GPU over a rail it is 4.
[[nodiscard]] std::vector<double> dgx_a100_weights(const Topology& dgx_a100);

} // namespace tutti::samples
