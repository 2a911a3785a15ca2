// A failure takes a cable, both of its directions. Cables fail in a random order that depends on
// the seed alone, and one whose loss would cut an NPU off is passed over, so that all NPUs of a
// degraded network still reach one another.

#include "topologies/failed_links.hpp"

#include "sim/error.hpp"
#include "sim/random.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace tutti::topologies {

std::vector<Cable> cables_of(const Topology& topology) {
  std::map<std::pair<NodeId, NodeId>, std::vector<std::size_t>> half; // cables with one direction
  std::vector<Cable> cables;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    const auto back = half.find({link.to, link.from});
    if (back != half.end() && !back->second.empty()) {
      cables[back->second.front()].push_back(LinkId{l});
      back->second.erase(back->second.begin());
    } else {
      half[{link.from, link.to}].push_back(cables.size());
      cables.push_back({LinkId{l}});
    }
  }
  return cables;
}

namespace {

/// Over links that aren't gone.
bool every_npu_reaches_all(const Topology& topology, const std::vector<bool>& gone) {
  const auto all_reached = [&](bool forwards) {
    std::vector<bool> seen(topology.node_count());
    std::vector<NodeId> stack{NodeId{0}};
    seen[0] = true;
    std::uint32_t npus = 0;
    while (!stack.empty()) {
      const NodeId node = stack.back();
      stack.pop_back();
      if (node.value < topology.npu_count()) ++npus;
      for (const LinkId id : forwards ? topology.out_links(node) : topology.in_links(node)) {
        const NodeId next = forwards ? topology.link(id).to : topology.link(id).from;
        if (gone[id.value] || seen[next.value]) continue;
        seen[next.value] = true;
        stack.push_back(next);
      }
    }
    return npus == topology.npu_count();
  };
  return all_reached(true) && all_reached(false);
}

/// `3` or `5%` of `cables`.
std::size_t failure_count(std::string_view text, std::size_t cables) {
  if (!text.ends_with('%'))
    return static_cast<std::size_t>(
        parse_integer(text, "fail-links", 0, static_cast<std::int64_t>(cables)));
  text.remove_suffix(1);
  const auto percent = static_cast<std::size_t>(parse_integer(text, "fail-links", 0, 100));
  return (cables * percent + 99) / 100;
}

} // namespace

std::vector<LinkId> failed_links(const Topology& topology, std::size_t count, std::uint64_t seed) {
  std::vector<Cable> cables = cables_of(topology);
  std::vector<bool> gone(topology.link_count());
  if (!every_npu_reaches_all(topology, gone))
    throw InputError("some NPU is out of another's reach already");
  Random(seed).shuffle(cables);
  std::vector<LinkId> failed;
  std::size_t so_far = 0;
  for (const Cable& cable : cables) {
    if (so_far == count) break;
    for (const LinkId link : cable) gone[link.value] = true;
    if (every_npu_reaches_all(topology, gone)) {
      ++so_far;
      failed.insert(failed.end(), cable.begin(), cable.end());
    } else {
      for (const LinkId link : cable) gone[link.value] = false;
    }
  }
  if (so_far < count)
    throw InputError(fmt::format("of {} cables, any more than {} failures would put an NPU out of "
                                 "reach (drawn with this seed)",
                                 cables.size(), so_far));
  std::sort(failed.begin(), failed.end());
  return failed;
}

std::vector<LinkId> failed_links(const Topology& topology, std::string_view failures,
                                 std::uint64_t seed) {
  const std::size_t count = failure_count(failures, cables_of(topology).size());
  try {
    return failed_links(topology, count, seed);
  } catch (const InputError& e) {
    throw InputError(fmt::format("fail-links={}: {}", failures, e.what()));
  }
}

} // namespace tutti::topologies
