// No schedule beats a bound: random ones on random networks (most of them wasteful), and good ones
// made by a greedy list scheduler, their inversions and compositions. optimum_test.cpp tries
// all schedules of tiny collectives.
#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/routing.hpp"
#include "sim/transforms.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/sim/random_case.hpp"

#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti::property_test {
namespace {

/// The first of the bounds that the time beats; empty where all is well.
std::string beaten(const std::vector<Bound>& bounds, Time time, std::int64_t tolerance_ps = 0) {
  for (const Bound& bound : bounds)
    if (bound.time.ps > time.ps + tolerance_ps)
      return std::to_string(time.ps) + " ps beats " + std::to_string(bound.time.ps) +
             " ps: " + bound.certificate;
  return "";
}

/// Paths from one storing node to another through nodes that can't store, each at most once.
void collect_paths(const Topology& topology, std::vector<LinkId>& path,
                   std::vector<std::vector<LinkId>>& paths) {
  const NodeId end = topology.link(path.back()).to;
  if (topology.node(end).can.store) {
    if (topology.node(end).can.copy && end != topology.link(path.front()).from)
      paths.push_back(path);
    return;
  }
  if (path.size() == 3) return;
  for (const LinkId link : topology.out_links(end)) {
    path.push_back(link);
    collect_paths(topology, path, paths);
    path.pop_back();
  }
}

/// A Broadcast or All-Gather: again and again the delivery that would be in first, as far as links
/// alone tell; `noise` (ps) mixes the order.
Schedule flooded(const Topology& topology, const Collective& collective, Random& random,
                 std::uint64_t noise) {
  std::vector<std::vector<LinkId>> paths;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    if (!topology.node(topology.link(LinkId{l}).from).can.store) continue;
    std::vector<LinkId> path{LinkId{l}};
    collect_paths(topology, path, paths);
  }
  constexpr std::int64_t never = INT64_MAX / 4;
  const std::size_t chunks = collective.chunks.size();
  std::vector<std::vector<std::int64_t>> at(
      chunks, std::vector<std::int64_t>(topology.node_count(), never));
  std::size_t missing = 0;
  for (std::uint32_t c = 0; c < chunks; ++c) {
    for (const NodeId node : collective.sources(ChunkId{c})) at[c][node.value] = 0;
    missing += collective.destinations(ChunkId{c}).size() - collective.sources(ChunkId{c}).size();
  }
  std::vector<std::int64_t> free(topology.link_count(), 0);
  Schedule schedule(topology.link_count());
  while (missing > 0) {
    std::int64_t best = never;
    ChunkId chunk;
    const std::vector<LinkId>* chosen = nullptr;
    for (std::uint32_t c = 0; c < chunks; ++c)
      for (const std::vector<LinkId>& path : paths) {
        const NodeId from = topology.link(path.front()).from, to = topology.link(path.back()).to;
        if (at[c][from.value] == never || at[c][to.value] != never) continue;
        std::int64_t time = at[c][from.value] + static_cast<std::int64_t>(random.below(noise));
        for (const LinkId link : path)
          time = std::max(time, free[link.value]) + topology.link(link).latency.ps;
        time +=
            serialization(collective.chunks[c].size, topology.effective_bandwidth(path.back())).ps;
        if (time >= best) continue;
        best = time;
        chunk = ChunkId{c};
        chosen = &path;
      }
    if (chosen == nullptr) return Schedule(topology.link_count()); // only by paths too long
    for (const LinkId link : *chosen)
      free[link.value] +=
          serialization(collective.chunks[chunk.value].size, topology.effective_bandwidth(link)).ps;
    const NodeId to = topology.link(chosen->back()).to;
    at[chunk.value][to.value] = best;
    missing -= to.value < topology.npu_count();
    schedule.push({chunk, schedule.paths().intern(*chosen), Op::copy, false});
  }
  return schedule;
}

/// A Scatter, Gather or All-to-All: each chunk on a shortest route, in random order.
Schedule routed(const Topology& topology, const Collective& collective, Random& random) {
  Router router(topology, Routing::shortest, collective.chunks.front().size);
  std::vector<std::uint32_t> order;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) order.push_back(c);
  random.shuffle(order);
  Schedule schedule(topology.link_count());
  for (const std::uint32_t c : order) {
    const NodeId from = collective.sources(ChunkId{c})[0],
                 to = collective.destinations(ChunkId{c})[0];
    if (from == to) continue;
    schedule.push({ChunkId{c}, schedule.paths().intern(router.route({from, to})), Op::copy, false});
  }
  return schedule;
}

