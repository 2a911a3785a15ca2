// Every registered baseline on every small topology: its schedules must be correct and without
// waste, no faster than the bound, as long as the formulas say, and the same each time.

#include "algorithms/list.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/one_in.hpp"
#include "tests/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace baselines_test {

using namespace tutti;
using namespace tutti::samples;
using testing::OneIn;

namespace {

std::vector<Topology> small_topologies() {
  return {ring(2),    ring(5),           ring(6, true),
          full(2),    full(5),           full(8),
          star(7),    star(4),           mesh(1, 5),
          mesh(2, 4), uneven_mesh(3, 3), uneven_mesh(4, 2),
          mesh(3, 2), ring(7, true),     mesh_without_a_link(2, 4)};
}

/// All NPUs in order, and (from four on) some of them out of order.
std::vector<std::vector<NodeId>> groups_of(const Topology& topology) {
  std::vector<std::vector<NodeId>> groups{{}};
  if (topology.npu_count() >= 4) {
    groups.push_back({NodeId{3}, NodeId{1}});
    groups.push_back({NodeId{2}, NodeId{0}, NodeId{3}});
  }
  if (topology.npu_count() >= 6) groups.push_back({NodeId{5}, NodeId{1}, NodeId{0}, NodeId{4}});
  return groups;
}

bool defines(const AlgorithmRow& row, CollectiveKind kind) {
  return std::ranges::find(row.collectives, kind) != row.collectives.end();
}

/// What a row promises for a collective over so many NPUs; others depend on the graph.
bool must_have_schedule(const AlgorithmRow& row, CollectiveKind kind, std::size_t members) {
  if (row.name == "ring_hamiltonian" || row.name == "rccl" || row.needs == "coordinates" ||
      row.needs == "servers" || !defines(row, kind))
    return false;
  const bool needs_power =
      row.name == "rhd" || (row.name == "nccl" && kind == CollectiveKind::hypercube);
  return !needs_power || std::has_single_bit(members);
}

void check_schedule(const Topology& topology, const Collective& collective,
                    const Outcome& outcome) {
  CHECK(outcome.status == Status::feasible);
  const Verdict verdict = verify(topology, collective, *outcome.schedule);
  INFO((verdict.fault ? verdict.fault->text : ""));
  REQUIRE(verdict.correct());
  CHECK(verdict.redundant == 0);
  TimeModel model;
  for (const LinkBusy busy : {LinkBusy::serialization, LinkBusy::latency_and_serialization}) {
    model.link_busy = busy;
    const Report report = run_native(topology, collective, *outcome.schedule, model);
    CHECK(report.completion >= lower_bound(topology, collective, model, Chunking::given).time);
  }
}

/// One in `step` of all combinations.
void check_small_topologies(std::uint32_t step) {
  OneIn is_due(step);
  for (const Topology& topology : small_topologies())
    for (const std::vector<NodeId>& group : groups_of(topology))
      for (const CollectiveKind kind : named_collectives())
        for (const std::uint32_t chunks_per_shard : {1U, 2U, 3U}) {
          if (!is_due()) continue;
          CollectiveSpec spec{kind, Bytes{1009}, group, 0, chunks_per_shard}; // 1009 is prime
          if (has_root(kind)) spec.root = group.empty() ? topology.npu_count() - 1 : 1;
          const Collective collective = make_collective(topology, spec);
          const std::size_t members = collective.parts[0].group.size();
          for (const AlgorithmRow& row : baseline_algorithms()) {
            INFO(row.name << " for " << collective.name() << " in " << chunks_per_shard << " on "
                          << topology.name());
            if (row.imitates && chunks_per_shard != 3) continue; // searches, and cuts itself
            const Outcome outcome = synthesize(row, topology, collective, {});
            if (outcome.schedule) {
              check_schedule(topology, collective, outcome);
            } else {
              CHECK(outcome.status == Status::unsupported);
              CHECK_FALSE(outcome.note.empty());
              CHECK_FALSE(must_have_schedule(row, kind, members));
            }
          }
        }
}

} // namespace

TEST_CASE("baselines are correct and waste nothing on small topologies", "[heavy]") {
  check_small_topologies(7);
}

