// Ring along a Hamiltonian cycle of direct links, where one is found: every hop crosses one link,
// and no link carries more than one hop's traffic. In both directions where each link of the cycle
// has its reverse.
// Source: the ring algorithms of ring_collectives.cpp, which has steps and cost; embedding one in
// the network is what NCCL's ring search does on NVLink (Jeaugey 2019).

#include "algorithms/hamiltonian_cycle.hpp"
#include "algorithms/list.hpp"
#include "algorithms/ring_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

/// The link between two nodes that brings a chunk soonest, of several one that shares nothing;
/// invalid where there is none.
LinkId direct_link(const Topology& topology, NodeId from, NodeId to, Bytes chunk) {
  const auto cost = [&](LinkId link) {
    return std::pair(topology.link(link).latency +
                         serialization(chunk, topology.effective_bandwidth(link)),
                     topology.groups_of(link).size());
  };
  LinkId best;
  for (const LinkId link : topology.out_links(from))
    if (topology.link(link).to == to && (!best.valid() || cost(link) < cost(best))) best = link;
  return best;
}

/// For each rank the ranks that it has a direct link to, ascending.
std::vector<std::vector<Rank>> direct_neighbours(const Topology& topology,
                                                 const std::vector<NodeId>& group) {
  std::vector<Rank> rank_of(topology.node_count(), UINT32_MAX);
  for (Rank rank = 0; rank < group.size(); ++rank) rank_of[group[rank].value] = rank;
  std::vector<std::vector<Rank>> neighbours(group.size());
  for (Rank rank = 0; rank < group.size(); ++rank) {
    std::vector<Rank>& found = neighbours[rank];
    for (const LinkId link : topology.out_links(group[rank])) {
      const Rank other = rank_of[topology.link(link).to.value];
      if (other != UINT32_MAX) found.push_back(other);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
  return neighbours;
}

} // namespace

Outcome ring_hamiltonian(const Topology& topology, const Collective& collective,
                         const SynthesisOptions& options) {
  RoutedSchedule schedule(topology, collective, options);
  const std::vector<NodeId>& group = schedule.part().group;
  const HamiltonianSearch search = find_hamiltonian_cycle(direct_neighbours(topology, group));
  if (search.cycle.empty()) {
    return unsupported(fmt::format("{} Hamiltonian cycle of direct links through the {} NPUs ({})",
                                   search.exhaustive ? "there is no" : "found no", group.size(),
                                   search.exhaustive ? "the search was exhaustive"
                                                     : "the search stopped at its limit"));
  }
  RingUse use = RingUse::both_directions;
  for (std::size_t p = 0; p < search.cycle.size(); ++p) {
    const Rank here = search.cycle[p], next = search.cycle[(p + 1) % search.cycle.size()];
    const auto link = [&](Rank from, Rank to) {
      return direct_link(topology, group[from], group[to], collective.largest_chunk());
    };
    schedule.use_link(here, next, link(here, next));
    const LinkId back = link(next, here);
    if (back.valid())
      schedule.use_link(next, here, back);
    else
      use = RingUse::forward_only;
  }
  send_around_ring(schedule, search.cycle, use);
  return std::move(schedule).outcome();
}

} // namespace tutti
