// InfraGraph (Keysight/infragraph, schema 2.4, and the examples of before 1.0), in YAML: devices of
// components, links and connections; instances of the devices; connections between those:
//
//   devices:
//     - name: server
//       components: [{name: xpu, choice: xpu, count: 2}, {name: nic, choice: nic, count: 2}]
//       links: [{name: pcie, physical: {bandwidth: {gigabytes_per_second: 32}}}]
//       edges: [{ep1: {component: xpu}, ep2: {component: nic}, scheme: one2one, link: pcie}]
//   instances: [{name: host, device: server, count: 4}]
//   edges: [{ep1: {instance: "host[0]", component: nic}, ep2: ..., scheme: one2one, link: eth}]
//
// A component may be a device itself, by its name; so the whole is read as a device whose
// components are the instances.
#include "topologies/import/infragraph.hpp"

#include "sim/text.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <utility>

namespace tutti::topologies {

namespace {

/// As a key of YAML or JSON; lines that are comments don't count.
bool has_infra_key(std::string_view content, std::string_view key) {
  std::size_t at = 0;
  while ((at = content.find(key, at)) != std::string_view::npos) {
    std::size_t end = at + key.size(), begin = at;
    at = end;
    const bool is_quoted = begin > 0 && (content[begin - 1] == '"' || content[begin - 1] == '\'');
    if (is_quoted) {
      if (end >= content.size() || content[end] != content[begin - 1]) continue;
      --begin, ++end;
    }
    while (end < content.size() && content[end] == ' ') ++end;
    if (end >= content.size() || content[end] != ':') continue;
    if (begin > 0 &&
        std::string_view(" \t\r\n{,").find(content[begin - 1]) == std::string_view::npos)
      continue;
    const std::size_t line = begin == 0 ? 0 : content.rfind('\n', begin - 1) + 1;
    const std::size_t first = content.find_first_not_of(" \t", line);
    if (content[first] != '#') return true;
    at = std::min(content.size(), content.find('\n', end));
  }
  return false;
}

/// What a device is often stands in another file: one given with it, else one beside it. Two files
/// that mean different things by one name would be two networks, so what they say is compared.
class InfraDevices {
public:
  InfraDevices(const ForeignFile& file, Assumptions& assumed) : file_(file), assumed_(assumed) {}

  InfraNetwork find() {
    take(parse_infragraph(file_.content, file_.source));
    for (const CompanionFile& companion : file_.companions)
      take(parse_infragraph(companion.content, companion.source));
    for (const InfraDevice& device : devices_) own_names_.push_back(device.name);
    const std::size_t root = whole_ ? add_whole() : lone_device();
    find_parts(root);
    return {std::move(devices_), root};
  }

private:
  void take(InfraFile read) {
    if (read.has_annotations) assumed_.add("annotations", "left out");
    for (InfraDevice& device : read.devices) {
      const auto [found, is_new] = device_of_.emplace(device.name, devices_.size());
      if (is_new)
        devices_.push_back(std::move(device));
      else
        require_same(devices_[found->second], device);
    }
    if (!read.whole) return;
    if (whole_)
      throw read.whole->at.error(
          fmt::format("instances, links or connections, as in {}", *whole_->at.source));
    whole_ = std::move(read.whole);
  }
  static void require_same(const InfraDevice& one, const InfraDevice& other) {
    if (one.content == other.content) return;
    throw other.at.error(fmt::format("device {} is another one in {}:{}", short_quote(other.name),
                                     *one.at.source, one.at.line));
  }
  /// Those that are no part of another one.
  [[nodiscard]] std::vector<std::size_t> outer_devices() const {
    std::unordered_set<std::string> inner;
    for (const InfraDevice& device : devices_)
      for (const InfraComponent& component : device.components)
        if (!component.device.empty()) inner.insert(component.device);
    std::vector<std::size_t> outer;
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (!inner.contains(devices_[i].name)) outer.push_back(i);
    return outer;
  }

  [[nodiscard]] std::size_t lone_device() const {
    const std::vector<std::size_t> outer = outer_devices();
    if (outer.size() == 1) return outer.front();
    if (devices_.empty())
      throw InputError(fmt::format("{}: neither instances nor devices: there is no network in it",
                                   file_.source));
    throw devices_.front().at.error(
        fmt::format("{} devices ({}) and no instances of them: which one is the network?",
                    devices_.size(), few_of(own_names_)));
  }
  std::size_t add_whole() {
    std::unordered_set<std::string> unknown;
    const InfraPart* first = nullptr;
    for (const InfraEdge& edge : whole_->edges)
      for (const InfraEnd& end : edge.ends)
        if (!whole_->component_of.contains(end.front().name)) {
          unknown.insert(end.front().name);
          if (first == nullptr) first = &end.front();
        }
    if (first != nullptr) add_unnamed_instance(*first, unknown.size() == 1);
    if (whole_->components.empty())
      throw whole_->at.error("links, but neither instances nor connections");
    devices_.push_back(std::move(*whole_));
    return devices_.size() - 1;
  }
  /// The published DGX A100 connects "server", which is no instance: of the one device that has
  /// none.
  void add_unnamed_instance(const InfraPart& part, bool is_only) {
    std::vector<std::size_t> without = outer_devices();
    std::erase_if(without, [&](std::size_t i) {
      return std::ranges::find(whole_->components, devices_[i].name, &InfraComponent::device) !=
             whole_->components.end();
    });
    if (!is_only || without.size() != 1)
      throw part.at.error(
          unknown_name("instance", part.name.substr(0, 64), component_names(*whole_)));
    InfraComponent instance;
    instance.name = part.name.substr(0, 128);
    instance.device = devices_[without.front()].name;
    instance.at = part.at;
    assumed_.add(fmt::format("{}, which is no instance", short_quote(instance.name)),
                 fmt::format("one of device {}, the only one without instances",
                             short_quote(instance.device)));
    whole_->component_of.emplace(part.name, whole_->components.size());
    whole_->components.push_back(std::move(instance));
  }

