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

#include "topologies/import/text_lines.hpp"

#include <algorithm>
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
  return expand_infragraph(find_infra_devices(file, assumed), assumed);
}

} // namespace tutti::topologies
