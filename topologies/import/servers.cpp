// Why: NCCL's topology files and nvidia-smi's matrix describe the same thing, a server, and leave
// out the same: what its links carry, how late they are, and how several servers are joined.
//
//   cpu0 ------------------ cpu1        add_bus()
//    |
//   pcie0 --- mlx5_0 --- rail0          add_pcie(); ports of cards lead to rails
//    |
//   npu0 ---- nvswitch                  add_switched_links(), or add_own_links() to other NPUs
//
// All but the NPUs forward; from device to device a CPU's memory isn't passed. PCIe counts as part
// of the way to the network ("rdma") where GPUs have links of their own, as transports know it from
// GPU to GPU; as PCIe where that is all there is.
#include "topologies/import/servers.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

namespace tutti::topologies {

namespace {

constexpr std::array<GpuKind, 28> kinds{{
    {"p100", "one NVLink 1", "nvlink1", 4, 3, "network card beside V100", false, "0x15f9"},
    {"v100", "one NVLink 2", "nvlink2", 6, 3, "network card beside V100", false,
     "0x1db1 0x1db4 0x1db5 0x1db6"},
    {"a100", "one NVLink 3", "nvlink3", 12, 4, "network card beside A100", false,
     "0x20b0 0x20b2 0x20b5 0x20f1"},
    {"t4", "", "", 0, 3, "network card beside V100", false, "0x1eb8"},
    {"a6000", "one NVLink of an RTX A6000", "nvlink3", 4, 4, "network card beside A100", false,
     "0x2230 0x2235"},
    {"a10g", "", "", 0, 4, "network card beside A100", false, "0x2236 0x2237"},
    {"rtx3090", "one NVLink of an RTX A6000", "nvlink3", 4, 4, "network card beside A100", false,
     "0x2204"},
    {"l4", "", "", 0, 4, "network card beside A100", false, "0x27b8"},
    {"l40s", "", "", 0, 4, "network card beside A100", false, "0x26b5 0x26b9"},
    {"rtx4090", "", "", 0, 4, "network card beside A100", false, "0x2684"},
    {"h100", "one NVLink 4", "nvlink4", 18, 5, "network card beside H100", true, "0x2330 0x2331"},
    {"h200", "one NVLink 4", "nvlink4", 18, 5, "network card beside H100", true, "0x2335 0x2348"},
    {"b200", "one NVLink 5", "nvlink5", 18, 5, "network card beside H100", true, "0x2901"},
    {"gb200", "one NVLink 5", "nvlink5", 18, 5, "network card beside H100", true, "0x2941"},
    {"b300", "one NVLink 5", "nvlink5", 18, 6, "network card beside B300", true, "0x3182"},
    {"gb300", "one NVLink 5", "nvlink5", 18, 6, "network card beside B300", true, "0x31c2"},
    {"gb10", "", "", 0, 4, "network card beside A100", false},
    {"rtx5090", "", "", 0, 5, "network card beside H100", false, "0x2b85"},
    {"rtx_pro_6000", "", "", 0, 5, "network card beside H100", false, "0x2bb1 0x2bb5"},
    {"mi50", "one xGMI link of MI50", "xgmi1", 2, 4, "network card beside V100", false, "0x66a1"},
    {"mi100", "one xGMI link of MI100", "xgmi1", 3, 4, "network card beside A100", false, "0x738c"},
    {"mi210", "one xGMI link of MI250X", "xgmi2", 3, 4, "network card beside A100", false,
     "0x740f"},
    {"mi250x", "one xGMI link of MI250X", "xgmi2", 8, 4, "network card beside A100", false,
     "0x740c 0x7408"},
    {"radeon", "", "", 0, 4, "network card beside A100", false},
    {"mi300x", "one xGMI link of MI300X", "xgmi3", 7, 5, "network card beside H100", false,
     "0x74a1"},
    {"mi325x", "one xGMI link of MI300X", "xgmi3", 7, 5, "network card beside H100", false,
     "0x74a5"},
    {"mi355x", "one xGMI link of MI355X", "xgmi4", 7, 5, "network card beside H100", false,
     "0x75a3"},
    {"", "", "", 0, 3, "network card beside V100", false},
}};

constexpr std::int64_t most_servers = 4096;
constexpr std::size_t most_cards = 1024;

} // namespace

std::span<const GpuKind> gpu_kinds() { return std::span(kinds).first(kinds.size() - 1); }

const GpuKind* find_gpu_kind(std::string_view model) {
  const auto found = std::ranges::find(gpu_kinds(), model, &GpuKind::model);
  return found == gpu_kinds().end() ? nullptr : &*found;
}

const GpuKind* gpu_kind_of_device(std::string_view device) {
  const auto found = std::ranges::find_if(gpu_kinds(), [&](const GpuKind& kind) {
    return device.size() == 6 && kind.devices.find(device) != std::string_view::npos;
  });
  return found == gpu_kinds().end() ? nullptr : &*found;
}

const GpuKind& unknown_gpu_kind() { return kinds.back(); }

std::optional<GpuKind> asked_gpu_kind(const ForeignFile& file) {
  const auto said = file.options.find("npu");
  if (said == file.options.end()) return std::nullopt;
  if (const GpuKind* kind = find_gpu_kind(said->second)) return *kind;
  std::vector<std::string> known;
  for (const GpuKind& kind : gpu_kinds()) known.emplace_back(kind.model);
  throw InputError(fmt::format("{}: {}", file.source, unknown_name("npu", said->second, known)));
}

Bandwidth pcie_rate(int generation, int lanes) {
  // Transfers a second and lane, and how many of so many bits carry data: 8b/10b, 128b/130b, FLITs.
  struct Encoding {
    double transfers, data, bits;
  };
  constexpr std::array<Encoding, 6> generations{{{2.5e9, 8, 10},
                                                 {5e9, 8, 10},
                                                 {8e9, 128, 130},
                                                 {16e9, 128, 130},
                                                 {32e9, 128, 130},
                                                 {64e9, 242, 256}}};
  const Encoding& of = generations.at(static_cast<std::size_t>(generation) - 1);
  return Bandwidth{std::llround(of.transfers * of.data / of.bits * lanes / 8)};
}

ServerBuilder::ServerBuilder(const ForeignFile& file, Assumptions& assumed, std::int64_t gpus,
                             GpuKind kind)
    : file_(file), assumed_(assumed), gpus_(gpus), kind_(kind) {
  if (file.nodes > most_servers)
    throw InputError(
        fmt::format("{}:{}: at most {} servers", file.source, file.nodes, most_servers));
  require_npus(std::max<std::int64_t>(2, gpus * file.nodes));
  parts_.npu_model = kind.model;
  for (std::int64_t g = 0; g < gpus; ++g)
    parts_.add_node({fmt::format("npu{}", g), NodeKind::npu, {}, {}});
  pcie_part_ = parts_.link_part("pcie"); // named in name_parts()
}

NodeId ServerBuilder::add_forwarding(std::string name, bool reduces) {
  return parts_.add_node(
      {std::move(name), NodeKind::switching, Abilities{false, reduces, reduces}, {}});
}

NodeId ServerBuilder::add_cpu(std::int64_t number) {
  return add_forwarding(fmt::format("cpu{}", number));
}

NodeId ServerBuilder::add_pcie_switch() {
  return add_forwarding(fmt::format("pcie{}", pcie_switches_++));
}

void ServerBuilder::add_nic(std::string_view name, std::vector<NicPort> ports, NodeId above,
                            Bandwidth rate) {
  if (!file_.options.contains("nics")) add_card(name, std::move(ports), above, rate);
}

void ServerBuilder::add_card(std::string_view name, std::vector<NicPort> ports, NodeId above,
                             Bandwidth rate) {
  constexpr std::size_t longest = 60;
  std::string plain(name.substr(0, longest));
  std::ranges::replace_if(
      plain, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '_');
  if (!plain.starts_with("nic")) plain.insert(0, "nic-"); // as pictures know them by
  if (nics_.size() == most_cards)
    throw InputError(fmt::format("{}: more than {} network cards", file_.source, most_cards));
  const int copies = card_names_[plain]++;
  std::string unique = copies == 0 ? plain : fmt::format("{}.copy{}", plain, copies);
  const NodeId card = add_forwarding(std::move(unique));
  nics_.push_back({card, std::move(ports)});
  add_pcie(above, card, rate);
}

void ServerBuilder::add_pcie(NodeId above, NodeId below, Bandwidth rate) {
  Link link{above, below, assumed_.time("latency of a link of PCIe"), rate};
  link.part = pcie_part_;
  parts_.add_duplex(link);
  pcie_of_.resize(parts_.nodes.size());
  pcie_of_[below.value] = link;
}

void ServerBuilder::add_bus(NodeId a, NodeId b, Bandwidth rate) {
  Link link{a, b, assumed_.time("latency of a link between CPUs"), rate};
  link.part = pcie_part_;
  parts_.add_duplex(link);
}

Bandwidth ServerBuilder::own_rate(int count, int parts) const {
  return Bandwidth{assumed_.rate(kind_.own_link).bytes_per_second * count / parts};
}

void ServerBuilder::add_own_links(std::int64_t from, std::int64_t to, int count, int parts) {
  has_own_links_ = true;
  Link link{gpu(from), gpu(to), assumed_.time("latency from GPU to GPU by a link of their own"),
            own_rate(count, parts)};
  link.dimension = 0;
  link.part = parts_.link_part(std::string(kind_.link_part));
  parts_.add_link(link);
}

void ServerBuilder::add_inner_link(std::int64_t from, std::int64_t to, std::string_view rate) {
  Link link{gpu(from), gpu(to), assumed_.time("latency from GPU to GPU by a link of their own"),
            assumed_.rate(rate)};
  link.dimension = 0;
  link.part = kind_.link_part.empty() ? pcie_part_ : parts_.link_part(std::string(kind_.link_part));
  parts_.add_link(link);
}

void ServerBuilder::share(const std::string& what, std::span<const std::size_t> npus,
                          std::size_t first) {
  if (npus.size() < 2) return;
  for (const bool out : {true, false}) {
    SharedGroup group{fmt::format("{} ({})", what, out ? "out" : "in"), {}, {}};
    for (std::size_t l = first; l < parts_.links.size(); ++l) {
      const Link& link = parts_.links[l];
      const std::size_t npu = (out ? link.from : link.to).value;
      if (std::ranges::find(npus, npu) == npus.end()) continue;
      group.links.push_back(LinkId{static_cast<std::uint32_t>(l)});
      if (npu == npus.front()) group.bandwidth.bytes_per_second += link.bandwidth.bytes_per_second;
    }
    if (!group.links.empty()) parts_.groups.push_back(std::move(group));
  }
}

void ServerBuilder::add_links_to_cpu(std::int64_t number, NodeId cpu, int count) {
  add_bus(gpu(number), cpu, own_rate(count, 1));
}

void ServerBuilder::add_switched_links(std::int64_t number, int count, int parts) {
  has_own_links_ = true;
  if (!switch_.valid()) {
    const bool reduces = kind_.has_nvls && option("nvls", {"on", "off"}) == "on";
    if (reduces) assumed_.add("NVSwitches", "they reduce and copy (NVLS); nvls=off: they don't");
    switch_ = add_forwarding("nvswitch", reduces);
  }
  Link link{gpu(number), switch_, assumed_.time("latency of an NVLink to an NVSwitch"),
            own_rate(count, parts)};
  link.dimension = 0;
  link.part = parts_.link_part(std::string(kind_.link_part));
  parts_.add_duplex(link);
}

std::string ServerBuilder::option(std::string_view key,
                                  const std::vector<std::string>& known) const {
  const auto found = file_.options.find(key);
  if (found == file_.options.end()) return known.front();
  if (std::ranges::find(known, found->second) == known.end())
    throw InputError(
        fmt::format("{}: {}", file_.source, unknown_name(std::string(key), found->second, known)));
  return found->second;
}

/// `nics=8x50GB/s` or `nics=8`: where the GPUs are.
void ServerBuilder::add_asked_nics() {
  const auto said = file_.options.find("nics");
  if (said == file_.options.end()) return;
  const std::string_view text = said->second;
  const std::size_t times = text.find('x');
  const std::int64_t count = parse_integer(trimmed(text.substr(0, times)), "nics", 1, 1024);
  if (std::max(count, gpus_) % std::min(count, gpus_) != 0)
    throw InputError(fmt::format("{}: {} NICs for {} GPUs: neither divides the other", file_.source,
                                 count, gpus_));
  const Bandwidth rate = times == std::string_view::npos
                             ? assumed_.rate(kind_.nic)
                             : parse_bandwidth(trimmed(text.substr(times + 1)));
  for (std::int64_t n = 0; n < count; ++n) {
    const std::optional<Link> beside = pcie_of_[static_cast<std::size_t>(n * gpus_ / count)];
    if (!beside)
      throw InputError(fmt::format("{}: npu{} has no PCIe that a card could be at", file_.source,
                                   n * gpus_ / count));
    add_card(fmt::format("nic{}", n), {{rate, {}}}, beside->from,
             std::max(beside->bandwidth, rate));
  }
}

/// Whether a GPU is below the switch that the card is at, or below one that this is below.
bool ServerBuilder::shares_a_switch(NodeId card) const {
  const auto highest_switch = [&](NodeId node) { // above it; invalid: there is none
    NodeId highest;
    for (node = pcie_of_[node.value] ? pcie_of_[node.value]->from : node; pcie_of_[node.value];
         node = pcie_of_[node.value]->from)
      highest = node;
    return highest;
  };
  const NodeId own = highest_switch(card);
  if (!own.valid()) return false;
  for (std::int64_t g = 0; g < gpus_; ++g)
    if (highest_switch(gpu(g)) == own) return true;
  return false;
}

std::vector<ServerBuilder::Nic> ServerBuilder::cabled_nics() const {
  std::vector<Nic> near;
  for (const Nic& nic : nics_)
    if (shares_a_switch(nic.card)) near.push_back(nic);
  if (near.empty() || near.size() == nics_.size()) return nics_;
  std::string left;
  for (const Nic& nic : nics_)
    if (!shares_a_switch(nic.card))
      left += fmt::format("{}{}", left.empty() ? "" : ", ", parts_.nodes[nic.card.value].name);
  assumed_.add("cards without a cable", fmt::format("{} (at no GPU's PCIe switch)", left));
  return near;
}

void ServerBuilder::name_parts() {
  std::string& name = parts_.link_parts[pcie_part_ - std::size_t{1}];
  const std::string nic = option("nic", {"rdma", "efa"});
  // The least generation whose 16 lanes have what the fastest GPU's PCIe has.
  Bandwidth fastest;
  for (std::size_t g = 0; g < static_cast<std::size_t>(gpus_); ++g)
    if (pcie_of_[g]) fastest = std::max(fastest, pcie_of_[g]->bandwidth);
  int generation = 1;
  while (generation < 6 && pcie_rate(generation, 16) < fastest) ++generation;
  name = has_own_links_ ? nic : fmt::format("pcie{}", generation);
}

void ServerBuilder::add_rails(TopologyParts& whole, const std::vector<std::vector<NodeId>>& copies,
                              const std::vector<Nic>& nics) {
  const bool one_switch = option("fabric", {"rails", "switch"}) == "switch";
  const std::uint8_t part = whole.link_part(option("nic", {"rdma", "efa"}));
  std::size_t ports = 0;
  for (const Nic& nic : nics) ports += nic.ports.size();
  if (ports == 0)
    throw InputError(fmt::format("{}: it has no network cards, which join servers: say them, as "
                                 "in {}:{},nics={}x50GB/s",
                                 file_.source, file_.source, file_.nodes, gpus_));
  std::vector<NodeId> rails;
  for (std::size_t r = 0; r < (one_switch ? 1 : ports); ++r)
    rails.push_back(whole.add_node({one_switch ? "fabric" : fmt::format("rail{}", r),
                                    NodeKind::switching,
                                    Abilities{false, false, false},
                                    {}}));
  assumed_.add("network", one_switch ? "one switch" : "rails: port r of every server at switch r");
  for (const std::vector<NodeId>& server : copies) {
    std::size_t r = 0;
    for (const Nic& nic : nics)
      for (const NicPort& port : nic.ports) {
        const Time latency = port.latency.ps > 0
                                 ? port.latency
                                 : assumed_.time("latency from a network card to a switch");
        Link link{server[nic.card.value], rails[one_switch ? 0 : r++], latency, port.bandwidth};
        link.dimension = 1;
        link.part = part;
        whole.add_duplex(link);
      }
  }
}

TopologyParts ServerBuilder::cluster() && {
  (void)option("nvls", {"on", "off"}); // also where no NVSwitch asks
  pcie_of_.resize(parts_.nodes.size());
  add_asked_nics();
  pcie_of_.resize(parts_.nodes.size());
  name_parts();
  if (file_.nodes == 1) {
    (void)option("fabric", {"rails", "switch"}); // said or not, it is one that there is
    number_coordinates(parts_, {static_cast<int>(gpus_), 1});
    return std::move(parts_);
  }

  const auto of_one = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  require_npus(of_one(parts_.nodes.size()) * file_.nodes);
  require_links(of_one(parts_.links.size()) * file_.nodes);
  const std::vector<Nic> nics = cabled_nics();
  TopologyParts whole;
  whole.npu_model = parts_.npu_model;
  whole.link_parts = parts_.link_parts;
  std::vector<std::vector<NodeId>> copies(static_cast<std::size_t>(file_.nodes));
  for (std::size_t s = 0; s < copies.size(); ++s)
    for (std::int64_t g = 0; g < gpus_; ++g)
      copies[s].push_back(whole.add_node(
          {fmt::format("npu{}", static_cast<std::int64_t>(s) * gpus_ + g), NodeKind::npu, {}, {}}));
  for (std::size_t s = 0; s < copies.size(); ++s) {
    for (std::size_t n = copies[s].size(); n < parts_.nodes.size(); ++n) {
      Node node = parts_.nodes[n];
      node.name += fmt::format(".{}", s);
      copies[s].push_back(whole.add_node(std::move(node)));
    }
    const auto first = static_cast<std::uint32_t>(whole.links.size());
    for (Link link : parts_.links) {
      link.from = copies[s][link.from.value];
      link.to = copies[s][link.to.value];
      whole.add_link(link);
    }
    for (SharedGroup group : parts_.groups) {
      group.name += fmt::format(".{}", s);
      for (LinkId& link : group.links) link.value += first;
      whole.groups.push_back(std::move(group));
    }
  }
  add_rails(whole, copies, nics);
  number_coordinates(whole, {static_cast<int>(gpus_), static_cast<int>(file_.nodes)});
  return whole;
}

} // namespace tutti::topologies
