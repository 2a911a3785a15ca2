// Direct: every pair that has something to exchange does so itself, along the routed path. Senders
// rotate: in step s rank i sends to rank i + s, so that no receiver is everyone's target at once.
// All-Reduce is Reduce-Scatter, then All-Gather, of one step each.
// Source: the baseline "Direct" of TACOS (MICRO 2024, sec. V) and ASTRA-sim2.0; the rotation is the
// long-message All-to-All of Thakur, Rabenseifner, Gropp 2005 (IJHPCA 19(1)).
// A custom collective: every chunk by the same idea, see custom().
// Cost: n (n - 1) sends of a shard per phase, each over its whole path.

#include "algorithms/list.hpp"
#include "algorithms/routed_schedule.hpp"
#include "algorithms/server_rails.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Calls body(i, i + s) for every ordered pair of distinct ranks, step by step.
template <typename Body> void rotate(Rank n, const Body& body) {
  for (Rank step = 1; step < n; ++step)
    for (Rank i = 0; i < n; ++i) body(i, (i + step) % n);
}

/// Calls body(i) for everyone but the root, those behind the root first.
template <typename Body> void others(Rank n, Rank root, const Body& body) {
  for (Rank step = 1; step < n; ++step) body((root + step) % n);
}

void reduce_scatter(RoutedSchedule& schedule) {
  rotate(schedule.size(), [&](Rank i, Rank j) { schedule.send(i, j, j, Op::reduce); });
}

void all_gather(RoutedSchedule& schedule) {
  rotate(schedule.size(), [&](Rank i, Rank j) { schedule.send(i, j, i, Op::copy); });
}

/// The rank among `members` (NPUs in rank order, of which they are some) that is the fewest hops
/// away from `to`.
Rank nearest(RoutedSchedule& schedule, const std::vector<Rank>& members, Rank to) {
  return *std::ranges::min_element(members, {}, [&](Rank from) { return schedule.hops(from, to); });
}

/// A chunk that doesn't reduce goes from its nearest source to each who wants it. One that reduces
/// is combined at one who wants it, a contributor if there is one, and goes from there to the
/// others. Chunks from one to one other come last, senders rotating as elsewhere.
void custom(RoutedSchedule& schedule, const Collective& collective) {
  const std::vector<NodeId>& group = schedule.part().group;
  const auto ranks_of = [&](std::span<const NodeId> nodes) {
    std::vector<Rank> ranks; // group is ascending
    for (const NodeId node : nodes)
      ranks.push_back(static_cast<Rank>(std::ranges::lower_bound(group, node) - group.begin()));
    return ranks;
  };
  std::vector<std::tuple<Rank, Rank, ChunkId>> order; // by step and sender
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const std::span<const NodeId> sources = collective.sources(ChunkId{c});
    const std::span<const NodeId> destinations = collective.destinations(ChunkId{c});
    const bool is_unicast = sources.size() == 1 && destinations.size() == 1;
    const Rank from = is_unicast ? ranks_of(sources).front() : 0;
    const Rank to = is_unicast ? ranks_of(destinations).front() : 0;
    order.emplace_back(rotation(from, to, schedule.size()), from, ChunkId{c});
  }
  std::ranges::sort(order);
  for (const auto& [step, sender, chunk] : order) {
    std::vector<Rank> sources = ranks_of(collective.sources(chunk));
    const std::vector<Rank> destinations = ranks_of(collective.destinations(chunk));
    if (destinations.empty()) continue;
    if (collective.chunks[chunk.value].reduces) {
      const auto both = std::ranges::find_first_of(destinations, sources);
      const Rank owner = both == destinations.end() ? destinations.front() : *both;
      for (const Rank from : sources)
        if (from != owner) schedule.send_chunk(from, owner, chunk, Op::reduce);
      sources = {owner};
    }
    for (const Rank to : destinations)
      if (std::ranges::find(sources, to) == sources.end())
        schedule.send_chunk(nearest(schedule, sources, to), to, chunk, Op::copy);
  }
}

} // namespace

Outcome direct(const Topology& topology, const Collective& collective,
               const SynthesisOptions& options) {
  RoutedSchedule schedule(topology, collective, options);
  const Rank n = schedule.size(), root = schedule.part().root;
  switch (schedule.part().kind) {
  case CollectiveKind::broadcast:
    others(n, root, [&](Rank i) { schedule.send(root, i, 0, Op::copy); });
    break;
  case CollectiveKind::reduce:
    others(n, root, [&](Rank i) { schedule.send(i, root, 0, Op::reduce); });
    break;
  case CollectiveKind::gather:
    others(n, root, [&](Rank i) { schedule.send(i, root, i, Op::copy); });
    break;
  case CollectiveKind::scatter:
    others(n, root, [&](Rank i) { schedule.send(root, i, i, Op::copy); });
    break;
  case CollectiveKind::hypercube:
  case CollectiveKind::all_gather_v:
  case CollectiveKind::all_gather: all_gather(schedule); break;
  case CollectiveKind::reduce_scatter_v:
  case CollectiveKind::reduce_scatter: reduce_scatter(schedule); break;
  case CollectiveKind::all_reduce:
    reduce_scatter(schedule);
    all_gather(schedule);
    break;
  case CollectiveKind::sendrecv:
    for (Rank i = 0; i < n; ++i) schedule.send(i, (i + 1) % n, i, Op::copy);
    break;
  case CollectiveKind::all_to_all_v:
  case CollectiveKind::all_to_all:
    rotate(n, [&](Rank i, Rank j) { schedule.send(i, j, i * n + j, Op::copy); });
    break;
  case CollectiveKind::custom: custom(schedule, collective); break;
  }
  return std::move(schedule).outcome();
}

} // namespace tutti
