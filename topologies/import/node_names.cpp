// Why: lists of links name their nodes and say no more; all readers of them guess alike.
#include "topologies/import/node_names.hpp"

#include "sim/text.hpp"
#include "topologies/import/text_lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace tutti::topologies {

bool is_switch_name(std::string_view name) {
  const std::string lower = lower_case(name);
  constexpr std::array words{"switch", "sw",   "nvswitch", "tor",    "leaf",
                             "spine",  "core", "agg",      "router", "nic"};
  const std::size_t letters = std::min(lower.find_first_of("0123456789_-.:/"), lower.size());
  return std::ranges::find(words, lower.substr(0, letters)) != words.end() ||
         lower.find("switch") != std::string::npos;
}

std::string legal_name(std::string_view name) {
  const auto is_letter = [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == ':');
  };
  std::string text(name.substr(0, 200));
  std::ranges::replace_if(
      text, [&](unsigned char c) { return !is_letter(c); }, '_');
  return text.empty() ? "_" : text;
}

std::string few_switches(const TopologyParts& parts) {
  std::vector<std::string> names;
  for (const Node& node : parts.nodes)
    if (node.kind == NodeKind::switching) names.push_back(node.name);
  return names.empty() ? "none" : few_of(names);
}

} // namespace tutti::topologies
