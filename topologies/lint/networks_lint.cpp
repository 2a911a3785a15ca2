// Rules for the structure of any network. One node is odd only where all others are alike: of a
// mesh, a tree or a random graph nothing of this is true.
#include "topologies/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tutti::topologies {

namespace {

using Ends = std::pair<NodeId, NodeId>;

/// What leads from one node to another.
struct Joined {
  std::int64_t rate = 0; ///< together
  Time latency;          ///< the least
};

std::map<Ends, Joined> pairs_of(const Topology& network) {
  std::map<Ends, Joined> pairs;
  for (const Link& link : network.links()) {
    const auto [pair, is_new] = pairs.try_emplace({link.from, link.to});
    pair->second.rate += link.bandwidth.bytes_per_second;
    if (is_new || link.latency < pair->second.latency) pair->second.latency = link.latency;
  }
  return pairs;
}

/// A single one, or very few of many: more are how the network is.
std::vector<std::string> if_few(std::vector<std::string> lines, std::size_t pairs) {
  const std::size_t many = lines.size() == 1 ? 4 : 50;
  return lines.size() * many <= pairs ? lines : std::vector<std::string>();
}

std::string words_of(const Topology& network, const Joined& joined, NodeId to) {
  return fmt::format("{} and {} to {}", short_text(Bandwidth{joined.rate}), to_text(joined.latency),
                     network.node(to).name);
}

} // namespace

/// By dimension, as links of a kind have one in common.
std::vector<std::string> missing_links(const Topology& network) {
  constexpr std::uint32_t few = 4; // of fewer none is the rule
  if (network.npu_count() < few) return {};
  std::map<std::int8_t, std::vector<std::size_t>> counts; // of each NPU
  for (const Link& link : network.links()) {
    std::vector<std::size_t>& of = counts[link.dimension];
    of.resize(network.npu_count());
    if (network.node(link.from).kind == NodeKind::npu) ++of[link.from.value];
  }
  std::vector<std::string> lines;
  for (const auto& [dimension, links] : counts) {
    const auto least = std::ranges::min_element(links);
    const std::size_t usual = links[least == links.begin() ? 1 : 0];
    if (*least >= usual ||
        std::ranges::count(links, usual) != static_cast<std::ptrdiff_t>(links.size()) - 1)
      continue;
    lines.push_back(
        fmt::format("{} has {} {}{}; the {} others have {}",
                    network.node(NodeId{static_cast<std::uint32_t>(least - links.begin())}).name,
                    *least == 0 ? "no" : fmt::to_string(*least), *least == 1 ? "link" : "links",
                    dimension < 0 ? "" : fmt::format(" of dimension {}", int{dimension}),
                    links.size() - 1, usual));
  }
  return lines;
}

std::vector<std::string> one_way_links(const Topology& network) {
  const std::map<Ends, Joined> pairs = pairs_of(network);
  std::vector<std::string> lines;
  for (const auto& [ends, joined] : pairs)
    if (!pairs.contains({ends.second, ends.first}))
      lines.push_back(fmt::format("{}>{} has no link back", network.node(ends.first).name,
                                  network.node(ends.second).name));
  return if_few(std::move(lines), pairs.size());
}

std::vector<std::string> unequal_directions(const Topology& network) {
  const std::map<Ends, Joined> pairs = pairs_of(network);
  std::vector<std::string> lines;
  for (const auto& [ends, there] : pairs) {
    const auto found = pairs.find({ends.second, ends.first});
    if (ends.second < ends.first || found == pairs.end()) continue;
    const Joined& back = found->second;
    if (there.rate == back.rate && there.latency == back.latency) continue;
    lines.push_back(fmt::format(
        "between {} and {}: {}, {}", network.node(ends.first).name, network.node(ends.second).name,
        words_of(network, there, ends.second), words_of(network, back, ends.first)));
  }
  return if_few(std::move(lines), pairs.size() / 2);
}

} // namespace tutti::topologies
