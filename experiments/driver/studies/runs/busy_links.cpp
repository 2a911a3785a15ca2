// Why: whoever wants a faster collective asks what holds it up. That is a link, or what several of
// them share, a network card or a slot of PCIe, while each of them is far from full.
#include "experiments/driver/studies/runs/busy_links.hpp"

#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace tutti {

std::string hottest_link(const Topology& topology, const Report& report) {
  if (report.links.empty()) return {};
  const auto less_busy = [](const LinkUse& a, const LinkUse& b) { return a.busy < b.busy; };
  const auto hottest = std::max_element(report.links.begin(), report.links.end(), less_busy);
  const auto as_hot = std::count_if(report.links.begin(), report.links.end(),
                                    [&](const LinkUse& use) { return use.busy == hottest->busy; });
  const LinkId id{static_cast<std::uint32_t>(hottest - report.links.begin())};
  const Link& link = topology.link(id);
  const std::string name =
      fmt::format("{}>{}", topology.node(link.from).name, topology.node(link.to).name);
  return as_hot == 1 ? name : fmt::format("{} +{}", name, as_hot - 1);
}

std::string bottleneck(const Topology& topology, const Report& report) {
  std::string fullest = hottest_link(topology, report);
  double most = 0;
  for (const LinkUse& use : report.links) most = std::max(most, use.busy.seconds());
  for (const SharedGroup& group : topology.groups()) {
    double bytes = 0;
    for (const LinkId link : group.links)
      bytes += static_cast<double>(report.links[link.value].bytes.count);
    const double busy = bytes / static_cast<double>(group.bandwidth.bytes_per_second);
    if (busy <= most) continue;
    most = busy;
    fullest = fmt::format("{} ({} links)", group.name, group.links.size());
  }
  return fullest;
}

std::string idle_parallel_links(const Topology& topology, const Report& report) {
  std::map<std::pair<NodeId, NodeId>, std::pair<std::size_t, std::size_t>> links; // idle, all
  for (std::uint32_t l = 0; l < report.links.size(); ++l) {
    auto& [idle, all] = links[{topology.link(LinkId{l}).from, topology.link(LinkId{l}).to}];
    if (report.links[l].bytes.count == 0) ++idle;
    ++all;
  }
  std::vector<std::string> words;
  for (const auto& [ends, count] : links)
    if (count.first > 0 && count.first < count.second)
      words.push_back(fmt::format("{} of {} {}>{}", count.first, count.second,
                                  topology.node(ends.first).name, topology.node(ends.second).name));
  return words.empty() ? "" : "idle parallel links: " + few_of(words, 2);
}

} // namespace tutti
