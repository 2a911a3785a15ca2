// Bounds where members join late: by hand, as tight as what a schedule takes, never above one, and
// with proofs that the checker tells from wrong ones. a is the latency of a link, D the time that
// 1 MB takes on it.
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "sim/schedule.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/check.hpp"
#include "synth/bounds/late_start.hpp"
#include "tests/catch.hpp"
#include "tests/sim/random_case.hpp"
#include "tests/synth/bounds/bound_cases.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace tutti::late_start_test {
namespace {

using K = CollectiveKind;

constexpr std::array chunkings{Chunking::any, Chunking::given};
constexpr std::int64_t a = 500'000;    // ps
constexpr std::int64_t D = 20'000'000; // ps: 1 MB at 50 GB/s
constexpr std::int64_t mb = 1'000'000;
constexpr Time s{200'000'000};

const std::string line = "mesh2d:1x3,bandwidth=50GB/s,latency=500ns",
                  ring = "ring:4,bandwidth=50GB/s,latency=500ns",
                  star = "switch:4,bandwidth=50GB/s,latency=500ns";

/// Chunks of 1 MB each, one per shard; one node joins at s.
samples::BoundCase late_case(const std::string& network, K kind, std::uint32_t late) {
  samples::BoundCase given{make_topology(network), {}, {}};
  const std::int64_t shards = has_root(kind) && kind != K::gather ? 1 : given.topology.npu_count();
  given.collective = make_collective(given.topology, {kind, Bytes{shards * mb}, {}, 0, 1});
  given.starts.assign(given.topology.node_count(), Time{});
  given.starts[late] = s;
  return given;
}

Bound late_bound(const samples::BoundCase& given, Chunking chunking) {
  return late_start_bound(given.topology, given.collective, given.model, given.starts, chunking);
}

std::string refuted(const samples::BoundCase& given, Chunking chunking, const Bound& bound) {
  return tutti::refuted(given.topology, given.collective, given.model, chunking, bound,
                        given.starts);
}

/// The only link from one node to another.
LinkId link(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  for (const LinkId id : topology.out_links(NodeId{from}))
    if (topology.link(id).to == NodeId{to}) return id;
  FAIL("no link from " << from << " to " << to);
  return {};
}

struct Send {
  std::uint32_t chunk;
  std::vector<std::uint32_t> nodes; ///< of its path
};

/// What a schedule takes that the verifier accepts.
Time replayed(const samples::BoundCase& given, std::initializer_list<Send> sends, Op op) {
  Schedule schedule(given.topology.link_count());
  for (const Send& send : sends) {
    std::vector<LinkId> path;
    for (std::size_t i = 0; i + 1 < send.nodes.size(); ++i)
      path.push_back(link(given.topology, send.nodes[i], send.nodes[i + 1]));
    schedule.push({ChunkId{send.chunk}, schedule.paths().intern(path), op, false});
  }
  REQUIRE(verify(given.topology, given.collective, schedule).correct());
  return run_native(given.topology, given.collective, schedule, given.model,
                    {.starts = given.starts})
      .completion;
}

TEST_CASE("late start: the chunk of a late NPU still has its way to go on a line", "[bounds]") {
  const samples::BoundCase given = late_case(line, K::all_gather, 0);
  const Bound any = late_bound(given, Chunking::any),
              at_chunks = late_bound(given, Chunking::given);
  CHECK(any.time.ps == s.ps + a + D);
  CHECK(any.certificate == "npu0 joins at 200.0 us; out-cut of npu0: 1MB over 1 link, 50GB/s "
                           "together, latency 500ns");
  CHECK(any.inside == std::vector{NodeId{0}});
  CHECK(at_chunks.time.ps == s.ps + 2 * (a + D));
  CHECK(at_chunks.certificate == "npu0 joins at 200.0 us; latency path of chunk 0 (1MB) from npu0 "
                                 "to npu2: at least 41.00 us");
  CHECK(at_chunks.time ==
        replayed(given,
                 {{1, {1, 0}}, {1, {1, 2}}, {2, {2, 1}}, {2, {1, 0}}, {0, {0, 1}}, {0, {1, 2}}},
                 Op::copy));
  // npu1 in the middle sends its own both ways at once.
  const samples::BoundCase middle = late_case(line, K::all_gather, 1);
  CHECK(late_bound(middle, Chunking::any).time.ps == s.ps + a + D / 2);
  CHECK(late_bound(middle, Chunking::given).time.ps == s.ps + a + D);
}

TEST_CASE("late start: all the others of a ring wait for one", "[bounds]") {
  const samples::BoundCase given = late_case(ring, K::all_gather, 0);
  const Time bound = late_bound(given, Chunking::given).time;
  CHECK(bound.ps == s.ps + 2 * (a + D));
  CHECK(bound == replayed(given,
                          {{1, {1, 0}},
                           {1, {1, 2}},
                           {1, {2, 3}},
                           {2, {2, 1}},
                           {2, {2, 3}},
                           {2, {3, 0}},
                           {3, {3, 0}},
                           {3, {3, 2}},
                           {3, {2, 1}},
                           {0, {0, 1}},
                           {0, {0, 3}},
                           {0, {1, 2}}},
                          Op::copy));
}

TEST_CASE("late start: what a late NPU sends through a switch takes its port in turn", "[bounds]") {
  const samples::BoundCase given = late_case(star, K::all_to_all, 2);
  // A fourth of its buffer of 4 MB for each of the three others, over two links of which the switch
  // lets the data through at once.
  for (const Chunking chunking : chunkings) {
    const Bound bound = late_bound(given, chunking);
    CHECK(bound.time.ps == s.ps + 3 * D + 2 * a);
    CHECK(refuted(given, chunking, bound) == "");
  }
  CHECK(late_bound(given, Chunking::given).certificate ==
        "npu2 joins at 200.0 us; out-cut of npu2: 3 chunks, 3MB over 1 link, 50GB/s together, "
        "latency 500ns");
  CHECK(late_bound(given, Chunking::given).time == replayed(given,
                                                            {{8, {2, 4, 0}},
                                                             {9, {2, 4, 1}},
                                                             {11, {2, 4, 3}},
                                                             {1, {0, 4, 1}},
                                                             {2, {0, 4, 2}},
                                                             {3, {0, 4, 3}},
                                                             {4, {1, 4, 0}},
                                                             {6, {1, 4, 2}},
                                                             {7, {1, 4, 3}},
                                                             {12, {3, 4, 0}},
                                                             {13, {3, 4, 1}},
                                                             {14, {3, 4, 2}}},
                                                            Op::copy));
}

TEST_CASE("late start: a late contribution still has to get to who wants the sum", "[bounds]") {
  samples::BoundCase given = late_case(line, K::reduce, 2);
  const Bound bound = late_bound(given, Chunking::given);
  CHECK(bound.time.ps == s.ps + 2 * (a + D));
  CHECK(bound.proof.source == NodeId{2});
  CHECK(bound.inside == std::vector{NodeId{2}}); // behind its link there is only the way to npu0
  CHECK(bound.time == replayed(given, {{0, {2, 1}}, {0, {1, 0}}}, Op::reduce));
  // The root only has to take delivery.
  given.starts = {s, {}, {}};
  for (const Chunking chunking : chunkings) {
    const Bound root = late_bound(given, chunking);
    CHECK(root.time == s);
    CHECK(root.certificate == "npu0 joins at 200.0 us");
    CHECK(root.inside.empty());
    CHECK(refuted(given, chunking, root) == "");
  }
  CHECK(replayed(given, {{0, {2, 1}}, {0, {1, 0}}}, Op::reduce) == s);
}

TEST_CASE("late start: a node need not send what another one holds", "[bounds]") {
  samples::BoundCase given{make_topology(line), {}, {}};
  given.collective.sets = {{NodeId{0}, NodeId{1}}, {NodeId{2}}, {NodeId{0}}};
  given.collective.chunks = {{Bytes{mb}, 0, 1, false}, {Bytes{mb}, 0, 2, false}};
  CollectivePart part;
  part.chunk_count = 2;
  given.collective.parts = {part};
  given.starts = {s, {}, {}};
  CHECK(late_bound(given, Chunking::given).time == s);
  CHECK(replayed(given, {{0, {1, 2}}}, Op::copy) == s);
  given.collective.chunks.push_back({Bytes{mb}, 2, 1, false}); // only npu0 has this one
  given.collective.parts.front().chunk_count = 3;
  const Bound bound = late_bound(given, Chunking::given);
  CHECK(bound.time.ps == s.ps + 2 * (a + D));
  CHECK(bound.time == replayed(given, {{0, {1, 2}}, {2, {0, 1}}, {2, {1, 2}}}, Op::copy));
}

TEST_CASE("late start: links out of a late NPU that share bandwidth", "[bounds]") {
  samples::BoundCase given = late_case("fully_connected:3,bandwidth=50GB/s,latency=500ns",
                                       K::all_to_all, 0); // 2 chunks of 1 MB to send
  CHECK(late_bound(given, Chunking::given).time.ps == s.ps + a + D);
  TopologyParts parts = given.topology.parts();
  parts.groups.push_back({"port", {}, Bandwidth{50'000'000'000}});
  for (std::uint32_t l = 0; l < parts.links.size(); ++l)
    if (parts.links[l].from == NodeId{0}) parts.groups.back().links.emplace_back(l);
  given.topology = Topology(std::move(parts));
  const Bound bound = late_bound(given, Chunking::given);
  CHECK(bound.time.ps == s.ps + a + 2 * D);
  CHECK(refuted(given, Chunking::given, bound) == "");
  CHECK(bound.time ==
        replayed(given,
                 {{1, {0, 1}}, {2, {0, 2}}, {3, {1, 0}}, {5, {1, 2}}, {6, {2, 0}}, {7, {2, 1}}},
                 Op::copy));
}

TEST_CASE("late start: whose sum of start and rest is the longest counts", "[bounds]") {
  samples::BoundCase given = late_case(line, K::broadcast, 0);
  given.starts = {Time{D}, Time{2 * D}, Time{2 * D}};
  const Bound root = late_bound(given, Chunking::given);
  CHECK(root.proof.source == NodeId{0});
  CHECK(root.time.ps == D + 2 * (a + D));
  given.starts = {Time{D}, Time{9 * D}, Time{9 * D}}; // of equals the first
  CHECK(late_bound(given, Chunking::given).certificate == "npu1 joins at 180.0 us");
}

TEST_CASE("late start: nothing where nobody who takes part is late", "[bounds]") {
  samples::BoundCase given{make_topology(line), {}, {}};
  given.collective =
      make_collective(given.topology, {K::broadcast, Bytes{mb}, {NodeId{0}, NodeId{2}}, 0, 1});
  for (const std::vector<Time>& starts :
       {std::vector<Time>{}, std::vector<Time>(3), std::vector<Time>{{}, s, {}}}) {
    given.starts = starts;
    CHECK(late_bound(given, Chunking::given).time == Time{});
    CHECK(LateStartBounds(given.topology, given.collective, {}).time(starts) == Time{});
    for (const Bound& bound : samples::all_bounds(given, Chunking::given))
      CHECK(bound.kind != BoundKind::late_start);
  }
  given.starts = {s, {}};
  CHECK_THROWS_AS(late_bound(given, Chunking::given), InputError);
  CHECK_THROWS_AS(lower_bound(given.topology, given.collective, {}, Chunking::any,
                              BoundEffort::least, given.starts),
                  InputError);
  CHECK_THROWS_WITH(LateStartBounds(given.topology, given.collective, {}).time(given.starts),
                    "2 start times are given for 3 nodes");
  given.starts = {Time{INT64_MAX}, {}, {}};
  CHECK_THROWS_WITH(late_bound(given, Chunking::given), "the collective takes longer than 26 days");
}

TEST_CASE("late start: all ways to ask agree", "[bounds]") {
  Random random(4);
  int late = 0;
  for (int i = 0; i < 30; ++i) {
    const samples::BoundCase base = samples::random_bound_case(random);
    for (const Chunking chunking : chunkings) {
      const LateStartBounds bounds(base.topology, base.collective, base.model, chunking);
      for (int draw = 0; draw < 4; ++draw) {
        const samples::BoundCase given = samples::with_late_starts(base, random);
        const Bound bound = late_bound(given, chunking);
        const auto same = [&](const Bound& other) {
          CHECK(other.time == bound.time);
          CHECK(other.certificate == bound.certificate);
          CHECK(other.proof.source == bound.proof.source);
          CHECK(other.proof.destination == bound.proof.destination);
          CHECK(other.proof.inside == bound.proof.inside);
        };
        CHECK(bounds.time(given.starts) == bound.time);
        same(bounds.bound(given.starts));
        if (bound.time == Time{}) continue;
        ++late;
        const std::vector<Bound> all = lower_bounds(given.topology, given.collective, given.model,
                                                    chunking, BoundEffort::least, given.starts);
        REQUIRE(all.back().kind == BoundKind::late_start);
        same(all.back());
      }
    }
  }
  CHECK(late > 100);
}

/// Random schedules on random networks, replayed with random starts.
void check_random_schedules(std::uint64_t first_seed, std::uint64_t seeds) {
  std::uint64_t reached = 0, raised = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    testing::RandomCase c = testing::random_case(seed, false);
    if (!verify(c.topology, c.collective, c.schedule).correct()) continue;
    Random random(seed);
    samples::BoundCase given{std::move(c.topology), std::move(c.collective), c.model};
    const Time undelayed =
        run_native(given.topology, given.collective, c.schedule, c.model).completion;
    for (int draw = 0; draw < 3; ++draw) {
      given.starts.assign(given.topology.node_count(), Time{});
      for (std::uint32_t v = 0; v < given.topology.node_count(); ++v)
        if (given.topology.node(NodeId{v}).can.store && random.below(3) == 0)
          given.starts[v] = Time{static_cast<std::int64_t>(
              random.below(1 + 2 * static_cast<std::uint64_t>(undelayed.ps)))};
      const Time time = run_native(given.topology, given.collective, c.schedule, c.model,
                                   {.starts = given.starts})
                            .completion;
      for (const Chunking chunking : chunkings) {
        const Bound bound = late_bound(given, chunking);
        INFO("seed " << seed << ": " << bound.certificate);
        REQUIRE(bound.time <= time);
        REQUIRE(refuted(given, chunking, bound) == "");
        if (bound.time.ps > 0) reached += bound.time == time;
        raised += bound.time > undelayed;
      }
    }
  }
  CHECK(10 * reached > seeds);
  CHECK(10 * raised > seeds);
}

TEST_CASE("late start: no random schedule beats the bound", "[bounds]") {
  check_random_schedules(1, 400);
}

TEST_CASE("late start: no random schedule of many beats the bound", "[bounds][slow]") {
  check_random_schedules(401, 20'000);
}

/// What every algorithm takes where members join late.
samples::Replays late_replays(std::uint64_t seed, int cases) {
  Random random(seed);
  samples::Replays replays;
  for (int i = 0; i < cases && replays.beaten.empty(); ++i)
    compare(samples::with_late_starts(samples::random_bound_case(random), random), replays);
  return replays;
}

TEST_CASE("late start: no algorithm beats a bound", "[bounds][heavy]") {
  const samples::Replays replays = late_replays(1, 25);
  CHECK(replays.beaten == "");
  CHECK(replays.disordered == "");
  CHECK(replays.count > 120);
  CHECK(replays.reached > 5);
}

TEST_CASE("late start: no algorithm of many cases beats a bound", "[bounds][slow]") {
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    const samples::Replays replays = late_replays(seed, 500);
    CHECK(replays.beaten == "");
    CHECK(replays.disordered == "");
  }
}

TEST_CASE("late start: the checker tells proofs from spoilt ones", "[bounds]") {
  // An out-cut, a path, a late receiver.
  for (const samples::BoundCase& given :
       {late_case(star, K::all_to_all, 2), late_case(ring, K::all_gather, 1),
        late_case(line, K::broadcast, 2), late_case(line, K::reduce, 2)})
    for (const Chunking chunking : chunkings) {
      const Bound bound = late_bound(given, chunking);
      INFO(bound.certificate);
      CHECK(refuted(given, chunking, bound) == "");
      Bound spoilt = bound;
      spoilt.time.ps += 1;
      CHECK(refuted(given, chunking, spoilt) != "");
      spoilt = bound;
      for (std::uint32_t v = 0; v < given.topology.node_count(); ++v) {
        spoilt.proof.source = NodeId{v};
        CHECK((refuted(given, chunking, spoilt) == "") == (NodeId{v} == bound.proof.source));
      }
      spoilt.proof.source = NodeId{};
      CHECK(refuted(given, chunking, spoilt) == "no one who joins late");
      spoilt.proof.source = NodeId{99};
      CHECK(refuted(given, chunking, spoilt) == "no one who joins late");
      samples::BoundCase earlier = given;
      earlier.starts[bound.proof.source.value].ps -= 1;
      CHECK(refuted(earlier, chunking, bound) != "");
      earlier.starts.clear();
      CHECK(refuted(earlier, chunking, bound) == "no start times");
      earlier = given;
      earlier.collective.chunks.clear();
      CHECK(refuted(earlier, chunking, bound) == "who joins late neither holds nor wants anything");
    }
}

TEST_CASE("late start: what the checker says of lies", "[bounds]") {
  const samples::BoundCase line_case = late_case(line, K::all_gather, 0);
  Bound cut = late_bound(line_case, Chunking::any), path = late_bound(line_case, Chunking::given);
  const auto says = [&](const Bound& bound) { return refuted(line_case, Chunking::any, bound); };
  Bound lie = cut;
  lie.proof.inside[1] = false; // npu0 and npu1 join at different times
  CHECK(says(lie) == "more than what leaves the one who joins late");
  lie.proof.inside.pop_back();
  CHECK(says(lie) == "no set of nodes");
  lie = cut;
  lie.proof.inside.clear();
  CHECK(says(lie) == "npu0 joins at 200us");
  lie.time = s;
  CHECK(says(lie) == "");
  lie = cut;
  lie.proof.destination = NodeId{99};
  CHECK(says(lie) == "no destination");
  CHECK(refuted(line_case, Chunking::given, path) == "");
  CHECK(says(path) ==
        "what only npu0 has can be at npu2 after 201us"); // cut as finely as one likes
  path.proof.destination = NodeId{1};
  CHECK(refuted(line_case, Chunking::given, path) ==
        "what only npu0 has can be at npu1 after 220.5us");
  // Of another kind it proves nothing but what it does from the beginning.
  cut.kind = BoundKind::out_cut;
  CHECK(says(cut) != "");
  samples::BoundCase root = late_case(line, K::broadcast, 2);
  lie = late_bound(root, Chunking::given);
  lie.proof.inside = {true, true, false};
  lie.time.ps += 1;
  CHECK(refuted(root, Chunking::given, lie) == "nothing has to leave the one who joins late");
}

} // namespace
} // namespace tutti::late_start_test
