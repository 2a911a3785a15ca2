// What NCCL writes of a node with NCCL_TOPO_DUMP_FILE, and RCCL alike:
//
//   <system version="1">
//     <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" ...>
//       <pci busid="0000:01:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
//         <pci busid="0000:07:00.0" ...>  <gpu dev="0" sm="80" rank="0" gdr="1">
//           <nvlink target="0000:c7:00.0" count="2" tclass="0x068000"/>  </gpu></pci>
//         <pci ...><nic><net name="mlx5_0" dev="0" speed="200000" latency="0.0" .../></nic></pci>
//
// A <pci> has the speed of its way up. Those with one thing below them are wires. Ports of one of
// Broadcom's switches that look like switches below it are that switch. `tclass` tells NVSwitches
// (0x068000), of which one stands here for all, from GPUs and from CPUs (0x068001). Links of GPUs
// that the file has not, as they weren't in the communicator, lead nowhere. `speed` is in Mbit/s,
// `latency` in us, `bw` of <c2c> in MB/s. NPUs are in the order of their ranks. A <net> of one
// number, GUID and port is one card. Several <gpu> of a <pci> are ranks on one GPU, with one PCIe;
// with `mlopart` they are partitions, each with its part of the NVLinks.
// Files for NCCL_TOPO_FILE, which clouds ship, have neither <gpu> nor <net>: NCCL asks the devices.
// What they are is told by their classes and numbers on PCIe, `npu=` and `gpus=`, or is assumed.
// Source: NCCL 2.30 and RCCL 2.21, graph/xml.cc, graph/topo.cc; numbers of devices: pci.ids.
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/lint/lint.hpp"
#include "topologies/ndv2_links.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr int deepest_server = 32;
constexpr std::size_t most_server_gpus = 4096, most_server_cpus = 512;
constexpr std::size_t most_server_elements = 1'000'000, largest_server = std::size_t{16} << 20;

/// What a dump says of a GPU's model.
struct GpuWords {
  std::string gcn;    ///< "gfx942", of AMD's; empty: of NVIDIA's
  int sm = 0;         ///< compute capability, of NVIDIA's
  std::string device; ///< PCIe device id, "0x74a5"
  bool is_arm = false, has_own_links = false;
};

/// Models by compute capability (NVIDIA: CUDA's table of GPUs) and by GCN architecture (AMD: LLVM's
/// AMDGPU usage), and by the device's number on PCIe, as several have the same. An unknown
/// one with links of its own has those of a similar one, which is assumed.
GpuKind kind_of_dumped(const GpuWords& gpu, Assumptions& assumed) {
  const std::string gcn = gpu.gcn.substr(0, gpu.gcn.find(':')); // "gfx90a:sramecc+:xnack-"
  std::string_view model, like;
  if (!gcn.empty()) {
    like = "mi355x";
    const std::string_view digits = std::string_view(gcn).substr(gcn.starts_with("gfx") ? 3 : 0);
    if (digits == "900" || digits == "906") model = "mi50";
    if (digits == "908") model = "mi100";
    if (digits == "910" || digits == "90a") model = "mi250x";
    if (digits.starts_with("10") || digits.starts_with("11") || digits.starts_with("12"))
      model = "radeon";
    if (digits.starts_with("94")) model = "mi300x";
    if (digits == "950") model = "mi355x";
  } else {
    const int sm = gpu.sm;
    like = sm < 70 ? "p100" : sm < 80 ? "v100" : sm < 90 ? "a100" : sm < 100 ? "h100" : "gb300";
    switch (sm) {
    case 60: model = "p100"; break;
    case 70: model = "v100"; break;
    case 75: model = "t4"; break;
    case 80: model = "a100"; break;
    case 86: model = "a6000"; break;
    case 89: model = "l40s"; break;
    case 90: model = "h100"; break;
    case 100: model = gpu.is_arm ? "gb200" : "b200"; break;
    case 103: model = gpu.is_arm ? "gb300" : "b300"; break;
    case 120: model = "rtx_pro_6000"; break;
    case 121: model = "gb10"; break;
    default: break;
    }
  }
  const GpuKind* kind = gpu_kind_of_device(gpu.device);
  if (kind == nullptr) kind = find_gpu_kind(model);
  if (kind != nullptr && (!gpu.has_own_links || kind->own_links > 0)) return *kind;
  if (!gpu.has_own_links) return unknown_gpu_kind();
  assumed.add("links of GPUs", fmt::format("as those of {}, as {} isn't known", like,
                                           gcn.empty() ? fmt::format("sm {}", gpu.sm) : gcn));
  GpuKind similar = *find_gpu_kind(like);
  similar.model = "";
  return similar;
}

