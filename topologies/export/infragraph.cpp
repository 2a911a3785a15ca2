// A network as InfraGraph's YAML (Keysight/infragraph, schema 2.4): one instance of one device,
// whose components are the nodes, and in which each distinct bandwidth and latency is a link.
//
// Components are counted: "npu" has a count, and not each its name. So names that are counted
// throughout ("server0.nic1": a number at the end of each part, from 0 on, every server alike)
// become counted components, with devices within devices for the parts, and come back as they are.
// Where one isn't, each node is a component of its own, whose description is its name.
#include "sim/error.hpp"
#include "topologies/export/comments.hpp"
#include "topologies/export/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// A part of a name: "nic", 1.
struct CountedName {
  std::string base;
  std::uint32_t index = 0;
};

/// "server0.nic1"; nothing where a part has no number at its end, or what InfraGraph's names can't
/// have.
std::optional<std::vector<CountedName>> counted_names(std::string_view name) {
  constexpr std::size_t most_parts = 8, longest = 128;
  std::vector<CountedName> parts;
  while (true) {
    std::string_view part = name.substr(0, name.find('.'));
    const bool is_last = part.size() == name.size();
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    if (!std::ranges::all_of(
            part, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; }))
      return {};
    const std::size_t last = part.find_last_not_of("0123456789");
    if (last == std::string_view::npos || last + 1 == part.size()) return {};
    const std::string_view number = part.substr(last + 1);
    if (number.size() > 7 || (number.size() > 1 && number.front() == '0')) return {};
    CountedName counted{std::string(part.substr(0, last + 1)), 0};
    std::from_chars(number.data(), number.data() + number.size(), counted.index);
    // "cx5-0": a name that ends with a digit itself, as the reader has it.
    if (counted.base.size() > 1 && counted.base.back() == '-' &&
        std::isdigit(static_cast<unsigned char>(counted.base[counted.base.size() - 2])) != 0)
      counted.base.pop_back();
    if (counted.base.size() > longest) return {};
    parts.push_back(std::move(counted));
    if (parts.size() > most_parts) return {};
    if (is_last) return parts;
  }
}

/// "memory nodes" and so on: what the kind of a component doesn't tell.
std::string_view infragraph_choice(const Node& node) {
  const bool is_npu = node.kind == NodeKind::npu;
  const Abilities known = is_npu ? Abilities{} : Abilities{false, false, false};
  if (node.kind == NodeKind::memory || !(node.can == known) ||
      node.reduce_rate.bytes_per_second > 0)
    throw InputError(fmt::format("node \"{}\": InfraGraph can't tell {} (it has NPUs that do all, "
                                 "and switches that forward)",
                                 node.name,
                                 node.kind == NodeKind::memory ? "what a memory does"
                                 : node.can == known           ? "the rate of reductions"
                                                               : "what a node can do"));
  return is_npu ? "xpu" : "switch";
}

/// A device in the making: components by name, in order; each index one subtree.
struct CountedDevice {
  struct Component {
    std::string base;
    std::string_view choice;          ///< of nodes
    std::vector<CountedDevice> parts; ///< by index; of nodes: empty ones
  };
  std::vector<Component> components;
  std::unordered_map<std::string, std::size_t> component_of;
  bool is_node = false;

  /// False: a name is counted twice, with a gap, or both a node and a device.
  bool add(const std::vector<CountedName>& name, std::size_t at, std::string_view choice) {
    const CountedName& part = name[at];
    const bool is_last = at + 1 == name.size();
    const auto [found, is_new] = component_of.emplace(part.base, components.size());
    if (is_new) components.push_back({part.base, is_last ? choice : "device", {}});
    Component& component = components[found->second];
    if (component.choice != (is_last ? choice : "device")) return false;
    // In the order of their numbers: a gap would need a count of what isn't there.
    if (part.index > component.parts.size()) return false;
    if (part.index == component.parts.size())
      component.parts.emplace_back();
    else if (is_last)
      return false;
    component.parts[part.index].is_node = is_last;
    return is_last || component.parts[part.index].add(name, at + 1, choice);
  }
  /// The same for devices alike.
  [[nodiscard]] std::string content() const {
    std::string text;
    for (const Component& component : components)
      text += fmt::format("{} {} {}\n", component.base, component.choice, component.parts.size());
    return text;
  }
};

class InfragraphWriter {
public:
  explicit InfragraphWriter(const Topology& topology) : topology_(topology) {}

