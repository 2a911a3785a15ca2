// Direct: every pair that has something to exchange does so itself, along the routed path. Senders
// rotate: in step s rank i sends to rank i + s, so that no receiver is everyone's target at once.
// All-Reduce is Reduce-Scatter, then All-Gather, of one step each.
// Source: the baseline "Direct" of TACOS (MICRO 2024, sec. V) and ASTRA-sim2.0; the rotation is the
// long-message All-to-All of Thakur, Rabenseifner, Gropp 2005 (IJHPCA 19(1)).
// Cost: n (n - 1) sends of a shard per phase, each over its whole path.

#include "algorithms/list.hpp"
#include "algorithms/routed_schedule.hpp"

#include <cassert>
#include <utility>

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

} // namespace

Outcome direct(const Topology& topology, const Collective& collective,
               const SynthesisOptions& options) {
  require_known_settings(options, {});
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
  case CollectiveKind::all_gather: all_gather(schedule); break;
  case CollectiveKind::reduce_scatter: reduce_scatter(schedule); break;
  case CollectiveKind::all_reduce:
    reduce_scatter(schedule);
    all_gather(schedule);
    break;
  case CollectiveKind::all_to_all:
    rotate(n, [&](Rank i, Rank j) { schedule.send(i, j, i * n + j, Op::copy); });
    break;
  case CollectiveKind::custom: assert(false && "synthesize() refuses what the row doesn't list");
  }
  return std::move(schedule).outcome();
}

} // namespace tutti