TEST_CASE("every baseline is correct and wastes nothing on every small topology", "[slow]") {
  check_small_topologies(1);
}

TEST_CASE("baselines give the same bytes each time") {
  const Topology topology = uneven_mesh(4, 2);
  for (const CollectiveKind kind : named_collectives()) {
    const Collective collective = make_collective(topology, {kind, Bytes{1009}, {}, 0, 2});
    for (const AlgorithmRow& row : baseline_algorithms()) {
      const Outcome first = synthesize(row, topology, collective, {});
      const Outcome second = synthesize(row, topology, collective, {});
      CHECK(first.schedule == second.schedule);
    }
  }
}

TEST_CASE("baselines send as many transfers as their formulas say") {
  struct Case {
    std::string_view algorithm;
    CollectiveKind kind;
    std::uint32_t npus, chunks_per_shard;
    std::size_t transfers;
  };
  using enum CollectiveKind;
  // n NPUs, p chunks. A ring hands each of n shards around n - 1 hops per phase; hop by hop the
  // ways are 1 .. n-1 long in one direction, 1 1 2 2 .. in two.
  const std::size_t n5 = 5, n6 = 6, n8 = 8;
  const Case cases[] = {
      {"ring", all_reduce, 5, 2, 2 * n5 * (n5 - 1) * 2},
      {"ring", all_gather, 5, 2, n5 * (n5 - 1) * 2},
      {"ring1", reduce_scatter, 6, 3, n6 * (n6 - 1) * 3},
      {"ring1", broadcast, 6, 3, (n6 - 1) * 3},
      {"ring", reduce, 6, 2, (n6 - 1) * 2},
      {"ring1", gather, 5, 1, 1 + 2 + 3 + 4},
      {"ring", scatter, 5, 2, (1 + 1 + 2 + 2) * 2},
      {"ring", gather, 6, 2, (1 + 1 + 2 + 2 + 3) * 2},
      {"ring1", all_to_all, 5, 1, n5 * (1 + 2 + 3 + 4)},
      {"ring", all_to_all, 6, 2, n6 * (1 + 1 + 2 + 2 + 3) * 2},
      {"ring_hamiltonian", all_reduce, 6, 2, 2 * n6 * (n6 - 1) * 2},
      // Direct: one transfer per pair and phase.
      {"direct", all_reduce, 5, 1, 2 * n5 * (n5 - 1)},
      {"direct", all_to_all, 5, 3, n5 * (n5 - 1) * 3},
      {"direct", broadcast, 5, 3, (n5 - 1) * 3},
      // Halving: n/2 + n/4 + .. + 1 = n - 1 shards sent by each of n; All-to-All: n/2 of each bit.
      {"rhd", all_reduce, 8, 1, 2 * n8 * (n8 - 1)},
      {"rhd", all_gather, 8, 2, n8 * (n8 - 1) * 2},
      {"rhd", all_to_all, 8, 1, n8 * (n8 / 2) * 3},
      {"rhd", broadcast, 8, 2, (n8 - 1) * 2},
      {"rhd", scatter, 8, 1, n8 / 2 * 3}, // n/2 shards move in each of log2(n) steps
      // Trees have n - 1 edges, each crossed once up and once down by each of n * p chunks.
      {"dbt", all_reduce, 5, 2, 2 * (n5 - 1) * n5 * 2},
      {"dbt", reduce, 6, 4, (n6 - 1) * 4},
  };
  for (const Case& c : cases) {
    const Topology topology = ring(c.npus);
    const Collective collective =
        make_collective(topology, {c.kind, Bytes{5040}, {}, 0, c.chunks_per_shard});
    INFO(c.algorithm << " " << to_text(c.kind) << " of " << c.npus);
    CHECK(schedule_of(c.algorithm, topology, collective).size() == c.transfers);
  }
}