  std::string text() {
    for (const SharedGroup& group : topology_.groups())
      throw InputError(
          fmt::format("group \"{}\": InfraGraph has no bandwidth that links share", group.name));
    for (const Node& node : topology_.nodes()) (void)infragraph_choice(node);
    if (!by_counted_names()) by_own_names();
    find_edges();
    std::string text;
    for (const auto& lines : {assumed_lines(topology_), left_out()})
      for (const std::string& line : lines) text += fmt::format("# {}\n", line);
    text += fmt::format("name: \"{}\"\n", infragraph_name(topology_.name(), "network"));
    text += fmt::format("devices:\n- name: \"{}\"\n{}", root_, components_of_root_);
    text += links_;
    text += edges_.empty() ? "  edges: []\n" : "  edges:\n" + edges_;
    text += devices_;
    text += fmt::format("instances:\n- {{name: \"{}\", device: \"{}\", count: 1}}\n", root_, root_);
    return text;
  }

private:
  [[nodiscard]] static std::string quoted(const std::string& text) {
    std::string escaped;
    for (const char c : plain_line(text)) {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
    return "\"" + escaped + "\"";
  }
  [[nodiscard]] static std::string infragraph_name(const std::string& name,
                                                   std::string_view otherwise) {
    constexpr std::size_t longest = 100;
    std::string text = name.substr(0, longest);
    for (char& c : text)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') c = '_';
    return text.empty() ? std::string(otherwise) : text;
  }

  bool by_counted_names() {
    CountedDevice whole;
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) {
      const Node& node = topology_.node(NodeId{n});
      const auto name = counted_names(node.name);
      if (!name || !whole.add(*name, 0, infragraph_choice(node))) return false;
      std::string device;
      for (std::size_t i = 0; i + 1 < name->size(); ++i)
        device += fmt::format("{}{}[{}]", i == 0 ? "" : ".", (*name)[i].base, (*name)[i].index);
      const std::string component =
          fmt::format("component: \"{}[{}]\"", name->back().base, name->back().index);
      ends_.push_back(device.empty() ? fmt::format("{{{}}}", component)
                                     : fmt::format("{{device: \"{}\", {}}}", device, component));
    }
    std::map<std::string, std::string> contents; // of devices, by their names
    if (!find_devices(whole, contents)) return ends_.clear(), false;
    while (contents.contains(root_)) root_ += "_";
    components_of_root_ = components(whole);
    return true;
  }
  /// False: two devices of a name aren't alike.
  bool find_devices(const CountedDevice& device, std::map<std::string, std::string>& contents) {
    for (const CountedDevice::Component& component : device.components) {
      if (component.choice != "device") continue;
      for (const CountedDevice& part : component.parts) {
        const std::string content = part.content();
        const auto [found, is_new] = contents.emplace(component.base, content);
        if (!is_new && found->second != content) return false;
        if (is_new)
          devices_ += fmt::format("- name: \"{}\"\n{}  links: []\n  edges: []\n", component.base,
                                  components(part));
        if (!find_devices(part, contents)) return false;
      }
    }
    return true;
  }
  [[nodiscard]] static std::string components(const CountedDevice& device) {
    std::string text = "  components:\n";
    for (const CountedDevice::Component& component : device.components)
      text += fmt::format("  - {{name: \"{}\", choice: {}, count: {}}}\n", component.base,
                          component.choice, component.parts.size());
    return text;
  }

  void by_own_names() {
    devices_.clear();
    ends_.clear();
    std::unordered_set<std::string> names{root_};
    components_of_root_ = "  components:\n";
    for (const Node& node : topology_.nodes()) {
      const std::string plain_name = infragraph_name(node.name, "node");
      std::string name = plain_name;
      for (int copy = 2; !names.insert(name).second; ++copy)
        name = fmt::format("{}_{}", plain_name, copy);
      components_of_root_ +=
          fmt::format("  - {{name: \"{}\", description: {}, choice: {}, count: 1}}\n", name,
                      quoted(node.name), infragraph_choice(node));
      ends_.push_back(fmt::format("{{component: \"{}[0]\"}}", name));
    }
  }

