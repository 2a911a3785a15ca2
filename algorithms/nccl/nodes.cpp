// Why: NCCL asks the operating system which GPUs are in one machine; a file of links doesn't say
// it. What is a machine by its NPUs or its parts shows nodes by NVLink's own speeds, any other
// network by the largest step between speeds. One that shows nothing may be a node of its own only
// if NCCL has nodes of that size.

#include "algorithms/nccl/nodes.hpp"

#include "sim/error.hpp"
#include "sim/graphs/disjoint_sets.hpp"
#include "sim/graphs/servers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace tutti::nccl {

namespace {

/// GPUs of a node: GB300 NVL72, and NCCL_MAX_LOCAL_RANKS (NCCL 2.30, include/device.h).
constexpr std::uint32_t most_of_node = 72;

/// Per node of the topology the lowest one that links or fast switches join it with. What is slower
/// than one of a GPU's links is a NIC's, but for what links lose when they are measured (SCCL, sec.
/// 5.1.2: 27 and 33 of the 46 GB/s of MI50's); a switch is NVSwitch where a GPU has more than four
/// links to it, and others are PCIe or the network.
std::vector<std::uint32_t> domains_of(const Topology& topology, const Gpu& gpu) {
  constexpr double few_links = 4, measured = 0.55, bytes_per_gb = 1e9;
  DisjointSets domains(topology.node_count());
  const auto is_npu = [&](NodeId v) { return topology.node(v).kind == NodeKind::npu; };
  const auto is_switch = [&](NodeId v) { return topology.node(v).kind == NodeKind::switching; };
  for (const Link& link : topology.links()) {
    const double rate = static_cast<double>(link.bandwidth.bytes_per_second) / bytes_per_gb;
    const bool is_direct = is_npu(link.from) && is_npu(link.to);
    const bool is_by_switch =
        (is_npu(link.from) || is_npu(link.to)) && (is_switch(link.from) || is_switch(link.to));
    if ((is_direct && rate >= measured * gpu.link_rate) ||
        (is_by_switch && rate > few_links * gpu.link_rate))
      domains.join(link.from.value, link.to.value);
  }
  return std::move(domains).least();
}

/// [node]: a number that only NPUs of one of NCCL's nodes have in common, as far as the network
/// shows it; else empty. `is_machine`: it says itself that it is a real one.
std::vector<std::uint32_t> shown_nodes(const Topology& topology, const Gpu& gpu, bool is_machine,
                                       bool gpu_is_given) {
  if (!is_machine)
    if (std::vector<std::uint32_t> sets = sets_joined_by_speed(topology); !sets.empty())
      return sets;
  if (!is_machine && !gpu_is_given) return {};
  const std::size_t dimensions = topology.shape().size();
  if (dimensions < 2) return domains_of(topology, gpu);
  std::vector<std::uint32_t> nodes(topology.node_count());
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    nodes[n] = static_cast<std::uint32_t>(topology.coordinate(NodeId{n})[dimensions - 1]);
  return nodes;
}

const Gpu& gpu_called(std::string_view model) {
  if (const Gpu* gpu = find_gpu(model)) return *gpu;
  std::vector<std::string> known;
  for (const Gpu& gpu : gpus()) known.emplace_back(gpu.model);
  throw InputError(unknown_name("model of GPU", std::string(model), known));
}

bool says_gpu(const Topology& topology) { return find_gpu(topology.parts().npu_model) != nullptr; }

bool has_cards(const Topology& topology) {
  return std::ranges::any_of(topology.parts().link_parts, [](const std::string& part) {
    return part == "rdma" || part == "efa";
  });
}

} // namespace

NodesOfNpus::NodesOfNpus(const Topology& topology, std::string_view model, std::string_view assumed)
    : npus_(topology.npu_count()), gpu_is_known_(!model.empty() || says_gpu(topology)),
      gpu_(gpu_called(!model.empty()       ? model
                      : says_gpu(topology) ? std::string_view(topology.parts().npu_model)
                                           : assumed)) {
  const bool is_machine = says_gpu(topology) || has_cards(topology);
  nodes_ = shown_nodes(topology, gpu_, is_machine, !model.empty());
  if (is_machine && topology.shape().size() > 1)
    dimension_between_ = static_cast<int>(topology.shape().size()) - 1;
  std::map<std::uint32_t, std::uint32_t> sizes;
  for (std::uint32_t n = 0; n < npus_; ++n) ++sizes[(*this)(NodeId{n})];
  for (const auto& [node, size] : sizes) {
    least_ = std::min(least_, size);
    most_ = std::max(most_, size);
  }
  if (!is_machine && model.empty() &&
      least_ < most_) { // one link more may join two servers, or what is none
    doubt_ = fmt::format("taken for one node: servers of {} to {} NPUs by their speeds, and only "
                         "equal ones are known",
                         least_, most_);
    nodes_.clear();
    least_ = most_ = npus_;
  }
  if (is_machine || most_ <= most_of_node || !doubt_.empty()) return;
  if (nodes_.empty())
    doubt_ = fmt::format("taken for one node, though nodes have at most {} GPUs: nothing tells "
                         "servers apart (node_size does)",
                         most_of_node);
  else
    problem_ = fmt::format("servers of {} NPUs: a node has at most {} GPUs", most_, most_of_node);
}

void NodesOfNpus::cut_by_number(std::uint32_t size) {
  if (are_of(size)) return;
  problem_.clear();
  doubt_.clear();
  if (size > most_of_node)
    problem_ = fmt::format("node_size={}: a node has at most {} GPUs", size, most_of_node);
  else if (npus_ % size != 0)
    problem_ = fmt::format("node_size={} doesn't divide {} NPUs", size, npus_);
  std::map<std::uint32_t, std::uint32_t> node_of; // of what is shown
  for (std::uint32_t n = 0; n < npus_ && !nodes_.empty() && problem_.empty(); ++n)
    if (node_of.emplace(nodes_[n], n / size).first->second != n / size)
      problem_ = fmt::format("node_size={} cuts through a server of {} NPUs{}", size, most_,
                             size < most_ ? "" : ", as they are numbered");
  nodes_.resize(npus_);
  dimension_between_ = -2;
  for (std::uint32_t n = 0; n < npus_; ++n) nodes_[n] = n / size;
}

} // namespace tutti::nccl
