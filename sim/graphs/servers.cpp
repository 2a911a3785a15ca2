// Why: a network from a list of links says nothing of servers, but is built of them: NVLink inside,
// network cards between. Idea: links are taken from the fastest on, and what they join is a server
// where the next slower ones are much slower. Pairs of GPUs with two NVLinks between them are
// faster inside than their server, and racks on one leaf switch than their pod; the largest step is
// the one between a server and its network. Parallel links count together.
#include "sim/graphs/servers.hpp"

#include "sim/graphs/disjoint_sets.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

namespace tutti {

namespace {

struct Joint {
  std::uint32_t from, to;
  std::int64_t speed; ///< bytes/s of all links from one to the other
};

/// The fastest first.
std::vector<Joint> joints_of(const Topology& topology) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> speeds;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    speeds[{link.from.value, link.to.value}] +=
        topology.effective_bandwidth(LinkId{l}).bytes_per_second;
  }
  std::vector<Joint> joints;
  for (const auto& [ends, speed] : speeds) joints.push_back({ends.first, ends.second, speed});
  std::ranges::stable_sort(joints, std::greater<>(), &Joint::speed);
  return joints;
}

/// Whether NPUs with links are in several sets, none of them alone.
bool are_together(const Topology& topology, DisjointSets& sets) {
  std::map<std::uint32_t, std::uint32_t> npus; // by set
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    if (!topology.out_links(NodeId{n}).empty() || !topology.in_links(NodeId{n}).empty())
      ++npus[sets.find(n)];
  return npus.size() > 1 &&
         std::ranges::all_of(npus, [](const auto& set) { return set.second > 1; });
}

} // namespace

std::vector<std::uint32_t> sets_joined_by_speed(const Topology& topology) {
  constexpr int most_speeds = 32;
  constexpr double least_step = 1.5; // xGMI over PCIe, in one server, is 1.2
  const std::vector<Joint> joints = joints_of(topology);
  DisjointSets sets(topology.node_count());
  std::vector<std::uint32_t> best;
  double largest = least_step;
  int speeds = 0;
  for (std::size_t first = 0, end = 0; first < joints.size(); first = end) {
    if (++speeds > most_speeds) return {};
    for (; end < joints.size() && joints[end].speed == joints[first].speed; ++end)
      sets.join(joints[end].from, joints[end].to);
    if (!are_together(topology, sets)) continue;
    const std::vector<std::uint32_t> found = DisjointSets(sets).least();
    std::vector<bool> has_npus(topology.node_count());
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n) has_npus[found[n]] = true;
    const auto between = std::find_if(
        joints.begin() + static_cast<std::ptrdiff_t>(end), joints.end(), [&](const Joint& joint) {
          const std::uint32_t a = found[joint.from], b = found[joint.to];
          return a != b && (has_npus[a] || has_npus[b]);
        });
    if (between == joints.end()) continue; // nothing joins them
    const double step =
        static_cast<double>(joints[first].speed) / static_cast<double>(between->speed);
    if (step < largest) continue; // of equal steps the one with larger sets
    largest = step;
    best = found;
  }
  return best;
}

} // namespace tutti
