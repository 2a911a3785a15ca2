// TE-CCL's input in JSON (microsoft/TE-CCL c128bf2, teccl/input_data.py, teccl/topologies):
//
//   {"TopologyParams": {"name": "NDv2", "chassis": 2, "chunk_size": 0.0625, "alpha": [7e-7, 1e-6]},
//    "GurobiParams": {...}, "InstanceParams": {"switch_copy": true, ...}}
//
// A name stands for links in its code, in GB/s (10^9) divided by the chunk's GB, so that a chunk's
// size drops out; alpha is in seconds, of links between GPUs and of links to switches. Links come
// from Tutti's machines, which have them from there. Oddities of its code are kept, but not its
// slips by which GPUs count as switches; either is reported.
//
//   DGX1  one chassis, dgx1; alpha of the file
//   NDv2  two chassis are ndv2x2; otherwise GPU 0 of every chassis sends to one switch, which sends
//         to GPU 1 of every chassis, and that also where there is only one chassis
//   DGX2  always two chassis, dgx2x2
//   AMD   mi250x; from two chassis on a NIC for two GPUs and a switch, as in mi250x_x2; alpha of
//         the file
//   Mesh  side_length^2 GPUs, 100 GB/s from GPU i to i + 1 (also from the end of a row to the next
//         row) and to i + side_length, and back; alpha of the file
#include "sim/error.hpp"
#include "sim/files/tree_value.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/list.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::int64_t most_chassis = 4096, most_side = 1000;

struct TecclName {
  std::string_view name;
  std::int64_t chassis; ///< that its code builds whatever the file says; 0: as many as it says
  bool has_alpha;       ///< it is the file's, not its own
};
constexpr std::array teccl_names{TecclName{"AMD", 0, true}, TecclName{"DGX1", 1, true},
                                 TecclName{"DGX2", 2, false}, TecclName{"Mesh", 1, true},
                                 TecclName{"NDv2", 0, false}};

class TecclReader {
public:
  explicit TecclReader(const ForeignFile& file) : root_(parse_json(file.content, file.source)) {}

  TopologyParts read(Assumptions& assumed) {
    root_.allow_only({"TopologyParams", "GurobiParams", "InstanceParams"});
    const TreeValue params = root_.at("TopologyParams");
    params.allow_only({"name", "option", "chassis", "chunk_size", "alpha", "side_length"});
    const TecclName& kind = kind_of(params.find("name"), assumed);
    chassis_ = chassis_of(params.find("chassis"), kind, assumed);
    if (const auto size = params.find("chunk_size"); size && !(size->number(0, 1e9) > 0))
      throw size->error("a chunk of no bytes");
    read_alpha(params.find("alpha"), kind, assumed);
    const std::optional<TreeValue> side = params.find("side_length");
    const std::int64_t side_length = side ? side->integer(2, most_side) : 4;
    if (kind.name == "Mesh" && !side) assumed.add("side_length", "4, TE-CCL's default");
    switch_can_ = switches_of(assumed);

    if (kind.name == "DGX1") {
      parts_ = machine("dgx1");
      for (Link& link : parts_.links) link.latency = alpha_[0];
    } else if (kind.name == "DGX2") {
      parts_ = machine("dgx2x2");
    } else if (kind.name == "Mesh") {
      add_mesh(side_length);
      assumed.add("rows", "the end of each is joined to the beginning of the next, as in TE-CCL's "
                          "code");
    } else if (kind.name == "NDv2") {
      add_ndv2(assumed);
    } else {
      add_amd(assumed);
    }
    for (Node& node : parts_.nodes)
      if (node.kind == NodeKind::switching) node.can = switch_can_;
    parts_.note = kind.name == "Mesh"
                      ? fmt::format("TE-CCL's Mesh of {0}x{0} GPUs.", side_length)
                      : fmt::format("TE-CCL's {}, {} chassis.", kind.name, chassis_);
    return std::move(parts_);
  }

private:
  static const TecclName& kind_of(const std::optional<TreeValue>& given, Assumptions& assumed) {
    if (!given) assumed.add("name", "DGX1, TE-CCL's default");
    const std::string name = given ? given->string() : "DGX1";
    std::string known;
    for (const TecclName& row : teccl_names) {
      if (row.name == name) return row;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
    }
    throw given->error(fmt::format("unknown topology \"{}\" (known: {})", name, known));
  }

  static std::int64_t chassis_of(const std::optional<TreeValue>& given, const TecclName& kind,
                                 Assumptions& assumed) {
    const std::int64_t chassis = given              ? given->integer(1, most_chassis)
                                 : kind.chassis > 0 ? kind.chassis
                                                    : 1;
    if (kind.chassis > 0 && chassis != kind.chassis)
      throw given->error(fmt::format("{} is always {} chassis in TE-CCL, not {}", kind.name,
                                     kind.chassis, chassis));
    if (!given && kind.name != "Mesh")
      assumed.add("chassis",
                  fmt::format("{}, {}", chassis,
                              kind.chassis > 0 ? "as always in TE-CCL" : "TE-CCL's default"));
    return chassis;
  }

