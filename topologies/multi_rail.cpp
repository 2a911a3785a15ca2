// `multi_rail:AxB` or `multi_rail:AxBxR`: B nodes of A GPUs and R NICs (default: one per GPU). The
// GPUs of a node share an NVSwitch-like switch (dimension 0); NIC r of every node is on rail switch
// r (dimension 1). GPU g uses NIC g * R / A; where that makes several GPUs of a node use one NIC
// (DGX-2: 16 GPUs, 8 NICs), they share its bandwidth in each direction. NPU id = g + A * node;
// coordinates (g, node). Switches can't store, copy or reduce: first those of the nodes, then the
// rails; a switch of one GPU is left out. Links: to the node switches, from them, to the rails,
// from them, each by NPU.
#include "sim/error.hpp"
#include "topologies/families.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace tutti::topologies {

namespace {

/// What a NIC carries, for every NIC with several GPUs: out and in. `first_out` is the link of GPU
/// 0 of node 0 to its rail, `first_in` the one back; those of the other NPUs follow.
void share_nics(TopologyParts& parts, std::int64_t gpus, std::int64_t nodes, std::int64_t nics,
                std::int64_t first_out, std::int64_t first_in, Bandwidth bandwidth) {
  for (std::int64_t node = 0; node < nodes; ++node) {
    std::vector<SharedGroup> out(static_cast<std::size_t>(nics)), in = out;
    for (std::int64_t gpu = 0; gpu < gpus; ++gpu) {
      const auto nic = static_cast<std::size_t>(gpu * nics / gpus);
      const std::int64_t npu = node * gpus + gpu;
      out[nic].links.push_back(LinkId{static_cast<std::uint32_t>(first_out + npu)});
      in[nic].links.push_back(LinkId{static_cast<std::uint32_t>(first_in + npu)});
    }
    for (std::size_t nic = 0; nic < out.size(); ++nic) {
      if (out[nic].links.size() < 2) continue;
      const std::string name = fmt::format("nic{} of node {}", nic, node);
      parts.groups.push_back({name + " out", std::move(out[nic].links), bandwidth});
      parts.groups.push_back({name + " in", std::move(in[nic].links), bandwidth});
    }
  }
}

} // namespace

Topology multi_rail(const TopologySpec& spec) {
  TopologySpec grid = spec;
  if (grid.shape.size() == 3) grid.shape.pop_back();
  require_numbers(grid, 2);
  refuse_unidirectional(spec);
  const std::int64_t npus = npu_product(grid), gpus = grid.shape[0], nodes = grid.shape[1];
  const std::int64_t nics = spec.shape.size() == 3 ? spec.shape[2] : gpus;
  if (nics < 1 || nics > gpus)
    throw InputError(fmt::format("{} NICs for {} GPUs (give 1 .. {})", nics, gpus, gpus));
  const std::vector<Link> values = link_values(spec, 2);

  TopologyParts parts = npus_only(spec, npus);
  const std::int64_t node_switches = gpus > 1 ? nodes : 0, rail_switches = nodes > 1 ? nics : 0;
  const std::int64_t node_switch = add_switches(parts, node_switches + rail_switches).value;
  number_coordinates(parts, grid.shape);
  const auto connect = [&](std::int64_t first_switch, std::size_t level, bool up) {
    const auto first_link = static_cast<std::int64_t>(parts.links.size());
    for (std::int64_t npu = 0; npu < npus; ++npu) {
      const std::int64_t index = level == 0 ? npu / gpus : npu % gpus * nics / gpus;
      const NodeId end{static_cast<std::uint32_t>(npu)};
      const NodeId hub{static_cast<std::uint32_t>(first_switch + index)};
      parts.add_link(up ? between(end, hub, values[level]) : between(hub, end, values[level]));
    }
    return first_link;
  };
  if (node_switches > 0) {
    connect(node_switch, 0, true);
    connect(node_switch, 0, false);
  }
  if (rail_switches > 0) {
    const std::int64_t first_rail = node_switch + node_switches;
    const std::int64_t out = connect(first_rail, 1, true), in = connect(first_rail, 1, false);
    share_nics(parts, gpus, nodes, nics, out, in, values[1].bandwidth);
  }
  return Topology(std::move(parts));
}

} // namespace tutti::topologies
