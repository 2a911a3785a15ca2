// A failure takes a cable, both of its directions, or an NPU. They fail in a random order that
// depends on the seed alone, and one whose loss would cut an NPU off that is left is passed over,
// so that all NPUs of a degraded network still reach one another.

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

/// Every NPU that isn't lost, over links that aren't gone. lost: [node]
bool every_npu_reaches_all(const Topology& topology, const std::vector<bool>& gone,
                           const std::vector<bool>& lost) {
  const auto first = static_cast<std::uint32_t>(std::ranges::find(lost, false) - lost.begin());
  const auto left = std::count(lost.begin(), lost.begin() + topology.npu_count(), false);
  const auto all_reached = [&](bool forwards) {
    std::vector<bool> seen = lost;
    std::vector<NodeId> stack{NodeId{first}};
    seen[first] = true;
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
    return npus == left;
  };
  return all_reached(true) && all_reached(false);
}

/// `3` or `5%` of so many.
std::size_t failure_count(std::string_view text, const char* key, std::size_t of) {
  if (!text.ends_with('%'))
    return static_cast<std::size_t>(parse_integer(text, key, 0, static_cast<std::int64_t>(of)));
  text.remove_suffix(1);
  const auto percent = static_cast<std::size_t>(parse_integer(text, key, 0, 100));
  return (of * percent + 99) / 100;
}

/// Takes away so many of `all`, which are in the order in which they fail, but for those that
/// `take` says must stay. Errors: InputError where so many can't fail, with what `all` are.
template <typename Failing, typename Take>
void fail(std::size_t count, const std::vector<Failing>& all, const char* what, const Take& take) {
  std::size_t so_far = 0;
  for (const Failing& each : all)
    if (so_far < count && take(each)) ++so_far;
  if (so_far < count)
    throw InputError(fmt::format("of {} {}, any more than {} failures would put an NPU out of "
                                 "reach (drawn with this seed)",
                                 all.size(), what, so_far));
}

/// What may fail of a network in which all reach all.
struct Intact {
  const Topology& topology;
  std::vector<bool> gone = std::vector<bool>(topology.link_count());
  std::vector<bool> lost = std::vector<bool>(topology.node_count());

  explicit Intact(const Topology& whole) : topology(whole) {
    if (!reaches_all()) throw InputError("some NPU is out of another's reach already");
  }
  [[nodiscard]] bool reaches_all() const { return every_npu_reaches_all(topology, gone, lost); }
};

} // namespace

std::vector<LinkId> failed_links(const Topology& topology, std::size_t count, std::uint64_t seed) {
  std::vector<Cable> cables = cables_of(topology);
  Intact network(topology);
  Random(seed).shuffle(cables);
  std::vector<LinkId> failed;
  fail(count, cables, "cables", [&](const Cable& cable) {
    for (const LinkId link : cable) network.gone[link.value] = true;
    const bool fails = network.reaches_all();
    if (fails) failed.insert(failed.end(), cable.begin(), cable.end());
    for (const LinkId link : cable) network.gone[link.value] = fails;
    return fails;
  });
  std::sort(failed.begin(), failed.end());
  return failed;
}

std::vector<LinkId> failed_links(const Topology& topology, std::string_view failures,
                                 std::uint64_t seed) {
  const std::size_t count = failure_count(failures, "fail-links", cables_of(topology).size());
  try {
    return failed_links(topology, count, seed);
  } catch (const InputError& e) {
    throw InputError(fmt::format("fail-links={}: {}", failures, e.what()));
  }
}

std::vector<NodeId> failed_npus(const Topology& topology, std::string_view failures,
                                std::uint64_t seed) {
  const std::size_t count = failure_count(failures, "fail-npus", topology.npu_count());
  std::vector<NodeId> npus, failed;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) npus.emplace_back(n);
  try {
    Intact network(topology);
    Random(seed).shuffle(npus);
    fail(count, npus, "NPUs", [&](NodeId npu) {
      network.lost[npu.value] = true;
      const bool fails = failed.size() + 1 < npus.size() && network.reaches_all();
      network.lost[npu.value] = fails;
      if (fails) failed.push_back(npu);
      return fails;
    });
  } catch (const InputError& e) {
    throw InputError(fmt::format("fail-npus={}: {}", failures, e.what()));
  }
  std::sort(failed.begin(), failed.end());
  return failed;
}

} // namespace tutti::topologies