Schedule good_schedule(const Topology& topology, const Collective& collective, CollectiveSpec spec,
                       Random& random) {
  const std::uint64_t noise = random.below(2) == 0 ? 1 : 3000;
  switch (spec.kind) {
  case CollectiveKind::broadcast:
  case CollectiveKind::all_gather_v:
  case CollectiveKind::all_gather: return flooded(topology, collective, random, noise);
  case CollectiveKind::reduce:
  case CollectiveKind::reduce_scatter_v:
  case CollectiveKind::reduce_scatter: {
    spec.kind = spec.kind == CollectiveKind::reduce           ? CollectiveKind::broadcast
                : spec.kind == CollectiveKind::reduce_scatter ? CollectiveKind::all_gather
                                                              : CollectiveKind::all_gather_v;
    const Topology backwards = reversed(topology);
    return inverted(topology, flooded(backwards, make_collective(backwards, spec), random, noise),
                    Op::reduce);
  }
  case CollectiveKind::all_reduce: {
    spec.kind = CollectiveKind::reduce_scatter;
    const Schedule first = good_schedule(topology, collective, spec, random);
    spec.kind = CollectiveKind::all_gather;
    return concatenated(first, flooded(topology, make_collective(topology, spec), random, noise));
  }
  default: return routed(topology, collective, random);
  }
}

void check_random_schedules(std::uint64_t first_seed, std::uint64_t seeds) {
  std::uint64_t checked = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    const testing::RandomCase c = testing::random_case(seed, false);
    if (!verify(c.topology, c.collective, c.schedule).correct()) continue;
    const Time time = run_native(c.topology, c.collective, c.schedule, c.model).completion;
    CAPTURE(seed);
    REQUIRE(beaten(lower_bounds(c.topology, c.collective, c.model, Chunking::given), time) == "");
    ++checked;
  }
  CHECK(6 * checked > 5 * seeds);
}

TEST_CASE("no random schedule beats a bound", "[bounds]") { check_random_schedules(1, 400); }

TEST_CASE("no random schedule of many beats a bound", "[bounds][slow]") {
  check_random_schedules(401, 6000);
}

/// What became of good schedules for every named collective on random networks.
struct Tally {
  int checked = 0, reached = 0;
  std::set<BoundKind> best; ///< kinds of bounds that were the best somewhere
  std::string fault;        ///< the first bound that was beaten
};

struct Network {
  Topology topology;
  TimeModel model;
};