  void read_alpha(const std::optional<TreeValue>& given, const TecclName& kind,
                  Assumptions& assumed) {
    if (given) {
      const std::vector<TreeValue> values = given->list();
      if (values.size() != alpha_.size())
        throw given->error(fmt::format("{} values: one of links between GPUs and one of links to "
                                       "switches are expected",
                                       values.size()));
      for (std::size_t i = 0; i < alpha_.size(); ++i) alpha_[i] = seconds(values[i]);
    }
    if (!kind.has_alpha && given)
      assumed.add("alpha", fmt::format("that of {} in TE-CCL's code, which doesn't use the file's",
                                       kind.name));
    if (kind.has_alpha && !given) assumed.add("alpha", "0 s, TE-CCL's default");
  }
  static Time seconds(const TreeValue& value) {
    const double given = value.number(0, 1e6);
    const Time time{std::llround(given * 1e12)};
    if (time.ps == 0 && given > 0) throw value.error("less than a picosecond");
    return time;
  }

  /// InstanceParams.switch_copy: whether switches copy.
  [[nodiscard]] Abilities switches_of(Assumptions& assumed) const {
    const std::optional<TreeValue> params = root_.find("InstanceParams");
    if (params && !params->is_object()) throw params->error("expected an object");
    const std::optional<TreeValue> copies =
        params ? params->find("switch_copy") : std::optional<TreeValue>{};
    if (!copies) assumed.add("switches", "they copy, TE-CCL's default");
    return {false, copies ? copies->boolean() : true, false};
  }

  static TopologyParts machine(const std::string& name) { return make_topology(name).parts(); }
  static Link link_between(const TopologyParts& parts, std::uint32_t from, std::uint32_t to) {
    for (const Link& link : parts.links)
      if (link.from.value == from && link.to.value == to) return link;
    throw InputError(fmt::format("{} has no link from {} to {}", parts.name, from, to));
  }

  /// GPUs of all chassis, each with the links of `one`, which may have another latency.
  void repeat(const TopologyParts& one, std::optional<Time> latency) {
    const auto gpus = static_cast<std::int64_t>(one.nodes.size());
    require_npus(gpus * chassis_);
    parts_.npu_model = one.npu_model;
    parts_.link_parts = one.link_parts;
    for (std::int64_t n = 0; n < gpus * chassis_; ++n)
      parts_.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
    for (std::int64_t c = 0; c < chassis_; ++c)
      for (Link link : one.links) {
        link.from.value += static_cast<std::uint32_t>(gpus * c);
        link.to.value += static_cast<std::uint32_t>(gpus * c);
        link.latency = latency.value_or(link.latency);
        parts_.add_link(link);
      }
  }
  NodeId add_switch(std::string name) {
    return parts_.add_node({std::move(name), NodeKind::switching, switch_can_, {}});
  }

  void add_ndv2(Assumptions& assumed) {
    if (chassis_ == 2) {
      parts_ = machine("ndv2x2");
      assumed.add("GPU 0", "an NPU, which TE-CCL's code takes for a switch in two chassis");
      return;
    }
    repeat(machine("ndv2"), std::nullopt);
    const Link infiniband = link_between(machine("ndv2x2"), 0, 9);
    const NodeId hub = add_switch("infiniband");
    for (std::int64_t c = 0; c < chassis_; ++c) {
      const auto first = static_cast<std::uint32_t>(8 * c);
      parts_.add_link(between(NodeId{first}, hub, infiniband));
      parts_.add_link(between(hub, NodeId{first + 1}, infiniband));
    }
    if (chassis_ == 1)
      assumed.add("infiniband", "a way from GPU 0 to GPU 1 beside NVLink, as in TE-CCL's code");
  }

  void add_amd(Assumptions& assumed) {
    repeat(machine("mi250x"), alpha_[0]);
    if (chassis_ == 1) return;
    const TopologyParts two = machine("mi250x_x2");
    Link nic = link_between(two, 0, 32);
    nic.latency = alpha_[1];
    std::vector<NodeId> nics;
    for (std::int64_t i = 0; i < 8 * chassis_; ++i)
      nics.push_back(add_switch(fmt::format("nic{}", i)));
    const NodeId hub = add_switch("infiniband");
    for (std::uint32_t i = 0; i < nics.size(); ++i) {
      for (const std::uint32_t gpu : {2 * i, 2 * i + 1})
        parts_.add_duplex(between(NodeId{gpu}, nics[i], nic));
      parts_.add_duplex(between(nics[i], hub, nic));
    }
    assumed.add("NICs", "all alike, and joined by the switch; in TE-CCL's code the first of a "
                        "chassis has links of 50 GB/s, and their numbers are off by one");
  }

  void add_mesh(std::int64_t side) {
    const std::int64_t gpus = side * side;
    for (std::int64_t n = 0; n < gpus; ++n)
      parts_.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
    Link link;
    link.latency = alpha_[0];
    link.bandwidth = Bandwidth{100'000'000'000};
    for (std::uint32_t n = 0; n < parts_.nodes.size(); ++n)
      for (const std::int64_t to : {n + std::int64_t{1}, n + side})
        if (to < gpus)
          parts_.add_duplex(between(NodeId{n}, NodeId{static_cast<std::uint32_t>(to)}, link));
  }

  TreeValue root_;
  std::int64_t chassis_ = 1;
  std::array<Time, 2> alpha_; ///< of links between GPUs, of links to switches
  Abilities switch_can_;
  TopologyParts parts_;
};

} // namespace

bool is_teccl(std::string_view content) {
  return first_character(content) == '{' &&
         content.find("\"TopologyParams\"") != std::string_view::npos;
}

TopologyParts read_teccl(const ForeignFile& file, Assumptions& assumed) {
  return TecclReader(file).read(assumed);
}

} // namespace tutti::topologies