/// Between two CPUs of this kind; words in lower case. `model`: Intel's.
Bandwidth rate_between_cpus(std::string_view arch, std::string_view vendor, double model,
                            Assumptions& assumed) {
  if (arch.starts_with("ppc")) return assumed.rate("between IBM's CPUs");
  if (arch.starts_with("a") && arch != "amd64") return assumed.rate("between Arm's CPUs");
  if (vendor.find("intel") == std::string_view::npos) return assumed.rate("between AMD's CPUs");
  return assumed.rate(model >= 207   ? "between Intel's CPUs from Emerald Rapids on"
                      : model >= 143 ? "between Intel's CPUs from Sapphire Rapids on"
                      : model >= 85  ? "between Intel's CPUs from Skylake on"
                                     : "between Intel's CPUs before Skylake");
}

class NcclReader {
public:
  NcclReader(const ForeignFile& file, Assumptions& assumed) : file_(file), assumed_(assumed) {
    if (file.content.size() > largest_server)
      throw InputError(fmt::format("{}: {} bytes are no server (at most 16 MiB)", file.source,
                                   file.content.size()));
    if (const std::size_t at = file.content.find("<!");
        at != std::string_view::npos && file.content.substr(at, 4) != "<!--")
      throw error_at(at, "a document type, which such a file doesn't have");
    const pugi::xml_parse_result parsed = document_.load_buffer(
        file.content.data(), file.content.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed)
      throw error_at(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, parsed.offset)),
                     fmt::format("the XML is broken, or breaks off: {}", parsed.description()));
  }

  TopologyParts read(std::string note) {
    const pugi::xml_node system = document_.child("system");
    if (!system) throw InputError(fmt::format("{}: no <system>", file_.source));
    check_depth(system);
    asked_ = asked_gpu_kind(file_);
    complete(system);
    for (const pugi::xml_node cpu : elements(system)) {
      if (!is(cpu, "cpu")) throw error(cpu, fmt::format("<{}>, where <cpu> is known", cpu.name()));
      if (holds_anything(cpu)) collect(cpu, cpu);
    }
    if (gpus_.size() > most_server_gpus)
      throw InputError(fmt::format("{}: {} GPUs are no server (at most {})", file_.source,
                                   gpus_.size(), most_server_gpus));
    if (gpus_.empty())
      throw InputError(
          fmt::format("{}: no <gpu>, and no <pci> of a GPU's class (0x0302)", file_.source));
    number_gpus();
    const GpuKind kind = kind_of_all();
    ServerBuilder server(file_, assumed_, static_cast<std::int64_t>(gpus_.size()), kind);
    add_cpus(server, system);
    add_own_links(server, kind);
    TopologyParts parts = std::move(server).cluster();
    parts.note = !note.empty() ? std::move(note)
                               : fmt::format("A server as {} saw it.", is_amd_ ? "RCCL" : "NCCL");
    parts.odd = odd_in(seen_);
    return parts;
  }

