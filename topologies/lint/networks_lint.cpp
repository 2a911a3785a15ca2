// Rules for the structure of any network. One node is odd only where all others are alike: of a
// mesh, a tree or a random graph nothing of this is true.
#include "sim/graphs/components.hpp"
#include "topologies/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
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

/// Difference beyond rounding: more than 1 %.
bool differ(std::int64_t a, std::int64_t b) {
  return std::max(a, b) - std::min(a, b) > std::max(a, b) / 100;
}

bool differ(const Joined& a, const Joined& b) {
  constexpr std::int64_t nanosecond = 1000;
  const auto [least, most] = std::minmax(a.latency.ps, b.latency.ps);
  return differ(a.rate, b.rate) || (differ(least, most) && most - least > nanosecond);
}

using Degree = std::pair<std::size_t, std::size_t>; // links out and in

/// "no links", "1 link out and 2 in"; without `noun`: "7"
std::string words_of(const Degree& degree, bool noun) {
  const auto [out, in] = degree;
  std::string words = out == 0 && noun ? "no" : fmt::to_string(out);
  if (noun) words += out == 1 ? " link" : " links";
  return out == in ? words : fmt::format("{} out and {} in", words, in);
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
  std::map<std::int8_t, std::vector<Degree>> counts; // of each NPU
  for (const Link& link : network.links()) {
    std::vector<Degree>& of = counts[link.dimension];
    of.resize(network.npu_count());
    if (network.node(link.from).kind == NodeKind::npu) ++of[link.from.value].first;
    if (network.node(link.to).kind == NodeKind::npu) ++of[link.to.value].second;
  }
  std::vector<std::string> lines;
  for (const auto& [dimension, links] : counts) {
    const auto least = std::ranges::min_element(links);
    const Degree usual = links[least == links.begin() ? 1 : 0];
    if (*least >= usual ||
        std::ranges::count(links, usual) != static_cast<std::ptrdiff_t>(links.size()) - 1)
      continue;
    lines.push_back(
        fmt::format("{} has {}{}; the {} others have {}",
                    network.node(NodeId{static_cast<std::uint32_t>(least - links.begin())}).name,
                    words_of(*least, true),
                    dimension < 0 ? "" : fmt::format(" of dimension {}", int{dimension}),
                    links.size() - 1, words_of(usual, false)));
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
    if (!differ(there, back)) continue;
    lines.push_back(fmt::format(
        "between {} and {}: {}, {}", network.node(ends.first).name, network.node(ends.second).name,
        words_of(network, there, ends.second), words_of(network, back, ends.first)));
  }
  return if_few(std::move(lines), pairs.size() / 2);
}

std::vector<std::string> parts_apart(const Topology& network) {
  const Components components = strong_components(
      network.node_count(),
      [&](std::uint32_t node) { return network.out_links(NodeId{node}).size(); },
      [&](std::uint32_t node, std::size_t i) {
        return std::optional(network.link(network.out_links(NodeId{node})[i]).to.value);
      });
  constexpr std::size_t most_named = 4;
  std::vector<std::size_t> sizes(components.count);
  std::vector<std::uint32_t> firsts; // the first NPU of each part
  for (std::uint32_t npu = 0; npu < network.npu_count(); ++npu)
    if (sizes[components.of[npu]]++ == 0) firsts.push_back(npu);
  if (firsts.size() < 2) return {};
  std::string words;
  for (std::size_t part = 0; part < std::min(firsts.size(), most_named); ++part) {
    const std::size_t more = sizes[components.of[firsts[part]]] - 1;
    words += fmt::format("{}{}{}", part == 0 ? "" : "; ", network.node(NodeId{firsts[part]}).name,
                         more == 0 ? "" : fmt::format(" and {} more", more));
  }
  return {fmt::format("{} parts with no way there and back between them: {}{}", firsts.size(),
                      words, firsts.size() > most_named ? "; ..." : "")};
}

} // namespace tutti::topologies
