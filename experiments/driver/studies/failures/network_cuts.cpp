// Two NPUs stand together if each reaches the other: the strongly connected components of what is
// up, which sim/repair computes. The division is looked at once for each instant, not for each
// event, since a cable that fails is two events.
#include "experiments/driver/studies/failures/network_cuts.hpp"

#include "sim/repair/reach.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace tutti {

namespace {

using Groups = std::vector<std::vector<NodeId>>;

/// NPUs that are alive, by who reaches whom, in order of their first ones.
Groups groups_of(const Topology& topology, const NetworkState& network) {
  const Reach reach(topology, network);
  std::map<std::uint32_t, std::size_t> group_of; // component to index
  Groups groups;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) {
    if (!network.is_up(NodeId{n})) continue;
    const auto [found, is_new] = group_of.try_emplace(reach.component(NodeId{n}), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].emplace_back(n);
  }
  return groups;
}

std::string names_of(const Topology& topology, std::span<const NodeId> npus) {
  std::vector<std::string> names;
  for (const NodeId npu : npus) names.push_back(topology.node(npu).name);
  return few_of(names);
}

std::string cut_text(const Topology& topology, Time at, const Groups& groups) {
  constexpr std::size_t most = 4;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(most, groups.size()); ++i)
    parts.push_back(names_of(topology, groups[i]));
  if (groups.size() > most) parts.push_back(fmt::format("{} more parts", groups.size() - most));
  return fmt::format("{}: the network is cut: {}", short_text(at), joined(parts, " | "));
}

} // namespace

std::vector<std::string> network_cuts(const Topology& topology,
                                      std::span<const NetworkEvent> events) {
  std::vector<std::string> texts;
  NetworkState network(topology);
  Groups before = groups_of(topology, network);
  for (std::size_t i = 0; i < events.size(); ++i) {
    network.apply(events[i]);
    if (i + 1 < events.size() && events[i + 1].at == events[i].at) continue;
    Groups now = groups_of(topology, network);
    if (now.size() > 1 && now != before) texts.push_back(cut_text(topology, events[i].at, now));
    before = std::move(now);
  }
  return texts;
}

} // namespace tutti
