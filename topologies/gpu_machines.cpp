// The machines of today by name and number of nodes: `dgx_h100:2`, `gb200_nvl72:2,npus=36`,
// `mi300x:4,nics=8x50GB/s`. A node is what its GPUs' own links join: an NVSwitch domain (a server,
// or a rack of 72), or AMD's full mesh. NICs join nodes, by rails: NIC r of every node at switch r.
// Each row of the table says where its figures are from; latencies are assumed (0.35 us a hop, 1.3
// us to and from a rail, as TE-CCL has for DGX-2), since no vendor publishes them.
//
//   npu --- nvswitch<node>     dimension 0: all links of a GPU together, as its data is spread over
//    |                         all switch chips; NVLS makes it reduce and copy
//   rail<r>                    dimension 1; from two nodes on
//
// Cards without links of their own have a switch pcie<node> instead, through the same slot as their
// NICs. A mesh has a link for each
// ordered pair of a node's GPUs instead. NPU id = GPU + GPUs * node; coordinates (GPU, node). GPU g
// uses NICs g * R / G .. (g + 1) * R / G - 1 of R, and several GPUs of one NIC share it in each
// direction. What a GPU's NICs have beyond its slot, 16 lanes of PCIe unless the table says
// otherwise, is held back by a shared group in each direction. Links: by NPU, both directions of
// one together, those inside the nodes first.
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/families.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace tutti::topologies {

namespace {

enum class Inside : std::uint8_t { nvswitch, mesh, pcie, nothing };

struct Slot {
  int generation, lanes; ///< of PCIe; no lanes: NVLink-C2C
  [[nodiscard]] Bandwidth rate() const {
    return lanes > 0 ? pcie_rate(generation, lanes) : Bandwidth{450'000'000'000};
  }
};

struct GpuMachine {
  std::string_view name, npu_model;
  Inside inside;
  int gpus;
  std::int64_t bandwidth; ///< B/s each way: of a GPU to its switch, or to each other GPU of a mesh
  std::string_view part;  ///< Topology::part_of() of its links
  int nics;
  std::int64_t nic_bandwidth; ///< B/s each way
  bool reduces;               ///< its switch can, with NVLS
  Slot slot;                  ///< between a GPU and all of its NICs
};

constexpr std::int64_t giga = 1'000'000'000;

// Bandwidths: NVLink 4 is 18 links of 25 GB/s each way a GPU, NVLink 5 18 of 50 GB/s (NVIDIA H100
// and Blackwell architecture white papers); NICs by the user guides of DGX H100, H200, B200 and
// B300 (8 ConnectX-7 of 400 Gb/s; 8 ConnectX-8 of 800 Gb/s), and of GB200 and GB300 NVL72 (a
// ConnectX-7 of 400 Gb/s, a ConnectX-8 of 800 Gb/s a GPU). AMD: 7 Infinity Fabric links of 128 GB/s
// in both directions together (MI300X, MI325X data sheets), of 153.6 GB/s (MI355X), and 8 NICs of
// 400 Gb/s (the platform's reference design). DGX Spark: one ConnectX-7 with 200 Gb/s (user guide),
// at twice 4 lanes of PCIe 5. GB200: over NVLink-C2C to the CPU, 450 GB/s; others: 16 lanes of PCIe
// 5, or 6 beside ConnectX-8. HGX A100: 12 NVLinks of 25 GB/s (A100 white paper), 8 ConnectX-6 of
// 200 Gb/s (DGX A100 user guide). Cards without links of their own: 16 lanes of PCIe 4 or 5 (data
// sheets of L40S, A10, RTX 4090, RTX 5090, RTX PRO 6000), as if one switch joined them, and NICs as
// in NVIDIA's reference servers for them (4 of 200 or 400 Gb/s), of AWS g5.48xlarge one of 100
// Gb/s.
constexpr Slot pcie4{4, 16}, pcie5{5, 16}, pcie6{6, 16}, c2c{0, 0};
constexpr std::int64_t rate4 = 31'507'692'308, rate5 = 63'015'384'615; // pcie_rate(4, 16), (5, 16)

constexpr std::array<GpuMachine, 16> machines{{
    {"hgx_a100", "a100", Inside::nvswitch, 8, 300 * giga, "nvlink3", 8, 25 * giga, false, pcie4},
    {"l40s", "l40s", Inside::pcie, 8, rate4, "pcie4", 4, 25 * giga, false, pcie4},
    {"a10g", "a10g", Inside::pcie, 8, rate4, "pcie4", 1, 12'500'000'000, false, pcie4},
    {"rtx4090", "rtx4090", Inside::pcie, 8, rate4, "pcie4", 4, 25 * giga, false, pcie4},
    {"rtx5090", "rtx5090", Inside::pcie, 8, rate5, "pcie5", 4, 50 * giga, false, pcie5},
    {"rtx_pro_6000", "rtx_pro_6000", Inside::pcie, 8, rate5, "pcie5", 4, 50 * giga, false, pcie5},
    {"dgx_h100", "h100", Inside::nvswitch, 8, 450 * giga, "nvlink4", 8, 50 * giga, true, pcie5},
    {"dgx_h200", "h200", Inside::nvswitch, 8, 450 * giga, "nvlink4", 8, 50 * giga, true, pcie5},
    {"dgx_b200", "b200", Inside::nvswitch, 8, 900 * giga, "nvlink5", 8, 50 * giga, true, pcie5},
    {"hgx_b300", "b300", Inside::nvswitch, 8, 900 * giga, "nvlink5", 8, 100 * giga, true, pcie6},
    {"gb200_nvl72", "gb200", Inside::nvswitch, 72, 900 * giga, "nvlink5", 72, 50 * giga, true, c2c},
    {"gb300_nvl72", "gb300", Inside::nvswitch, 72, 900 * giga, "nvlink5", 72, 100 * giga, true,
     pcie6},
    {"mi300x", "mi300x", Inside::mesh, 8, 64 * giga, "xgmi3", 8, 50 * giga, false, pcie5},
    {"mi325x", "mi325x", Inside::mesh, 8, 64 * giga, "xgmi3", 8, 50 * giga, false, pcie5},
    {"mi355x", "mi355x", Inside::mesh, 8, 76'800'000'000, "xgmi4", 8, 50 * giga, false, pcie5},
    {"dgx_spark", "gb10", Inside::nothing, 1, 0, "", 1, 25 * giga, false, {5, 8}},
}};

const GpuMachine& machine_of(const TopologySpec& spec) {
  const std::string name = spec.name.substr(0, spec.name.find_first_of(":,"));
  const auto machine = std::ranges::find(machines, name, &GpuMachine::name);
  if (machine == machines.end()) throw InputError(fmt::format("unknown machine \"{}\"", name));
  return *machine;
}

/// `8x50GB/s`, or a number alone.
struct Nics {
  std::int64_t count;
  std::optional<Bandwidth> bandwidth;
};

Nics nics_of(const TopologySpec& spec, const GpuMachine& machine, std::int64_t gpus) {
  const std::string* text = find_option(spec, "nics");
  if (text == nullptr) {
    // As many as go with the GPUs that are in use.
    return {std::max<std::int64_t>(1, machine.nics * gpus / machine.gpus), std::nullopt};
  }
  const std::size_t times = text->find('x');
  const std::int64_t count =
      parse_integer(trimmed(std::string_view(*text).substr(0, times)), "nics", 1, 1024);
  Nics nics{count, std::nullopt};
  if (times != std::string::npos)
    nics.bandwidth = parse_bandwidth(trimmed(std::string_view(*text).substr(times + 1)));
  if (nics.bandwidth && !spec.bandwidth.empty())
    throw InputError("nics and bandwidth both say how fast a NIC is");
  if (std::max(count, gpus) % std::min(count, gpus) != 0)
    throw InputError(fmt::format("{} NICs for {} GPUs: neither divides the other", count, gpus));
  return nics;
}

class Builder {
public:
  Builder(const TopologySpec& spec, const GpuMachine& machine)
      : machine_(machine), nodes_(spec.shape.empty() ? 1 : spec.shape.front()),
        gpus_(gpus_of(spec, machine)), nics_(nics_of(spec, machine, gpus_)),
        values_(link_values(spec, defaults(machine))), parts_(npus_only(spec, npus(spec))),
        one_switch_(chosen_option(spec, "fabric", {"rails", "switch"}) == "switch"),
        sharp_(chosen_option(spec, "sharp", {"off", "on"}) == "on") {
    if (nics_.bandwidth) values_.back().bandwidth = *nics_.bandwidth;
    parts_.npu_model = machine.npu_model;
    if (values_.size() > 1) values_.front().part = parts_.link_part(std::string(machine.part));
    values_.back().part = parts_.link_part(chosen_option(spec, "nic", {"rdma", "efa"}));
    number_coordinates(parts_, {static_cast<int>(gpus_), static_cast<int>(nodes_)});
    reduces_ = machine.reduces && chosen_option(spec, "nvls", {"on", "off"}) == "on";
  }

  Topology build() && {
    if (machine_.inside == Inside::nvswitch && gpus_ > 1) add_switches("nvswitch");
    if (machine_.inside == Inside::pcie && gpus_ > 1) add_switches("pcie");
    if (machine_.inside == Inside::mesh) add_meshes();
    if (nodes_ > 1) add_rails();
    return Topology(std::move(parts_));
  }

private:
  static std::int64_t gpus_of(const TopologySpec& spec, const GpuMachine& machine) {
    const std::string* text = find_option(spec, "npus");
    return text == nullptr ? machine.gpus : parse_integer(*text, "npus", 1, machine.gpus);
  }
  static std::vector<Link> defaults(const GpuMachine& machine) {
    Link inside;
    inside.bandwidth = Bandwidth{machine.bandwidth};
    inside.latency = Time{machine.inside == Inside::mesh ? 700'000 : 350'000};
    inside.dimension = 0;
    Link nic;
    nic.bandwidth = Bandwidth{machine.nic_bandwidth};
    nic.latency = Time{1'300'000};
    nic.dimension = 1;
    if (machine.inside == Inside::nothing) return {nic};
    return {inside, nic};
  }
  [[nodiscard]] std::int64_t npus(const TopologySpec& spec) const {
    if (!spec.shape.empty()) require_numbers(spec, 1);
    refuse_unidirectional(spec);
    require_npus(nodes_ * gpus_);
    return nodes_ * gpus_;
  }

  NodeId add_switch(std::string name, bool reduces) {
    return parts_.add_node(
        {std::move(name), NodeKind::switching, Abilities{false, reduces, reduces}, Bandwidth{}});
  }
  static NodeId npu(std::int64_t number) { return NodeId{static_cast<std::uint32_t>(number)}; }

  void add_switches(std::string_view name) {
    std::vector<NodeId> switches;
    for (std::int64_t node = 0; node < nodes_; ++node)
      switches.push_back(add_switch(fmt::format("{}{}", name, node), reduces_));
    for (std::int64_t n = 0; n < nodes_ * gpus_; ++n)
      parts_.add_duplex(
          between(npu(n), switches[static_cast<std::size_t>(n / gpus_)], values_.front()));
  }
  void add_meshes() {
    for (std::int64_t node = 0; node < nodes_; ++node)
      for (std::int64_t a = 0; a < gpus_; ++a)
        for (std::int64_t b = a + 1; b < gpus_; ++b)
          parts_.add_duplex(between(npu(node * gpus_ + a), npu(node * gpus_ + b), values_.front()));
  }

  /// Two nodes without anything between are joined by cables.
  void add_rails() {
    const Link& nic = values_.back();
    if (machine_.inside == Inside::nothing && nodes_ == 2 && !one_switch_) {
      for (std::int64_t k = 0; k < nics_.count; ++k)
        parts_.add_duplex(between(npu(0), npu(1), nic));
      for (const std::int64_t n : {0, 1}) share_slot(npu(n), {}, 0);
      return;
    }
    std::vector<NodeId> rails;
    for (std::int64_t r = 0; r < (one_switch_ ? 1 : nics_.count); ++r)
      rails.push_back(add_switch(one_switch_ ? "fabric" : fmt::format("rail{}", r), sharp_));
    const std::int64_t each = std::max<std::int64_t>(1, nics_.count / gpus_); // NICs of a GPU
    const std::int64_t sharing = std::max<std::int64_t>(1, gpus_ / nics_.count);
    for (std::int64_t node = 0; node < nodes_; ++node)
      for (std::int64_t g = 0; g < gpus_; ++g) {
        const std::size_t first = parts_.links.size();
        for (std::int64_t k = 0; k < each; ++k) {
          const std::int64_t r = each > 1 ? g * each + k : g / sharing;
          const auto link = static_cast<std::uint32_t>(parts_.links.size());
          parts_.add_duplex(between(npu(node * gpus_ + g),
                                    rails[static_cast<std::size_t>(one_switch_ ? 0 : r)], nic));
          if (sharing > 1) share(node, r, g % sharing == 0, LinkId{link});
        }
        share_slot(npu(node * gpus_ + g), ways_to_peers(node * gpus_ + g), first);
      }
  }
  /// The links of a GPU that cross its slot as its NICs' do: those to the switch pcie<node>.
  [[nodiscard]] std::vector<LinkId> ways_to_peers(std::int64_t gpu) const {
    if (machine_.inside != Inside::pcie || gpus_ == 1) return {};
    const auto first = static_cast<std::uint32_t>(2 * gpu); // added first, by GPU
    return {LinkId{first}, LinkId{first + 1}};
  }
  /// Joins this GPU's links from `first` on, and `also`, in groups, where they have more than its
  /// slot.
  void share_slot(NodeId gpu, std::vector<LinkId> also, std::size_t first) {
    const Bandwidth slot = machine_.slot.rate();
    SharedGroup out{fmt::format("slot of {} out", parts_.nodes[gpu.value].name), {}, slot};
    SharedGroup in{fmt::format("slot of {} in", parts_.nodes[gpu.value].name), {}, slot};
    std::int64_t together = 0; // out
    for (std::size_t l = first; l < parts_.links.size(); ++l)
      also.emplace_back(static_cast<std::uint32_t>(l));
    for (const LinkId l : also) {
      const Link& link = parts_.links[l.value];
      if (link.from == gpu) out.links.push_back(l);
      if (link.to == gpu) in.links.push_back(l);
      if (link.from == gpu) together += link.bandwidth.bytes_per_second;
    }
    if (together <= slot.bytes_per_second) return;
    parts_.groups.push_back(std::move(out));
    parts_.groups.push_back(std::move(in));
  }
  /// `link` is out of a GPU, the next one into it.
  void share(std::int64_t node, std::int64_t nic, bool is_first, LinkId link) {
    if (is_first) {
      shared_nic_ = parts_.groups.size();
      const std::string name = fmt::format("nic{} of node {}", nic, node);
      parts_.groups.push_back({name + " out", {}, values_.back().bandwidth});
      parts_.groups.push_back({name + " in", {}, values_.back().bandwidth});
    }
    parts_.groups[shared_nic_].links.push_back(link);
    parts_.groups[shared_nic_ + 1].links.push_back(LinkId{link.value + 1});
  }

  const GpuMachine& machine_;
  std::int64_t nodes_, gpus_;
  Nics nics_;
  std::vector<Link> values_;
  TopologyParts parts_;
  bool one_switch_, sharp_, reduces_ = false;
  std::size_t shared_nic_ = 0; ///< the first of the two groups of the NIC that is being shared
};

} // namespace

Topology gpu_machine(const TopologySpec& spec) { return Builder(spec, machine_of(spec)).build(); }

} // namespace tutti::topologies
