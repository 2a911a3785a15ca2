// Ring in NPU-id order, as the papers use it: neighbours in the ring are neighbours by number, not
// by link; on other topologies than a ring, hops follow routed paths and share links.
// Source: Chan, van de Geijn, Gropp, Thakur 2006 (PPoPP); TACOS (MICRO 2024), sec. V.
// Steps and cost: see ring_collectives.cpp.

#include "algorithms/list.hpp"
#include "algorithms/ring_collectives.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

Outcome ring_by_id(const Topology& topology, const Collective& collective,
                   const SynthesisOptions& options, RingUse use) {
  RoutedSchedule schedule(topology, collective, options);
  const std::vector<NodeId>& group = schedule.part().group;
  std::vector<Rank> order(group.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](Rank rank) { return group[rank]; });
  send_around_ring(schedule, order, use);
  return std::move(schedule).outcome();
}

} // namespace

Outcome ring(const Topology& topology, const Collective& collective,
             const SynthesisOptions& options) {
  return ring_by_id(topology, collective, options, RingUse::both_directions);
}

Outcome ring_unidirectional(const Topology& topology, const Collective& collective,
                            const SynthesisOptions& options) {
  return ring_by_id(topology, collective, options, RingUse::forward_only);
}

} // namespace tutti