  /// The devices that it is made of, where need be from files beside.
  void find_parts(std::size_t root) {
    std::vector<std::size_t> open{root};
    std::unordered_set<std::size_t> seen{root};
    std::vector<std::string> from_beside;
    while (!open.empty()) {
      const std::size_t now = open.back();
      open.pop_back();
      for (std::size_t c = 0; c < devices_[now].components.size(); ++c) {
        const InfraComponent component = devices_[now].components[c];
        if (component.device.empty()) continue;
        if (!device_of_.contains(component.device)) {
          const InfraDevice& found = beside(component);
          from_beside.push_back(fmt::format("{} ({})", found.name, *found.at.source));
          device_of_.emplace(found.name, devices_.size());
          devices_.push_back(found);
        }
        const std::size_t part = device_of_.at(component.device);
        devices_[now].components[c].part = part;
        if (seen.insert(part).second) open.push_back(part);
      }
    }
    if (!from_beside.empty()) assumed_.add("devices from files beside it", few_of(from_beside));
  }
  [[nodiscard]] const InfraDevice& beside(const InfraComponent& component) {
    if (!looked_beside_) look_beside();
    const InfraDevice* found = nullptr;
    for (const InfraDevice& device : beside_) {
      if (device.name != component.device) continue;
      if (found != nullptr) require_same(*found, device);
      if (found == nullptr) found = &device;
    }
    if (found != nullptr) return *found;
    std::string looked = own_names_.empty() ? "here is none" : "here: " + few_of(own_names_);
    if (!beside_names_.empty()) looked += "; beside: " + few_of(beside_names_);
    throw component.at.error(
        fmt::format("device {} is defined nowhere ({})", short_quote(component.device), looked));
  }
  void look_beside() {
    looked_beside_ = true;
    if (!file_.beside) return;
    for (const CompanionFile& other : file_.beside()) {
      if (!is_infragraph(other.content)) continue;
      const auto is_known = [&](const std::string& source) { return source == other.source; };
      if (is_known(file_.source) ||
          std::ranges::any_of(file_.companions, is_known, &CompanionFile::source))
        continue;
      beside_names_.push_back(std::filesystem::path(other.source).filename().string());
      try {
        InfraFile read = parse_infragraph(other.content, other.source);
        for (InfraDevice& device : read.devices) beside_.push_back(std::move(device));
      } catch (const InputError&) {
        beside_names_.back() += ", which can't be read";
      }
    }
  }

  const ForeignFile& file_;
  Assumptions& assumed_;
  std::vector<InfraDevice> devices_; ///< the whole, and those from beside, last
  std::unordered_map<std::string, std::size_t> device_of_;
  std::vector<std::string> own_names_; ///< of the file's and its companions'
  std::optional<InfraDevice> whole_;
  bool looked_beside_ = false;
  std::vector<InfraDevice> beside_;
  std::vector<std::string> beside_names_;
};

} // namespace

std::vector<std::string> component_names(const InfraDevice& device) {
  constexpr std::size_t most = 20;
  std::vector<std::string> names;
  for (const InfraComponent& component : device.components)
    if (names.size() < most) names.push_back(component.name);
  return names;
}

bool is_infragraph(std::string_view content) {
  content = content.substr(0, std::size_t{1} << 20);
  if (const char first = first_character(content); first == '\0' || first == '<' || first == '[')
    return false;
  const auto has = [&](std::string_view key) { return has_infra_key(content, key); };
  const bool has_edges = has("connections") || has("edges");
  const bool is_wrapped = has("infrastructure");
  if (has("components") && (has("choice") || has("type")) &&
      (has_edges || is_wrapped || has("devices")))
    return true;
  if (has("instances") && has("device") && (has_edges || is_wrapped)) return true;
  return has("ep1") && has("ep2") && has("instance");
}

TopologyParts read_infragraph(const ForeignFile& file, Assumptions& assumed) {
  return expand_infragraph(InfraDevices(file, assumed).find(), assumed);
}

} // namespace tutti::topologies
