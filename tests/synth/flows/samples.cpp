#include "tests/synth/flows/samples.hpp"

#include <string>
#include <utility>

namespace tutti::samples {

namespace {

constexpr std::uint32_t gpus = 8;
constexpr const char* rail_name = "rail";

Node switching(const std::string& name) {
  return {name, NodeKind::switching, {false, false, false}, {}};
}

void join(TopologyParts& parts, NodeId from, NodeId to, std::int64_t gigabytes) {
  parts.add_duplex({from, to, Time{500'000}, Bandwidth{gigabytes * 1'000'000'000}});
}

/// Adds what a server has beside GPUs; returns the node that each of its GPUs' rails are at.
std::vector<NodeId> add_server(TopologyParts& parts, std::uint32_t server, DgxLinks links) {
  const std::string name = "server" + std::to_string(server) + "/";
  const auto gpu = [&](std::uint32_t index) { return NodeId{gpus * server + index}; };
  std::vector<NodeId> ports;
  for (std::uint32_t g = 0; g < gpus; ++g) ports.push_back(gpu(g));
  if (links != DgxLinks::pcie) {
    const NodeId nvswitch = parts.add_node(switching(name + "nvswitch"));
    for (std::uint32_t g = 0; g < gpus; ++g) join(parts, gpu(g), nvswitch, 300);
  }
  if (links != DgxLinks::nvlink) {
    const NodeId memory =
        parts.add_node({name + "memory", NodeKind::memory, {true, true, false}, {}});
    for (std::uint32_t p = 0; p < gpus / 2; ++p) {
      const NodeId pcie = parts.add_node(switching(name + "pcie" + std::to_string(p)));
      join(parts, pcie, memory, 32);
      for (const std::uint32_t g : {2 * p, 2 * p + 1}) {
        join(parts, gpu(g), pcie, 32);
        ports[g] = pcie;
      }
    }
  }
  return ports;
}

} // namespace

TopologyParts dgx_a100_parts(std::uint32_t servers, DgxLinks links) {
  TopologyParts parts;
  parts.name = "DGX A100 x" + std::to_string(servers);
  for (std::uint32_t n = 0; n < gpus * servers; ++n)
    parts.add_node({"gpu" + std::to_string(n), NodeKind::npu, {}, {}});
  std::vector<NodeId> rails;
  for (std::uint32_t r = 0; r < gpus && servers > 1; ++r)
    rails.push_back(parts.add_node(switching(rail_name + std::to_string(r))));
  for (std::uint32_t s = 0; s < servers; ++s) {
    const std::vector<NodeId> ports = add_server(parts, s, links);
    for (std::uint32_t r = 0; r < rails.size(); ++r) join(parts, ports[r], rails[r], 25);
  }
  return parts;
}

Topology dgx_a100(std::uint32_t servers, DgxLinks links) {
  return Topology(dgx_a100_parts(servers, links));
}

std::vector<double> dgx_a100_weights(const Topology& dgx_a100) {
  const auto count = [&](NodeId node) {
    const Node& at = dgx_a100.node(node);
    return at.kind == NodeKind::npu || at.name.starts_with(rail_name) ? 1.0 : 0.0;
  };
  std::vector<double> weights;
  for (const Link& link : dgx_a100.links()) weights.push_back(count(link.from) + count(link.to));
  return weights;
}

} // namespace tutti::samples