private:
  struct FoundGpu {
    pugi::xml_node at, pci, cpu;
    std::string bus;
    std::int64_t rank = -1;
    NodeId cpu_id;
  };
  static bool has_own_links(const FoundGpu& gpu) {
    return gpu.at.child("nvlink") || gpu.at.child("xgmi");
  }
  static bool says_model(const FoundGpu& gpu) {
    return !word(gpu.at, "gcn").empty() || !word(gpu.at, "sm").empty();
  }

  // Places, and what elements and attributes say.

  [[nodiscard]] InputError error_at(std::size_t offset, const std::string& message) const {
    return TextPlaces(file_.content, file_.source).error(offset, message);
  }
  /// What was completed in the element that it is in.
  static std::size_t offset_of(pugi::xml_node node) {
    while (node.offset_debug() < 0 && node.parent()) node = node.parent();
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, node.offset_debug())) - 1;
  }
  [[nodiscard]] InputError error(pugi::xml_node node, const std::string& message) const {
    return error_at(offset_of(node), message);
  }
  [[nodiscard]] std::string place(pugi::xml_node node) const {
    return TextPlaces(file_.content, file_.source).place(offset_of(node));
  }
  [[nodiscard]] SeenDoubt doubt(pugi::xml_node node, const char* name, std::string taken) const {
    const pugi::xml_attribute said = node.attribute(name);
    return {place(node),
            said ? fmt::format("{} \"{}\"", name, said.value()) : fmt::format("no {}", name),
            fmt::format("<{}> {}", node.name(),
                        node.attribute(is(node, "net") ? "name" : "busid").value()),
            std::move(taken)};
  }
  static bool is(pugi::xml_node node, std::string_view name) { return node.name() == name; }
  static std::vector<pugi::xml_node> elements(pugi::xml_node node) {
    std::vector<pugi::xml_node> found;
    for (const pugi::xml_node child : node.children())
      if (child.type() == pugi::node_element) found.push_back(child);
    return found;
  }
  static std::string word(pugi::xml_node node, const char* name) {
    return lower_case(trimmed(node.attribute(name).value()));
  }
  [[nodiscard]] double number(pugi::xml_node node, const char* name, double otherwise, double low,
                              double high) const {
    const std::string text = word(node, name);
    if (text.empty()) return otherwise;
    try {
      return parse_decimal(text, name, low, high);
    } catch (const InputError& e) {
      throw error(node, e.what());
    }
  }
  [[nodiscard]] int count(pugi::xml_node node) const {
    constexpr int most_links = 1024;
    const double links = number(node, "count", 1, 0, most_links);
    if (links != std::floor(links)) throw error(node, "count: expected a whole number");
    return static_cast<int>(links);
  }

  void check_depth(pugi::xml_node system) const {
    std::vector<std::pair<pugi::xml_node, int>> open{{system, 0}};
    std::size_t seen = 0;
    while (!open.empty()) {
      const auto [node, depth] = open.back();
      open.pop_back();
      if (depth > deepest_server)
        throw error(node, fmt::format("more than {} deep", deepest_server));
      if (++seen > most_server_elements)
        throw error(node, fmt::format("more than {} elements", most_server_elements));
      for (const pugi::xml_node child : elements(node)) open.emplace_back(child, depth + 1);
    }
  }

  // What files for NCCL_TOPO_FILE leave out.

  static void collect_devices(pugi::xml_node node, std::vector<pugi::xml_node>& found) {
    for (const pugi::xml_node child : elements(node)) {
      if (is(child, "pci") && elements(child).empty()) found.push_back(child);
      collect_devices(child, found);
    }
  }
  static bool is_gpu_class(pugi::xml_node pci) {
    const std::string kind = word(pci, "class"), vendor = word(pci, "vendor");
    const bool is_display =
        kind.starts_with("0x0300") || kind.starts_with("0x0380") || kind.starts_with("0x1200");
    return kind.starts_with("0x0302") || (is_display && (vendor == "0x10de" || vendor == "0x1002"));
  }
  /// Devices of classes that NCCL takes for GPUs and cards get a <gpu> or a <net>. Where none has a
  /// class, the first ones are GPUs: as many as `gpus=` says, or the largest power of two.
  void complete(pugi::xml_node system) {
    if (system.find_node([](pugi::xml_node node) { return is(node, "gpu"); })) return;
    std::vector<pugi::xml_node> devices, gpus, cards, unnamed;
    collect_devices(system, devices);
    for (const pugi::xml_node pci : devices) {
      const std::string kind = word(pci, "class");
      if (is_gpu_class(pci)) gpus.push_back(pci);
      if (kind.starts_with("0x0200") || kind.starts_with("0x0207")) cards.push_back(pci);
      if (kind.empty()) unnamed.push_back(pci);
    }
    const auto is_for_hosts = [](pugi::xml_node card) { // Intel's and Broadcom's Ethernet
      return word(card, "vendor") == "0x8086" || word(card, "vendor") == "0x14e4";
    };
    if (!std::ranges::all_of(cards, is_for_hosts)) std::erase_if(cards, is_for_hosts);
    const auto said = file_.options.find("gpus");
    if (gpus.empty() && !unnamed.empty()) {
      const std::size_t count = std::bit_floor(unnamed.size());
      gpus.assign(unnamed.begin(), unnamed.end());
      if (said == file_.options.end()) gpus.resize(count);
      assumed_.add("devices without a class",
                   fmt::format("GPUs, but for the last {}, which are network cards (gpus={} says "
                               "how many are GPUs)",
                               unnamed.size() - count, count));
    }
    if (said != file_.options.end())
      gpus.resize(static_cast<std::size_t>(
          parse_integer(said->second, "gpus", 1,
                        static_cast<std::int64_t>(std::max<std::size_t>(1, gpus.size())))));
    if (gpus.empty()) return;
    if (cards.empty() && !unnamed.empty())
      cards.assign(unnamed.begin() + static_cast<std::ptrdiff_t>(gpus.size()), unnamed.end());
    const GpuKind kind = assumed_kind(gpus);
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      pugi::xml_node gpu = gpus[g].append_child("gpu");
      gpu.append_attribute("dev") = static_cast<unsigned>(g);
    }
    asked_ = kind;
    add_usual_links(gpus, kind);
    for (std::size_t n = 0; n < cards.size(); ++n) {
      const bool is_efa = word(cards[n], "vendor") == "0x1d0f";
      const Bandwidth rate = assumed_.rate(is_efa ? "EFA" : kind.nic);
      pugi::xml_node net = cards[n].append_child("nic").append_child("net");
      net.append_attribute("name") = fmt::format("nic{}", n).c_str();
      net.append_attribute("dev") = static_cast<unsigned>(n);
      net.append_attribute("speed") = static_cast<unsigned>(rate.bytes_per_second / 125'000);
    }
  }
  /// By `npu=`, the device's number, or the generation of its PCIe.
  [[nodiscard]] GpuKind assumed_kind(const std::vector<pugi::xml_node>& gpus) {
    if (asked_) return *asked_;
    const std::string device = word(gpus.front(), "device"),
                      speed = word(gpus.front(), "link_speed");
    if (const GpuKind* known = gpu_kind_of_device(device)) return *known;
    // Intel's CPUs have the fourth generation from Ice Lake on: what a virtual machine says of
    // older ones isn't so.
    constexpr double ice_lake = 106;
    pugi::xml_node cpu = gpus.front();
    while (!is(cpu, "cpu") && cpu.parent()) cpu = cpu.parent();
    const bool is_old = word(cpu, "vendor") == "genuineintel" && word(cpu, "familyid") == "6" &&
                        number(cpu, "modelid", ice_lake, 0, 1e6) < ice_lake;
    const std::string_view model = speed.starts_with("8") || (is_old && !speed.empty()) ? "v100"
                                   : speed.starts_with("16")                            ? "a100"
                                   : speed.starts_with("32")                            ? "h100"
                                   : speed.starts_with("64")                            ? "b300"
                                                                                        : "";
    const GpuKind* kind = find_gpu_kind(model);
    assumed_.add("GPUs", kind != nullptr
                             ? fmt::format("{}, by their PCIe (npu=... says another)", model)
                             : "unknown ones, without links of their own (npu=a10g: A10G)");
    return kind != nullptr ? *kind : unknown_gpu_kind();
  }
  /// As servers of such GPUs are sold: NVSwitches, the mesh of DGX-1, Infinity Fabric.
  void add_usual_links(const std::vector<pugi::xml_node>& gpus, const GpuKind& kind) {
    constexpr int least_switched = 6, dgx1 = 8;
    const auto add = [&](std::size_t from, std::size_t to, int count) {
      pugi::xml_node link = gpus[from].child("gpu").append_child("nvlink");
      link.append_attribute("target") = to < gpus.size() ? gpus[to].attribute("busid").value() : "";
      link.append_attribute("count") = count;
      link.append_attribute("tclass") = to < gpus.size() ? "0x030200" : "0x068000";
    };
    std::string words = "none";
    if (kind.model == "v100" && gpus.size() == dgx1) {
      words = "as in a DGX-1";
      const auto both = [&](const auto& pairs, int count) {
        for (const auto& [a, b] : pairs) {
          add(static_cast<std::size_t>(a), static_cast<std::size_t>(b), count);
          add(static_cast<std::size_t>(b), static_cast<std::size_t>(a), count);
        }
      };
      both(double_nvlinks, 2);
      both(single_nvlinks, 1);
    } else if (kind.link_part.starts_with("nvlink") && kind.own_links >= least_switched) {
      words = fmt::format("{} of each to NVSwitches", kind.own_links);
      for (std::size_t g = 0; g < gpus.size(); ++g) add(g, gpus.size(), kind.own_links);
    } else if (kind.link_part.starts_with("xgmi") &&
               static_cast<std::size_t>(kind.own_links) + 1 >= gpus.size()) {
      words = "one from each to each other";
      for (std::size_t a = 0; a < gpus.size(); ++a)
        for (std::size_t b = 0; b < gpus.size(); ++b)
          if (a != b) add(a, b, 1);
    }
    assumed_.add("links of GPUs", fmt::format("{}, as the file doesn't say", words));
  }

  /// Whether a GPU or a card is below.
  static bool holds_anything(pugi::xml_node node) {
    if (is(node, "gpu") || is(node, "net")) return true;
    return std::ranges::any_of(elements(node), [](pugi::xml_node c) { return holds_anything(c); });
  }

  void collect(pugi::xml_node node, pugi::xml_node cpu) {
    for (const pugi::xml_node child : elements(node)) {
      if (is(child, "pci")) {
        collect(child, cpu);
      } else if (is(child, "gpu")) {
        if (!is(node, "pci")) throw error(child, "a <gpu> is in a <pci>, whose busid names it");
        const std::string bus = word(node, "busid");
        if (bus.empty()) throw error(node, "a <pci> with a <gpu> needs a busid");
        gpus_.push_back({child, node, cpu, bus, -1, {}});
      } else if (!is(child, "nic") && !is(child, "pcilink")) {
        assumed_.add("left out", fmt::format("<{}> in <{}>", child.name(), node.name()));
      }
    }
  }

  /// By rank; where they have none, by device.
  void number_gpus() {
    const bool has_ranks = std::ranges::all_of(
        gpus_, [&](const FoundGpu& gpu) { return number(gpu.at, "rank", -1, -1, INT32_MAX) >= 0; });
    std::set<std::int64_t> ranks;
    for (FoundGpu& gpu : gpus_) {
      gpu.rank =
          static_cast<std::int64_t>(number(gpu.at, has_ranks ? "rank" : "dev", 0, 0, INT32_MAX));
      if (has_ranks && !ranks.insert(gpu.rank).second)
        throw error(gpu.at, fmt::format("a second GPU of rank {}", gpu.rank));
    }
    if (!has_ranks) assumed_.add("ranks", "in the order of GPUs' numbers (dev)");
    std::ranges::stable_sort(gpus_, {}, &FoundGpu::rank);
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      const FoundGpu& gpu = gpus_[g];
      const std::string host = word(gpu.cpu, "host_hash"), gcn = word(gpu.at, "gcn");
      std::vector<std::size_t>& on_bus = by_bus_[{host, gpu.bus}];
      on_bus.push_back(g); // NCCL looks devices up by bus (graph/topo.cc, ncclTopoGetNode)
      if (const pugi::xml_node first = gpus_[on_bus.front()].pci; first != gpu.pci)
        throw error(gpu.pci, fmt::format("a second <pci> of bus {} with a GPU, as at {}: a bus is "
                                         "of one device",
                                         gpu.bus, place(first)));
      is_amd_ = is_amd_ || !gcn.empty();
      SeenGpu& seen = seen_.gpus.emplace_back();
      seen.place = place(gpu.at);
      seen.name = fmt::format("GPU {} (dev {}, {}busid {})", g, word(gpu.at, "dev"),
                              has_ranks ? fmt::format("rank {}, ", gpu.rank) : "", gpu.bus);
      if (says_model(gpu)) seen.model = gcn.empty() ? "sm " + word(gpu.at, "sm") : gcn;
      seen.device = host + " " + gpu.bus;
    }
    if (is_amd_) seen_.link = "xGMI link";
  }
  /// Those at the same bus, with it.
  [[nodiscard]] const std::vector<std::size_t>& ranks_on(std::size_t g) const {
    return by_bus_.at({word(gpus_[g].cpu, "host_hash"), gpus_[g].bus});
  }
  /// Into how many a GPU is split (MLOPart: graph/topo.cc, ncclTopoAddNvLinks).
  [[nodiscard]] int parts_of(std::size_t g) const {
    return word(gpus_[g].at, "mlopart").empty() ? 1 : static_cast<int>(ranks_on(g).size());
  }

  /// Kind of a GPU that says it, if there is one with links of its own.
  [[nodiscard]] GpuKind kind_of_all() {
    if (asked_) return *asked_;
    const bool is_linked = std::ranges::any_of(gpus_, has_own_links);
    const FoundGpu& told = *std::ranges::max_element(gpus_, {}, [](const FoundGpu& gpu) {
      return std::pair(says_model(gpu), has_own_links(gpu));
    });
    if (is_linked && !says_model(told))
      throw error(told.at, "no GPU has an sm (or gcn), which says what its links carry");
    const GpuKind kind = kind_of(told, is_linked);
    for (const FoundGpu& gpu : gpus_) {
      if (!says_model(gpu)) continue;
      const GpuKind other = kind_of(gpu, has_own_links(gpu));
      if (other.model != kind.model || (has_own_links(gpu) && other.own_link != kind.own_link))
        assumed_.add("GPUs", fmt::format("all are {}, though the file has others",
                                         kind.model.empty() ? "unknown ones" : kind.model));
    }
    return kind;
  }
  [[nodiscard]] GpuKind kind_of(const FoundGpu& gpu, bool is_linked) {
    const std::string gcn = word(gpu.at, "gcn");
    const double sm = gcn.empty() ? number(gpu.at, "sm", 0, 0, 10'000) : 0;
    if (sm != std::floor(sm)) throw error(gpu.at, "sm: expected a whole number");
    const std::string arch = word(gpu.cpu, "arch");
    const bool is_arm = arch.starts_with("a") && arch != "amd64"; // arm64, aarch64
    return kind_of_dumped({gcn, static_cast<int>(sm), word(gpu.pci, "device"), is_arm, is_linked},
                          assumed_);
  }

  // The tree of PCIe.

  /// As NCCL counts (graph/topo.cc, ncclTopoAddPci): width 0 is 16 lanes, no speed the third
  /// generation. Virtual machines report both, and widths that no link has.
  [[nodiscard]] Bandwidth rate_of(pugi::xml_node pci) {
    if (const double rate = number(pci, "bandwidth", 0, 0, 1e4); rate > 0) // hwloc's
      return Bandwidth{std::llround(rate * 1e9)};
    const std::string text = word(pci, "link_speed");
    auto lanes = static_cast<int>(number(pci, "link_width", 0, 0, 256));
    const std::string_view speed = std::string_view(text).substr(0, text.find_first_of(" g"));
    constexpr std::array<std::string_view, 11> speeds{"2.5", "5.0",  "5",  "8.0",  "8", "16.0",
                                                      "16",  "32.0", "32", "64.0", "64"};
    constexpr std::array<int, 11> generations{1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
    const bool is_said = !speed.empty() && speed != "unknown";
    constexpr std::array widths{1, 2, 4, 8, 12, 16, 32};
    if (std::ranges::find(widths, lanes) == widths.end()) {
      assumed_.add("PCIe without a width", "16 lanes, as NCCL takes it");
      if (lanes > 0 || is_said) seen_.doubts.push_back(doubt(pci, "link_width", "16 lanes"));
      lanes = 16;
    }
    if (!is_said) {
      assumed_.add("PCIe without a speed", "third generation, as NCCL takes it");
      return pcie_rate(3, lanes);
    }
    const auto known = std::ranges::find(speeds, speed);
    if (known == speeds.end())
      throw error(pci, fmt::format("link_speed \"{}\" is none of PCIe (known: 2.5, 5, 8, 16, 32, "
                                   "64 GT/s)",
                                   text));
    return pcie_rate(generations[static_cast<std::size_t>(known - speeds.begin())], lanes);
  }

  /// Whether `pci` is but a port of the switch that `above` is.
  static bool is_same_switch(pugi::xml_node above, pugi::xml_node pci) {
    if (!is(above, "pci") || word(pci, "vendor") != "0x1000" || word(pci, "class") != "0x060400")
      return false;
    return std::ranges::all_of(
        std::array{"vendor", "device", "subsystem_vendor", "subsystem_device"},
        [&](const char* key) { return word(above, key) == word(pci, key); });
  }
  /// What is directly below: GPUs, cards, and <pci> of which there is more to say.
  static void things_below(pugi::xml_node node, std::vector<pugi::xml_node>& found) {
    for (const pugi::xml_node child : elements(node)) {
      if (is(child, "pci") && is_same_switch(node, child))
        things_below(child, found);
      else if (holds_anything(child))
        found.push_back(child);
    }
  }

  /// `rate`: of the link up to `above`; `way`: the narrowest from there to the CPU.
  void add_below(ServerBuilder& server, pugi::xml_node node, NodeId above, Bandwidth rate,
                 Bandwidth way) {
    if (is(node, "gpu")) {
      const auto at = std::ranges::find(gpus_, node, &FoundGpu::at);
      server.add_pcie(above, ServerBuilder::gpu(at - gpus_.begin()), rate);
      seen_.gpus[static_cast<std::size_t>(at - gpus_.begin())].pcie = std::min(rate, way);
    } else if (is(node, "nic")) {
      add_card(server, node, above, rate);
    } else if (is(node, "pci")) {
      const Bandwidth own = std::min(rate, rate_of(node));
      std::vector<pugi::xml_node> below;
      things_below(node, below);
      // The device itself, or what is behind a bridge of one thing.
      if (below.size() == 1) return add_below(server, below.front(), above, own, way);
      if (std::ranges::all_of(below, [](pugi::xml_node c) { return is(c, "gpu"); })) {
        const std::size_t first = server.link_count(); // ranks on one GPU have one link of PCIe
        for (const pugi::xml_node rank : below) add_below(server, rank, above, own, way);
        const auto at = std::ranges::find(gpus_, below.front(), &FoundGpu::at);
        const auto& ranks = ranks_on(static_cast<std::size_t>(at - gpus_.begin()));
        return server.share("PCIe of " + at->bus, ranks, first);
      }
      const NodeId hub = server.add_pcie_switch();
      server.add_pcie(above, hub, own);
      const bool is_device = !is(below.front(), "pci"); // of several functions
      for (const pugi::xml_node child : below)
        add_below(server, child, hub, is_device ? own : unlimited, std::min(own, way));
    }
  }

  void add_card(ServerBuilder& server, pugi::xml_node nic, NodeId above, Bandwidth rate) {
    std::vector<NicPort> ports;
    std::string name;
    for (const pugi::xml_node net : elements(nic)) {
      if (!is(net, "net") || is_listed(net)) continue;
      const double megabits = std::trunc(number(net, "speed", 0, -1, 1e12)); // as NCCL reads it
      const Time latency{std::llround(number(net, "latency", 0, 0, 1e6) * 1e6)};
      if (megabits <= 0) seen_.doubts.push_back(doubt(net, "speed", "10 Gb/s"));
      ports.push_back({megabits > 0 ? Bandwidth{std::llround(megabits * 125'000)}
                                    : assumed_.rate("network card without a speed"),
                       latency});
      if (name.empty()) name = net.attribute("name").value();
      if (word(net, "gdr") == "0")
        assumed_.add("cards with gdr=\"0\"", "GPUs reach them directly, which NCCL doesn't do");
    }
    if (ports.empty() && nic.child("net")) return;             // each of them is listed elsewhere
    if (rate.bytes_per_second == unlimited.bytes_per_second) { // a card of the CPU itself
      assumed_.add("PCIe without a speed", "third generation, as NCCL takes it");
      rate = pcie_rate(3, 16);
    }
    server.add_nic(name, std::move(ports), above, rate);
  }
  /// Whether it stands in the file before, below another CPU: NCCL tells cards of a host apart by
  /// number, GUID and port (graph/topo.cc, ncclTopoAddNet; graph/search.cc, ncclTopoSearchRecNet).
  bool is_listed(pugi::xml_node net) {
    const std::string dev = word(net, "dev"), &host = seen_.hosts.back();
    const auto [card, is_new] = cards_.try_emplace(
        {host, dev, word(net, "guid"), word(net, "port"), dev.empty() ? place(net) : ""},
        place(net));
    seen_.cards.push_back({place(net),
                           fmt::format("card {} (dev {})", net.attribute("name").value(), dev),
                           seen_.hosts.size() - 1, is_new ? "" : card->second});
    return !is_new;
  }

  void add_cpus(ServerBuilder& server, pugi::xml_node system) {
    std::vector<pugi::xml_node> cpus = elements(system);
    std::erase_if(cpus, [](pugi::xml_node cpu) { return !holds_anything(cpu); });
    if (cpus.size() > most_server_cpus)
      throw error(cpus[most_server_cpus], fmt::format("more than {} CPUs", most_server_cpus));
    std::set<std::string> numbers, hosts;
    for (const pugi::xml_node cpu : cpus) {
      numbers.insert(word(cpu, "numaid"));
      hosts.insert(word(cpu, "host_hash"));
    }
    // Numbers of NUMA nodes where they tell CPUs apart.
    const bool has_nodes = numbers.size() == cpus.size() && !numbers.contains("") &&
                           std::ranges::all_of(cpus, [&](pugi::xml_node cpu) {
                             const double id = number(cpu, "numaid", -1, -1, 1e6);
                             return id >= 0 && id == std::floor(id);
                           });
    if (const std::size_t count = hosts.size(); count > 1)
      assumed_.add("hosts",
                   fmt::format("{} of them, with no cables but NVLink between them", count));
    std::vector<NodeId> ids;
    for (const pugi::xml_node cpu : cpus) {
      ids.push_back(server.add_cpu(has_nodes
                                       ? static_cast<std::int64_t>(number(cpu, "numaid", 0, 0, 1e6))
                                       : static_cast<std::int64_t>(ids.size())));
      seen_.hosts.push_back(word(cpu, "host_hash"));
      std::vector<pugi::xml_node> below;
      things_below(cpu, below);
      for (const pugi::xml_node child : below)
        add_below(server, child, ids.back(), unlimited, unlimited);
    }
    for (std::size_t a = 0; a < cpus.size(); ++a) {
      for (std::size_t g = 0; g < gpus_.size(); ++g)
        if (gpus_[g].cpu == cpus[a]) {
          gpus_[g].cpu_id = ids[a];
          seen_.gpus[g].cpu = a;
          if (ranks_on(g).front() != g) continue;
          const std::size_t first = server.link_count();
          for (const std::size_t rank : ranks_on(g))
            add_package_links(server, gpus_[rank], rank, ids[a]);
          server.share("C2C of " + gpus_[g].bus, ranks_on(g), first);
        }
      for (std::size_t b = a + 1; b < cpus.size(); ++b)
        if (word(cpus[a], "host_hash") == word(cpus[b], "host_hash"))
          server.add_bus(ids[a], ids[b], between_cpus(cpus[a]));
    }
  }
  void add_package_links(ServerBuilder& server, const FoundGpu& gpu, std::size_t g, NodeId cpu) {
    for (const pugi::xml_node c2c : gpu.at.children("c2c")) {
      const double megabytes = number(c2c, "bw", 0, 1, 1e7) * count(c2c);
      if (megabytes > 0)
        server.add_bus(ServerBuilder::gpu(static_cast<std::int64_t>(g)), cpu,
                       Bandwidth{std::llround(megabytes * 1e6)});
    }
  }
  [[nodiscard]] Bandwidth between_cpus(pugi::xml_node cpu) {
    return rate_between_cpus(word(cpu, "arch"), word(cpu, "vendor"),
                             number(cpu, "modelid", 0, 0, 1e6), assumed_);
  }

  // GPUs' own links.

  void add_own_links(ServerBuilder& server, const GpuKind& kind) {
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      const std::vector<std::size_t>& ranks = ranks_on(g);
      const std::size_t first = server.link_count();
      if (ranks.front() != g) continue;
      for (const std::size_t rank : ranks) add_links_of(server, rank);
      if (parts_of(g) == 1) server.share(seen_.link + "s of " + gpus_[g].bus, ranks, first);
      for (const std::size_t a : ranks)
        for (const std::size_t b : ranks)
          if (a != b && !gpus_[a].at.attribute("mig"))
            server.add_inner_link(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b),
                                  parts_of(g) == 1 ? "between two ranks on a GPU"
                                                   : "between two partitions of a GPU");
    }
    const auto most = std::ranges::max_element(seen_.gpus, {}, &SeenGpu::links);
    if (!kind.model.empty() && most->links > kind.own_links)
      assumed_.add("links of GPUs", fmt::format("as many as the file has, {} of one, though {} is "
                                                "sold with {}",
                                                most->links, kind.model, kind.own_links));
    for (std::size_t g = 0; g < gpus_.size(); ++g)
      for (const auto& [peer, links] : seen_.gpus[g].to)
        if (!seen_.gpus[peer].to.contains(g))
          assumed_.add("links that only one of two GPUs lists", "they lead one way");
  }

  void add_links_of(ServerBuilder& server, std::size_t g) {
    const auto self = static_cast<std::int64_t>(g);
    SeenGpu& seen = seen_.gpus[g];
    int switched = 0;
    for (const pugi::xml_node link : elements(gpus_[g].at)) {
      if (!is(link, "nvlink") && !is(link, "xgmi")) continue;
      const std::string target = word(link, "target"), tclass = word(link, "tclass");
      const auto peers = by_bus_.find({word(gpus_[g].cpu, "host_hash"), target});
      bool leads_on = true; // to a GPU that isn't in the communicator, too
      if (tclass == "0x068000") {
        switched += count(link);
      } else if (tclass == "0x068001") { // a CPU of IBM's
        server.add_links_to_cpu(self, gpus_[g].cpu_id, count(link));
      } else if (peers == by_bus_.end()) {
        assumed_.add("links to what isn't in the file", "they lead nowhere");
        leads_on = tclass.starts_with("0x03") || tclass.starts_with("0x12"); // kvDictPciClass
      } else if (target == gpus_[g].bus) {
        assumed_.add("links of GPUs to themselves", "they lead nowhere, as in NCCL");
      } else if (count(link) > 0) {
        for (const std::size_t peer : peers->second) seen.to[peer] += count(link);
      }
      if (leads_on) seen.links += count(link);
    }
    for (const auto& [peer, links] : seen.to)
      server.add_own_links(self, static_cast<std::int64_t>(peer), links,
                           parts_of(g) * static_cast<int>(ranks_on(peer).size()));
    if (switched > 0) server.add_switched_links(self, switched, parts_of(g));
  }

  static constexpr Bandwidth unlimited{INT64_MAX};

  const ForeignFile& file_;
  Assumptions& assumed_;
  std::optional<GpuKind> asked_; // what all GPUs are, whatever the file says
  pugi::xml_document document_;
  std::vector<FoundGpu> gpus_;                                                     // by NPU
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> by_bus_; // and host
  std::map<std::array<std::string, 5>, std::string> cards_; // places, by what they are known by
  SeenServer seen_;
  bool is_amd_ = false;
};

} // namespace

bool is_nccl(std::string_view content) {
  const std::string_view head = content.substr(0, std::size_t{1} << 16);
  return head.find("<system") != std::string_view::npos &&
         (head.find("<cpu") != std::string_view::npos ||
          head.find("<gpu") != std::string_view::npos ||
          head.find("</system") != std::string_view::npos);
}

TopologyParts read_nccl(const ForeignFile& file, Assumptions& assumed) {
  return NcclReader(file, assumed).read("");
}

TopologyParts read_as_nccl(ForeignFile file, std::string_view xml, Assumptions& assumed,
                           std::string note) {
  file.content = xml;
  return NcclReader(file, assumed).read(std::move(note));
}

} // namespace tutti::topologies
