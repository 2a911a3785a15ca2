// Why: lists of links name their nodes and say no more; all readers of them guess alike.
#include "topologies/import/node_names.hpp"

#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>

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
  constexpr std::size_t most = 6;
  std::string names;
  std::size_t count = 0;
  for (const Node& node : parts.nodes)
    if (node.kind == NodeKind::switching && ++count <= most)
      names += (names.empty() ? "" : ", ") + node.name;
  if (count > most) names += fmt::format(" and {} more", count - most);
  return count == 0 ? "none" : names;
}

} // namespace tutti::topologies
