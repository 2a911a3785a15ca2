// Rails are kept where what leaves a node by its card k comes in by card k of the other: else it
// crosses switches that most clusters have little of, and two flows may meet at one card. GPUs that
// have NVLink and send by PCIe have lost it, or a program was written for another machine.
#include "topologies/lint/lint.hpp"
#include "topologies/what_ifs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tutti {

namespace {

using namespace topologies;

/// Which card of its node has the port.
std::map<LinkId, std::uint32_t> cards_by_port(const Cluster& cluster) {
  std::map<LinkId, std::uint32_t> cards;
  for (const ClusterNode& node : cluster.nodes)
    for (std::uint32_t c = 0; c < node.cards.size(); ++c) {
      for (const LinkId l : node.cards[c].out) cards.emplace(l, c);
      for (const LinkId l : node.cards[c].in) cards.emplace(l, c);
    }
  return cards;
}

bool is_nvlink(const Topology& network, LinkId l) {
  const std::string part = network.part_of(l);
  return part.starts_with("nvlink") || part.starts_with("xgmi");
}

bool has_nvlink(const Topology& network, NodeId npu) {
  return std::ranges::any_of(network.out_links(npu),
                             [&](LinkId l) { return is_nvlink(network, l); });
}

/// What is odd about a way; its rule's name and the words.
std::optional<std::pair<std::string, std::string>>
oddity(const Topology& network, const Cluster& cluster,
       const std::map<LinkId, std::uint32_t>& cards, std::span<const LinkId> links) {
  const NodeId from = network.link(links.front()).from, to = network.link(links.back()).to;
  std::vector<std::pair<std::uint32_t, LinkId>> crossed;
  for (const LinkId l : links)
    if (const auto card = cards.find(l); card != cards.end()) crossed.emplace_back(card->second, l);
  const std::string ends = fmt::format("{}>{}", network.node(from).name, network.node(to).name);
  if (crossed.size() > 1 && crossed.front().first != crossed.back().first)
    return std::pair(std::string("crossed-rails"),
                     fmt::format("{} leaves by card {} (to {}) and comes in by card {} (from {})",
                                 ends, crossed.front().first,
                                 network.node(network.link(crossed.front().second).to).name,
                                 crossed.back().first,
                                 network.node(network.link(crossed.back().second).from).name));
  if (cluster.of[from.value] != cluster.of[to.value] || !has_nvlink(network, from) ||
      !has_nvlink(network, to))
    return std::nullopt;
  const auto slow = std::ranges::find_if(links, [&](LinkId l) { return !is_nvlink(network, l); });
  if (slow == links.end()) return std::nullopt;
  return std::pair(std::string("around-nvlink"),
                   fmt::format("{} goes by {}>{}, though both have NVLink", ends,
                               network.node(network.link(*slow).from).name,
                               network.node(network.link(*slow).to).name));
}

} // namespace

std::vector<Finding> audit(const Topology& network, std::span<const SentWay> ways,
                           std::string_view who) {
  const Cluster cluster = cluster_of(network);
  const std::map<LinkId, std::uint32_t> cards = cards_by_port(cluster);
  std::map<std::pair<std::string, std::string>, std::set<std::uint32_t>> channels;
  std::vector<std::pair<std::string, std::string>> order;
  for (const SentWay& way : ways) {
    const auto odd = oddity(network, cluster, cards, way.links);
    if (!odd) continue;
    const auto [place, is_new] = channels.try_emplace(*odd);
    if (is_new) order.push_back(*odd);
    if (way.channel) place->second.insert(*way.channel);
  }
  std::map<std::string, std::vector<std::string>> lines; // by rule
  for (const auto& odd : order) {
    const std::set<std::uint32_t>& of = channels[odd];
    std::string on;
    if (!of.empty())
      on = fmt::format(", channel{} {}", of.size() == 1 ? "" : "s", fmt::join(of, ", "));
    lines[odd.first].push_back(fmt::format("{}{}: {}", who, on, odd.second));
  }
  std::vector<Finding> found;
  for (const LintRule& rule : lint_rules())
    if (const auto of = lines.find(std::string(rule.name)); of != lines.end())
      append_findings(found, rule, std::move(of->second));
  return found;
}

} // namespace tutti