TEST_CASE("baselines take the hand-derived times where nothing contends") {
  const std::int64_t a = alpha.ps;
  const auto time = [](std::string_view algorithm, const Topology& topology, CollectiveSpec spec) {
    const Collective collective = make_collective(topology, spec);
    return run_native(topology, collective, schedule_of(algorithm, topology, collective), {})
        .completion.ps;
  };
  const Bytes size{5'000'000};
  const std::int64_t D = 5'000'000 * 20; // size / B in ps
  SECTION("All-Reduce around a one-way ring: 2 (n - 1) (a + D / n)") {
    CHECK(time("ring1", ring(5, true), {CollectiveKind::all_reduce, size, {}}) ==
          2 * 4 * (a + D / 5));
  }
  SECTION("the same on a two-way ring, half each way: 2 (n - 1) (a + D / 2n)") {
    CHECK(time("ring", ring(5), {CollectiveKind::all_reduce, size, {}, 0, 2}) ==
          2 * 4 * (a + D / 10));
  }
  SECTION("direct All-Reduce on a full graph: 2 (a + D / n)") {
    CHECK(time("direct", full(5), {CollectiveKind::all_reduce, size, {}}) == 2 * (a + D / 5));
  }
  SECTION("pipelined Broadcast along 4 hops in 10 chunks: 4 a + (4 + 9) D / 10") {
    CHECK(time("ring1", ring(5, true), {CollectiveKind::broadcast, size, {}, 0, 10}) ==
          4 * a + 13 * D / 10);
  }
  SECTION("Scatter around a one-way ring, the farthest first: (n - 1) (a + D / n)") {
    // The nearest leaves last, at (n - 2) D / n, and is there at a + (n - 1) D / n: not later.
    CHECK(time("ring1", ring(5, true), {CollectiveKind::scatter, size, {}}) == 4 * (a + D / 5));
  }
  SECTION("doubling on a full graph of 4: 2 a + 2 D / 4") {
    // One's own shard leaves for i ^ 1 at once, the one from i ^ 2, there at a + D / 4, after it.
    CHECK(time("rhd", full(4), {CollectiveKind::all_gather, size, {}}) == 2 * a + 2 * D / 4);
  }
  SECTION("halving on a full graph of 4, the same backwards: 2 a + 2 D / 4") {
    CHECK(time("rhd", full(4), {CollectiveKind::reduce_scatter, size, {}}) == 2 * a + 2 * D / 4);
  }
  SECTION("binomial Broadcast on a full graph of 8: log2(n) (a + D)") {
    CHECK(time("rhd", full(8), {CollectiveKind::broadcast, size, {}}) == 3 * (a + D));
  }
  SECTION("double tree Broadcast of one chunk to 3 others: two levels, 2 (a + D)") {
    // Tree one below npu0: 2 has children 1 and 3. The chunk goes 0 -> 2 -> 1, 3.
    CHECK(time("dbt", full(4), {CollectiveKind::broadcast, size, {}}) == 2 * (a + D));
  }
}

TEST_CASE("a ring in both directions loads all links of a ring alike") {
  // Each lane carries one piece of each shard over each of its links, but not into its owner.
  const Topology topology = ring(6);
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_gather, Bytes{1200}, {}, 0, 2});
  for (const std::string_view name : {"ring", "ring_hamiltonian"}) {
    const Schedule schedule = schedule_of(name, topology, collective);
    std::vector<std::size_t> crossings(topology.link_count());
    for (std::size_t i = 0; i < schedule.size(); ++i)
      for (const LinkId link : schedule.paths().links(schedule[i].path)) ++crossings[link.value];
    CHECK(crossings == std::vector<std::size_t>(12, 5));
  }
}

TEST_CASE("ring follows NPU ids, whatever the order of the group") {
  const Topology topology = full(6);
  const Collective collective = make_collective(
      topology, {CollectiveKind::all_gather, Bytes{300}, {NodeId{4}, NodeId{2}, NodeId{0}}});
  const Schedule schedule = schedule_of("ring1", topology, collective);
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Link link = topology.link(schedule.paths().first(schedule[i].path));
    CHECK(link.to.value == (link.from.value + 2) % 6);
  }
}

