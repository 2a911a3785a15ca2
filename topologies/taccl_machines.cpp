// `taccl_ndv2:N` and `taccl_dgx2:N`: N machines as TACCL measured and used them (Shah et al. 2023,
// sec. 4, Fig. 5, Table 1): Azure NDv2 of 8 V100 and one NIC, NVIDIA DGX-2 of 16 V100 and 8 NICs.
// NPU id = GPU + 8 (16) * machine. Table 1, with MB for 2^20 bytes, as the profiles of its public
// code scale by 1024:
//
//            alpha    beta          here
//   NVLink   0.7 us   46 us/MB      22.8 GB/s a link of NDv2, twice that where two go in parallel
//            0.7 us    8 us/MB      131 GB/s into and out of DGX-2's NVSwitch, half of alpha each
//   IB       1.7 us  106 us/MB      9.89 GB/s at each NIC; alpha on its link into the network
//
// NDv2: the NVLinks of DGX-1; two GPUs a PCIe switch, two switches a CPU, the NIC on the switch of
// GPUs 0 and 1 (sec. 4.2, Fig. 5b). PCIe Gen3 has 13 GB/s (sec. 4.1), shared by what crosses it,
// and only forwards. DGX-2: GPUs 2i and 2i + 1 share NIC i (sec. 7.1.1). From two machines on, all
// NICs meet in one InfiniBand switch. Given values are for NVLink (one link) and InfiniBand; PCIe
// keeps its own. Links: for each machine NVLinks by the lower GPU, then PCIe by the GPU, then those
// of CPUs and NICs, then those of NICs to the switch; both directions next to each other.
#include "sim/error.hpp"
#include "topologies/families.hpp"
#include "topologies/ndv2_links.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::int64_t most_taccl_machines = 4096;

Bandwidth per_mebibyte(std::int64_t microseconds) {
  return Bandwidth{(std::int64_t{1} << 20) * 1'000'000 / microseconds};
}

Link link_of(Time latency, Bandwidth bandwidth, std::int8_t dimension) {
  Link link;
  link.latency = latency;
  link.bandwidth = bandwidth;
  link.dimension = dimension;
  return link;
}

class TacclMachines {
public:
  TacclMachines(const TopologySpec& spec, std::int64_t gpus, std::int64_t nvlink_microseconds)
      : machines_(spec.shape.empty() ? 1 : spec.shape.front()), gpus_(gpus) {
    if (!spec.shape.empty()) require_numbers(spec, 1);
    refuse_unidirectional(spec);
    if (machines_ > most_taccl_machines)
      throw InputError(fmt::format("at most {} machines, not {}", most_taccl_machines, machines_));
    const std::vector<Link> values =
        link_values(spec, {link_of(Time{700'000}, per_mebibyte(nvlink_microseconds), 0),
                           link_of(Time{1'700'000}, per_mebibyte(106), 1)});
    nvlink_ = values[0];
    infiniband_ = values[1];
    pcie_ = link_of(Time{}, Bandwidth{13'000'000'000}, 1);
    parts_ = npus_only(spec, gpus_ * machines_);
    parts_.npu_model = "v100";
    nvlink_.part = parts_.link_part("nvlink2");
    pcie_.part = parts_.link_part("pcie3");
    infiniband_.part = parts_.link_part("rdma");
    number_coordinates(parts_, {static_cast<int>(gpus_), static_cast<int>(machines_)});
  }

  Topology ndv2() && {
    const std::vector<NodeId> pcie = nodes("pcie", 4), cpus = nodes("cpu", 2),
                              nics = nodes("nic", machines_ > 1 ? 1 : 0);
    Link two = nvlink_;
    two.bandwidth.bytes_per_second *= 2;
    for (std::int64_t m = 0; m < machines_; ++m) {
      for (const auto& [a, b] : double_nvlinks) join(gpu(m, a), gpu(m, b), two);
      for (const auto& [a, b] : single_nvlinks) join(gpu(m, a), gpu(m, b), nvlink_);
      for (std::int64_t g = 0; g < gpus_; ++g) join(gpu(m, g), at(pcie, 4 * m + g / 2), pcie_);
      for (std::int64_t p = 0; p < 4; ++p)
        join(at(pcie, 4 * m + p), at(cpus, 2 * m + p / 2), pcie_);
      join(at(cpus, 2 * m), at(cpus, 2 * m + 1), pcie_);
      if (!nics.empty()) join(at(pcie, 4 * m), at(nics, m), pcie_);
    }
    add_network(nics);
    return Topology(std::move(parts_));
  }

  Topology dgx2() && {
    const std::vector<NodeId> switches = nodes("nvswitch", 1),
                              nics = nodes("nic", machines_ > 1 ? 8 : 0);
    Link half = nvlink_; // to the switch, and on from it
    half.latency.ps /= 2;
    for (std::int64_t m = 0; m < machines_; ++m) {
      for (std::int64_t g = 0; g < gpus_; ++g) join(gpu(m, g), at(switches, m), half);
      for (std::int64_t g = 0; g < gpus_ && !nics.empty(); ++g)
        join(gpu(m, g), at(nics, 8 * m + g / 2), pcie_);
    }
    add_network(nics);
    return Topology(std::move(parts_));
  }

private:
  [[nodiscard]] NodeId gpu(std::int64_t machine, std::int64_t index) const {
    return NodeId{static_cast<std::uint32_t>(machine * gpus_ + index)};
  }
  static NodeId at(const std::vector<NodeId>& nodes, std::int64_t index) {
    return nodes[static_cast<std::size_t>(index)];
  }

  std::vector<NodeId> nodes(const std::string& name, std::int64_t each) {
    std::vector<NodeId> made;
    for (std::int64_t i = 0; i < each * machines_; ++i)
      made.push_back(parts_.add_node({fmt::format("{}{}", name, i), NodeKind::switching,
                                      Abilities{false, false, false}, Bandwidth{}}));
    return made;
  }

  void join(NodeId a, NodeId b, const Link& values) { parts_.add_duplex(between(a, b, values)); }

  /// A NIC's latency is on its link into the network: there it occupies what TACCL's model says.
  void add_network(const std::vector<NodeId>& nics) {
    if (nics.empty()) return;
    const NodeId network = parts_.add_node(
        {"infiniband", NodeKind::switching, Abilities{false, false, false}, Bandwidth{}});
    Link out_of = infiniband_;
    out_of.latency = Time{};
    for (const NodeId nic : nics) {
      parts_.add_link(between(nic, network, infiniband_));
      parts_.add_link(between(network, nic, out_of));
    }
  }

  std::int64_t machines_, gpus_;
  Link nvlink_, pcie_, infiniband_;
  TopologyParts parts_;
};

} // namespace

Topology taccl_machine(const TopologySpec& spec) {
  if (spec.name.starts_with("taccl_ndv2")) return TacclMachines(spec, 8, 46).ndv2();
  if (spec.name.starts_with("taccl_dgx2")) return TacclMachines(spec, 16, 8).dgx2();
  throw InputError(fmt::format("unknown machine \"{}\"", spec.name));
}

} // namespace tutti::topologies
