// `dgx_a100_rail:N`: N NVIDIA DGX A100 servers of 8 GPUs on eight rails, with the bandwidths that
// reproduce the tables of Shapley 2025 (dissertation, sec. 6.1); N = 1 and 2 are the machines
// dgx_a100 and dgx_a100x2. NPU id = index + 8 * server; coordinates (index, server).
//
//   npu --300-- nvswitch<server>              dimension 0
//    |
//   32    two GPUs a switch
//    |
//   pcie<server>_<k> --32-- memory<server>    stores and copies, doesn't reduce
//    |
//   25    one NIC for each GPU
//    |
//   rail<index>                               dimension 1; from two servers on
//
// A GPU's NIC traffic shares its 32 GB/s. `links=nvlink` leaves out PCIe switches and memory and
// joins every GPU to its rail (25 GB/s); `links=pcie` leaves out the NVSwitches. `memory=switch`
// makes the memory one more switch, which can only forward. Given values are for NVSwitch, PCIe,
// memory, rail. Latencies are assumed: 0.35 us a hop, 1.3 us to and from a rail, as TE-CCL has for
// DGX-2. Links: level by level in that order, by server and GPU or switch, both directions of one
// together. PCIe links belong to no dimension, since traffic of both crosses them.
#include "sim/error.hpp"
#include "topologies/families.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace tutti::topologies {

namespace {

constexpr std::int64_t gpus = 8, switches = 4; // of a server

Link level(std::int64_t gigabytes_per_second, std::int64_t latency_ns, std::int8_t dimension) {
  Link link;
  link.bandwidth = Bandwidth{gigabytes_per_second * 1'000'000'000};
  link.latency = Time{latency_ns * 1'000};
  link.dimension = dimension;
  return link;
}

/// Appends nodes without coordinates; returns the id of the first.
std::int64_t add_nodes(TopologyParts& parts, std::int64_t count, NodeKind kind,
                       const std::function<std::string(std::int64_t)>& name) {
  const bool keeps = kind == NodeKind::memory;
  const auto first = static_cast<std::int64_t>(parts.nodes.size());
  for (std::int64_t i = 0; i < count; ++i)
    parts.add_node({name(i), kind, Abilities{keeps, keeps, false}, Bandwidth{}});
  return first;
}

NodeId id(std::int64_t number) { return NodeId{static_cast<std::uint32_t>(number)}; }

} // namespace

Topology dgx_a100_rail(const TopologySpec& spec) {
  require_numbers(spec, 1);
  refuse_unidirectional(spec);
  const std::int64_t servers = spec.shape[0], npus = gpus * servers;
  require_npus(npus);
  const std::string links = chosen_option(spec, "links", {"all", "nvlink", "pcie"});
  const bool plain_memory = chosen_option(spec, "memory", {"memory", "switch"}) == "switch";
  std::vector<Link> values = link_values(
      spec, {level(300, 350, 0), level(32, 350, -1), level(32, 350, -1), level(25, 1300, 1)});
  const bool nvlink = links != "pcie", pcie = links != "nvlink";

  TopologyParts parts = npus_only(spec, npus);
  parts.npu_model = "a100";
  constexpr std::array made_of{"nvlink3", "pcie4", "pcie4", "rdma"};
  for (std::size_t l = 0; l < values.size(); ++l) values[l].part = parts.link_part(made_of[l]);
  number_coordinates(parts, {static_cast<int>(gpus), spec.shape[0]});
  const auto numbered = [](const char* kind) {
    return [kind](std::int64_t i) { return fmt::format("{}{}", kind, i); };
  };
  const std::int64_t nvswitch =
      add_nodes(parts, nvlink ? servers : 0, NodeKind::switching, numbered("nvswitch"));
  const std::int64_t pcie_switch =
      add_nodes(parts, pcie ? switches * servers : 0, NodeKind::switching, [](std::int64_t i) {
        return fmt::format("pcie{}_{}", i / switches, i % switches);
      });
  const std::int64_t memory =
      add_nodes(parts, pcie ? servers : 0, plain_memory ? NodeKind::switching : NodeKind::memory,
                numbered("memory"));
  const std::int64_t rail =
      add_nodes(parts, servers > 1 ? gpus : 0, NodeKind::switching, numbered("rail"));

  const auto connect = [&](std::int64_t a, std::int64_t b, std::size_t at_level) {
    parts.add_duplex(between(id(a), id(b), values[at_level]));
  };
  for (std::int64_t npu = 0; nvlink && npu < npus; ++npu) connect(npu, nvswitch + npu / gpus, 0);
  for (std::int64_t npu = 0; pcie && npu < npus; ++npu) connect(npu, pcie_switch + npu / 2, 1);
  for (std::int64_t k = 0; pcie && k < switches * servers; ++k)
    connect(pcie_switch + k, memory + k / switches, 2);
  for (std::int64_t npu = 0; servers > 1 && npu < npus; ++npu)
    connect(pcie ? pcie_switch + npu / 2 : npu, rail + npu % gpus, 3);
  return Topology(std::move(parts));
}

} // namespace tutti::topologies