  /// The shortest of the schema's units; all are exact in decimals.
  [[nodiscard]] static std::string decimal(std::int64_t value, std::int64_t unit) {
    std::string text = std::to_string(value / unit);
    std::string rest = std::to_string(unit + value % unit).substr(1);
    rest.erase(rest.find_last_not_of('0') + 1);
    return rest.empty() ? text : text + "." + rest;
  }
  [[nodiscard]] static std::string physical(const Link& link) {
    const std::string bytes = decimal(link.bandwidth.bytes_per_second, 1'000'000'000);
    const std::string bits = decimal(link.bandwidth.bytes_per_second * 8, 1'000'000'000);
    const bool has_bits = bits.size() < bytes.size();
    const std::string_view rate = has_bits ? "gigabits_per_second" : "gigabytes_per_second";
    std::pair<std::string_view, std::string> latency{"ns", decimal(link.latency.ps, 1'000)};
    for (const auto& [unit, ps] :
         {std::pair{"us", std::int64_t{1'000'000}}, std::pair{"ms", std::int64_t{1'000'000'000}}})
      if (std::string text = decimal(link.latency.ps, ps); text.size() < latency.second.size())
        latency = {unit, std::move(text)};
    return fmt::format("      bandwidth: {{choice: {0}, {0}: {1}}}\n"
                       "      latency: {{choice: {2}, {2}: {3}}}\n",
                       rate, has_bits ? bits : bytes, latency.first, latency.second);
  }

  /// What InfraGraph has no words for.
  [[nodiscard]] std::vector<std::string> left_out() const {
    std::vector<std::string> lines = lines_of_models_left_out(topology_);
    if (!topology_.shape().empty())
      lines.push_back(fmt::format("left out: coordinates: {}", fmt::join(topology_.shape(), "x")));
    std::set<int> dimensions;
    for (const Link& link : topology_.links())
      if (link.dimension >= 0) dimensions.insert(link.dimension);
    if (!dimensions.empty())
      lines.push_back(
          fmt::format("left out: dimensions of links: {}", fmt::join(dimensions, ", ")));
    return lines;
  }

  void find_edges() {
    std::unordered_map<std::uint64_t, LinkId> link_between;
    const auto key = [](NodeId from, NodeId to) {
      return (std::uint64_t{from.value} << 32) | to.value;
    };
    const auto ends = [&](const Link& link) {
      return fmt::format("link from \"{}\" to \"{}\"", topology_.node(link.from).name,
                         topology_.node(link.to).name);
    };
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      if (!link_between.emplace(key(link.from, link.to), LinkId{l}).second)
        throw InputError(fmt::format("{}: InfraGraph's graph has one link between two nodes, and "
                                     "here are parallel ones",
                                     ends(link)));
    }
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> names; // by bandwidth, latency
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      const auto back = link_between.find(key(link.to, link.from));
      if (back == link_between.end())
        throw InputError(
            fmt::format("{}: none leads back, but InfraGraph's links lead both ways", ends(link)));
      const Link& other = topology_.link(back->second);
      if (other.bandwidth != link.bandwidth || other.latency != link.latency)
        throw InputError(fmt::format("{}: the one back differs, but InfraGraph's links are alike "
                                     "both ways",
                                     ends(link)));
      if (back->second.value < l) continue;
      constexpr std::int64_t most = 1'000'000'000'000'000'000; // of what is read back exactly
      if (link.latency.ps > most || link.bandwidth.bytes_per_second > most)
        throw InputError(fmt::format("{}: {} and {} are too much for InfraGraph's numbers",
                                     ends(link), to_text(link.latency), to_text(link.bandwidth)));
      const auto [named, is_new] =
          names.emplace(std::pair(link.bandwidth.bytes_per_second, link.latency.ps), "");
      if (is_new) {
        named->second = link_name(topology_.part_of(LinkId{l}), names.size() - 1);
        links_ += fmt::format("{}  - name: \"{}\"\n    physical:\n{}",
                              links_.empty() ? "  links:\n" : "", named->second, physical(link));
      }
      edges_ += fmt::format("  - {{ep1: {}, ep2: {}, scheme: one2one, link: \"{}\"}}\n",
                            ends_[link.from.value], ends_[link.to.value], named->second);
    }
    if (links_.empty()) links_ = "  links: []\n";
  }
  [[nodiscard]] static std::string link_name(const std::string& part, std::size_t number) {
    return part.empty() ? fmt::format("link{}", number)
                        : fmt::format("{}-link{}", infragraph_name(part, "link"), number);
  }

  const Topology& topology_;
  std::string root_ = "network";
  std::vector<std::string> ends_; ///< by node: how edges call it
  std::string components_of_root_, links_, edges_, devices_;
};

} // namespace

std::string topology_infragraph(const Topology& topology) {
  return InfragraphWriter(topology).text();
}

} // namespace tutti