TEST_CASE("ring_hamiltonian uses direct links only, one way where a way back is missing") {
  const Topology one_way = ring(6, true);
  const Collective collective =
      make_collective(one_way, {CollectiveKind::all_reduce, Bytes{1200}, {}, 0, 2});
  const Schedule schedule = schedule_of("ring_hamiltonian", one_way, collective);
  CHECK(schedule.paths().size() == one_way.link_count());
  CHECK(verify(one_way, collective, schedule).correct());

  const Topology grid = mesh(8, 8);
  const Collective on_grid =
      make_collective(grid, {CollectiveKind::all_reduce, Bytes{64'000}, {}, 0, 2});
  const Outcome outcome = run_baseline("ring_hamiltonian", grid, on_grid);
  REQUIRE(outcome.schedule);
  CHECK(outcome.schedule->paths().size() == grid.link_count());
  CHECK(outcome.routing.empty());
  CHECK(verify(grid, on_grid, *outcome.schedule).correct());
}

TEST_CASE("ring_hamiltonian takes the widest of parallel links") {
  TopologyParts parts = npus("parallel", 2);
  parts.add_link(link(0, 1));
  Link wide = link(0, 1);
  wide.bandwidth = {2 * bandwidth.bytes_per_second};
  const LinkId widest = parts.add_link(wide);
  parts.add_link(link(1, 0));
  const Topology topology(std::move(parts));
  const Collective collective =
      make_collective(topology, {CollectiveKind::broadcast, Bytes{10}, {}, 0, 1});
  const Schedule schedule = schedule_of("ring_hamiltonian", topology, collective);
  REQUIRE(schedule.size() == 1);
  CHECK(schedule.paths().first(schedule[0].path) == widest);
}

TEST_CASE("baselines say what they used and why they can't") {
  const auto outcome = [](std::string_view name, const Topology& topology, CollectiveKind kind) {
    return run_baseline(name, topology, make_collective(topology, {kind, Bytes{1000}, {}}));
  };
  CHECK(outcome("direct", mesh(3, 2), CollectiveKind::all_gather).routing == "dimension-order");
  CHECK(outcome("direct", ring(5), CollectiveKind::all_gather).routing == "shortest");
  CHECK(outcome("rhd", ring(6), CollectiveKind::all_reduce).note ==
        "rhd needs a power of two of NPUs, not 6");
  CHECK(outcome("dbt", ring(6), CollectiveKind::all_gather).note ==
        "dbt doesn't define all_gather");
  CHECK(outcome("ring_hamiltonian", mesh(3, 3), CollectiveKind::all_reduce).note ==
        "there is no Hamiltonian cycle of direct links through the 9 NPUs (the search was "
        "exhaustive)");
  CHECK(outcome("ring_hamiltonian", star(4), CollectiveKind::all_reduce).status ==
        Status::unsupported);
}

TEST_CASE("baselines without settings refuse any") {
  const Topology topology = ring(4);
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_reduce, Bytes{1000}, {}});
  SynthesisOptions options;
  options.settings["tries"] = "3";
  for (const AlgorithmRow& row : baseline_algorithms())
    if (row.settings.empty())
      CHECK_THROWS_WITH(synthesize(row, topology, collective, options),
                        fmt::format("unknown setting \"tries\" ({} has none)", row.name));
}

TEST_CASE("direct does any pre- and postcondition") {
  const Topology topology = samples::ring(5);
  const auto node = [](std::uint32_t n) { return NodeId{n}; };
  Collective custom;
  custom.sets = {{node(0)}, {node(0), node(3)}, {node(1), node(2), node(4)}, {node(2)}, {}};
  const Bytes size{1'000'000};
  custom.chunks = {
      {size, 1, 2, false}, // two hold it: 1 is nearest to 0, 2 and 4 to 3
      {size, 1, 2, true},  // combined at 1, then to 2 and 4
      {size, 1, 1, true},  // both contribute and both want it
      {size, 0, 3, true},  // one contribution, to someone else
      {size, 0, 0, false}, // nothing to do
      {size, 0, 4, false}, // wanted by nobody
  };
  custom.parts = {{CollectiveKind::custom,
                   Bytes{6 * size.count},
                   {node(0), node(1), node(2), node(3), node(4)},
                   0,
                   1,
                   ChunkId{0},
                   6}};
  const Schedule schedule = samples::schedule_of("direct", topology, custom);
  const Verdict verdict = verify(topology, custom, schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  CHECK(schedule.size() == 3 + (2 + 2) + 2 + 1);
  CHECK(samples::run_baseline("ring", topology, custom).note == "ring doesn't define custom");
}

} // namespace baselines_test