/// NPUs with coordinates in two or three dimensions of 2 or 3: for each dimension, those that agree
/// in the others are in a ring or on a switch, with bandwidths and latencies of its own; some links
/// differ. Sometimes what leaves a node has a joint bandwidth.
Network random_grid(Random& random) {
  TopologyParts parts;
  std::uint32_t npus = 1;
  for (std::uint64_t d = 0; d < 2 + random.below(2); ++d) {
    parts.shape.push_back(2 + static_cast<int>(random.below(npus > 4 ? 1 : 2)));
    npus *= static_cast<std::uint32_t>(parts.shape.back());
  }
  for (std::uint32_t v = 0; v < npus; ++v) {
    parts.add_node({"npu" + std::to_string(v), NodeKind::npu, {}, {}});
    std::vector<int>& at = parts.coordinates.emplace_back();
    for (std::uint32_t rest = v; const int extent : parts.shape) {
      at.push_back(static_cast<int>(rest) % extent);
      rest /= static_cast<std::uint32_t>(extent);
    }
  }
  const auto switch_abilities = [&] {
    return Abilities{random.below(2) == 0, random.below(3) == 0, random.below(3) == 0};
  };
  std::uint32_t stride = 1;
  for (std::size_t d = 0; d < parts.shape.size(); ++d) {
    const auto extent = static_cast<std::uint32_t>(parts.shape[d]);
    const std::int64_t slowness = 1 + static_cast<std::int64_t>(random.below(4));
    const bool switched = random.below(2) == 0;
    const auto join = [&](std::uint32_t u, std::uint32_t v) {
      const std::int64_t rate = 4'000'000'000 / (random.below(5) == 0 ? 1 : slowness);
      parts.add_duplex({NodeId{u}, NodeId{v}, Time{1000 * static_cast<int>(random.below(3))},
                        Bandwidth{rate}, static_cast<std::int8_t>(d)});
    };
    for (std::uint32_t v = 0; v < npus; ++v) {
      if (v / stride % extent != 0) continue; // the first of its row
      const NodeId hub = switched ? parts.add_node({"switch" + std::to_string(parts.nodes.size()),
                                                    NodeKind::switching,
                                                    switch_abilities(),
                                                    {}})
                                  : NodeId{};
      for (std::uint32_t k = 0; k < extent; ++k) {
        if (switched)
          join(v + k * stride, hub.value);
        else if (extent > 2 || k == 0)
          join(v + k * stride, v + (k + 1) % extent * stride);
      }
    }
    stride *= extent;
  }
  parts.coordinates.resize(parts.nodes.size());
  if (random.below(3) == 0) {
    SharedGroup group{"port", {}, Bandwidth{5'000'000'000}};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (parts.links[l].from == NodeId{0}) group.links.emplace_back(l);
    parts.groups.push_back(group);
  }
  TimeModel model;
  if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
  if (random.below(3) == 0) model.forwarding = Forwarding::cut_through;
  return {Topology(std::move(parts)), model};
}

/// Without structure.
Network random_network(Random& random) {
  testing::RandomCase base = testing::random_case(random.below(100'000), false);
  return {std::move(base.topology), base.model};
}

template <typename MakeNetwork>
Tally run_good_schedules(std::uint64_t networks, Discipline discipline, MakeNetwork make_network,
                         std::uint64_t random_seed = 5) {
  Random random(random_seed);
  Tally tally;
  for (std::uint64_t seed = 1; seed <= networks; ++seed) {
    Network base = make_network(random);
    base.model.discipline = discipline;
    for (const CollectiveKind kind : all_collectives()) {
      if (kind == CollectiveKind::custom) continue;
      CollectiveSpec spec{
          kind, Bytes{9000}, {}, 0, 1 + static_cast<std::uint32_t>(random.below(3))};
      if (has_shares(kind)) spec.shares.words = fmt::format("{},zipf=1", to_text(kind));
      if (has_root(kind)) spec.root = static_cast<std::uint32_t>(random.below(2));
      const Collective collective = make_collective(base.topology, spec);
      const Schedule schedule = good_schedule(base.topology, collective, spec, random);
      if (!verify(base.topology, collective, schedule).correct()) continue; // no path found
      const bool fluid = discipline == Discipline::fluid;
      const auto run = fluid ? run_simgrid : run_native;
      const Time time = run(base.topology, collective, schedule, base.model, {}).completion;
      const std::int64_t rounding = fluid ? 1 + time.ps / 1'000'000'000 : 0; // of doubles
      const std::vector<Bound> bounds =
          lower_bounds(base.topology, collective, base.model, Chunking::given);
      const std::string fault = beaten(bounds, time, rounding);
      if (!fault.empty() && tally.fault.empty())
        tally.fault = "seed " + std::to_string(seed) + ", " + collective.name() + ": " + fault;
      ++tally.checked;
      const Bound& best = best_of(bounds);
      tally.reached += best.time.ps >= time.ps - rounding;
      tally.best.insert(best.kind);
    }
  }
  return tally;
}

TEST_CASE("no good schedule beats a bound", "[bounds][heavy]") {
  const Tally tally = run_good_schedules(160, Discipline::fifo, random_network);
  CHECK(tally.fault == "");
  CHECK(tally.checked > 1000);
  CHECK(tally.reached > tally.checked / 10); // the bounds aren't merely low
}

TEST_CASE("no good schedule of many beats a bound", "[bounds][slow]") {
  for (std::uint64_t seed = 6; seed < 10; ++seed) {
    const Tally tally = run_good_schedules(400, Discipline::fifo, random_network, seed);
    CHECK(tally.fault == "");
    CHECK(tally.checked > 2500);
    CHECK(tally.reached > tally.checked / 10);
    const Tally grids = run_good_schedules(200, Discipline::fifo, random_grid, seed);
    CHECK(grids.fault == "");
    CHECK(grids.checked > 1200);
  }
}

TEST_CASE("no good schedule beats a bound in fluid sharing", "[bounds][heavy]") {
  const Tally tally = run_good_schedules(40, Discipline::fluid, random_network);
  CHECK(tally.fault == "");
  CHECK(tally.checked > 250);
  CHECK(tally.reached > tally.checked / 10);
}

TEST_CASE("no good schedule beats a bound on networks with dimensions", "[bounds][heavy]") {
  Tally tally = run_good_schedules(100, Discipline::fifo, random_grid);
  CHECK(tally.fault == "");
  CHECK(tally.checked > 600);
  tally.best.insert(BoundKind::closed_form); // of one All-Reduce in hundreds: closed_forms_test.cpp
  CHECK(tally.best.size() == 13);            // every kind was needed
  const Tally fluid = run_good_schedules(20, Discipline::fluid, random_grid);
  CHECK(fluid.fault == "");
  CHECK(fluid.checked > 100);
}

} // namespace
} // namespace tutti::property_test
