#include "synth/tacos/routing.hpp"

#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tacos_routing_test {

using namespace tutti;

namespace {

SynthesisOptions with(const TimeModel& model, std::uint64_t seed = 1) {
  SynthesisOptions options;
  options.model = model;
  options.seed = seed;
  return options;
}

TimeModel paper() {
  TimeModel model;
  model.link_busy = LinkBusy::latency_and_serialization;
  return model;
}

/// Routes, and checks what must hold of any result. Returns the replayed time.
Time checked_time(const Topology& topology, const Collective& collective,
                  const SynthesisOptions& options) {
  INFO(topology.name() << " " << collective.name());
  const std::optional<Timed> made = routed(topology, collective, options, WorkLimit(options));
  REQUIRE(made);
  const Verdict verdict = verify(topology, collective, made->schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  const Time replayed = run_native(topology, collective, made->schedule, options.model).completion;
  CHECK(replayed == made->makespan);
  CHECK(replayed >= lower_bound(topology, collective, options.model, Chunking::given).time);
  return replayed;
}

Collective all_to_all(const Topology& topology, std::uint32_t chunks_per_shard = 1) {
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_to_all;
  spec.size = Bytes{std::int64_t{topology.npu_count()} << 20};
  spec.chunks_per_shard = chunks_per_shard;
  return make_collective(topology, spec);
}

/// NPUs, switches and memories of all abilities, on a one-way ring with chords.
Topology random_network(Random& random) {
  TopologyParts parts = samples::npus("random", static_cast<std::uint32_t>(3 + random.below(6)));
  for (std::uint64_t s = random.below(3); s > 0; --s)
    parts.add_node({"switch" + std::to_string(s),
                    NodeKind::switching,
                    {false, random.below(2) == 0, random.below(2) == 0},
                    {}});
  for (std::uint64_t m = random.below(3); m > 0; --m)
    parts.add_node({"memory" + std::to_string(m), // what copies but can't reduce may bar the way
                    NodeKind::memory,
                    {true, false, random.below(2) == 0},
                    {}});
  const auto nodes = static_cast<std::uint32_t>(parts.nodes.size());
  std::vector<std::uint32_t> ring;
  for (std::uint32_t n = 0; n < nodes; ++n) ring.push_back(n);
  random.shuffle(ring);
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    Link made = samples::link(from, to);
    made.latency = Time{static_cast<std::int64_t>(random.below(3)) * 250'000};
    made.bandwidth.bytes_per_second *= static_cast<std::int64_t>(1 + random.below(3));
    parts.add_link(made);
  };
  for (std::uint32_t n = 0; n < nodes; ++n) link(ring[n], ring[(n + 1) % nodes]);
  for (std::uint64_t extra = random.below(3 * nodes); extra > 0; --extra) {
    const auto from = static_cast<std::uint32_t>(random.below(nodes));
    const auto to = static_cast<std::uint32_t>(random.below(nodes));
    if (from != to) link(from, to);
  }
  for (std::uint64_t g = random.below(3); g > 0; --g) {
    SharedGroup group{"group" + std::to_string(g), {}, samples::bandwidth};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (random.below(4) == 0) group.links.emplace_back(l);
    if (!group.links.empty()) parts.groups.push_back(std::move(group));
  }
  return Topology(std::move(parts));
}

std::vector<NodeId> random_npus(Random& random, const Topology& topology, std::uint32_t least) {
  std::vector<NodeId> all;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) all.emplace_back(n);
  random.shuffle(all);
  all.resize(least + random.below(all.size() - least + 1));
  std::ranges::sort(all);
  return all;
}

Collective random_custom(Random& random, const Topology& topology) {
  Collective custom;
  CollectivePart part;
  part.group = random_npus(random, topology, topology.npu_count());
  for (std::uint64_t count = 1 + random.below(8); count > 0; --count) {
    const auto set = static_cast<SetId>(custom.sets.size());
    custom.sets.push_back(random_npus(random, topology, 1));
    custom.sets.push_back(random_npus(random, topology, 0));
    const Bytes size{static_cast<std::int64_t>(1000 * (1 + random.below(3)))};
    custom.chunks.push_back({size, set, set + 1, random.below(2) == 0});
    part.size += size;
  }
  part.chunk_count = static_cast<std::uint32_t>(custom.chunks.size());
  custom.parts.push_back(part);
  return custom;
}

/// One to three parts of any kind.
Collective random_collective(Random& random, const Topology& topology) {
  std::vector<Collective> parts;
  for (std::uint64_t count = 1 + random.below(3); count > 0; --count) {
    const CollectiveKind kind = basic_and_custom()[random.below(basic_and_custom().size())];
    if (kind == CollectiveKind::custom) {
      parts.push_back(random_custom(random, topology));
      continue;
    }
    CollectiveSpec spec;
    spec.kind = kind;
    spec.size = Bytes{static_cast<std::int64_t>(10'000 + random.below(10'000))};
    spec.group = random_npus(random, topology, 2);
    random.shuffle(spec.group);
    spec.root = static_cast<std::uint32_t>(random.below(spec.group.size()));
    spec.chunks_per_shard = static_cast<std::uint32_t>(1 + random.below(2));
    parts.push_back(make_collective(topology, spec));
  }
  return merge(parts);
}

} // namespace

TEST_CASE("routing makes correct schedules for anything, anywhere", "[heavy]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Topology topology = random_network(random);
    const Collective collective = random_collective(random, topology);
    TimeModel model = random.below(2) == 0 ? paper() : TimeModel{};
    if (random.below(4) == 0) model.reduce_rate = samples::bandwidth;
    if (random.below(4) == 0) model.forwarding = Forwarding::store_and_forward;
    (void)checked_time(topology, collective, with(model, seed));
  }
}

TEST_CASE("All-to-All is near the bound, and no worse than Direct", "[heavy]") {
  for (const auto& [name, most] :
       {std::pair("mesh2d:5x5", 1.0), std::pair("torus3d:3x3x3", 1.12),
        std::pair("dragonfly:7x8", 1.0), std::pair("fully_connected:9", 1.0),
        std::pair("switch:9", 1.0), std::pair("dgx1", 1.0), std::pair("dgx2", 1.0),
        std::pair("ndv2x2", 1.01), std::pair("hypercube:5", 1.07),
        std::pair("two_level_switch:4x3", 1.01), std::pair("fat_tree:4", 1.14),
        std::pair("dragonfly:4x5,bandwidth=400GB/s+200GB/s", 1.01)}) {
    const Topology topology = make_topology(name);
    const Collective collective = all_to_all(topology);
    const Time time = checked_time(topology, collective, with(paper()));
    const Time bound = lower_bound(topology, collective, paper(), Chunking::given).time;
    INFO(name << ": " << short_text(time) << ", bound " << short_text(bound));
    CHECK(static_cast<double>(time.ps) <= most * static_cast<double>(bound.ps));
    const Schedule direct = samples::schedule_of("direct", topology, collective);
    CHECK(time <= run_native(topology, collective, direct, paper()).completion);
  }
}

TEST_CASE("Gather and Scatter are at the bound of the root's links") {
  for (const char* name : {"mesh2d:4x4", "torus2d:4x5", "hypercube:4", "switch:6", "ring:7"})
    for (const CollectiveKind kind : {CollectiveKind::gather, CollectiveKind::scatter}) {
      const Topology topology = make_topology(name);
      CollectiveSpec spec;
      spec.kind = kind;
      spec.size = Bytes{std::int64_t{topology.npu_count()} << 20};
      const Collective collective = make_collective(topology, spec);
      CHECK(checked_time(topology, collective, with(paper())) ==
            lower_bound(topology, collective, paper(), Chunking::given).time);
    }
}

TEST_CASE("a tree on a switch doubles those who send") {
  const Topology topology = samples::star(8);
  CollectiveSpec spec;
  spec.kind = CollectiveKind::broadcast;
  spec.size = Bytes{1'000'000};
  const Collective collective = make_collective(topology, spec);
  const std::int64_t round = 2 * samples::alpha.ps + 20'000'000;
  CHECK(checked_time(topology, collective, with({})).ps == 3 * round); // 1, 2, 4, 8 have it
}

TEST_CASE("a group's chunks relay over NPUs outside it") {
  const Topology topology = samples::mesh(3, 3);
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_to_all;
  spec.size = Bytes{4'000'000};
  spec.group = {NodeId{0}, NodeId{2}, NodeId{6}, NodeId{8}}; // the four corners
  const Collective collective = make_collective(topology, spec);
  // Two links leave a corner, and each other corner wants a chunk of it: two steps of 20 us; the
  // last is at least two hops away.
  CHECK(checked_time(topology, collective, with({})) <= Time{4 * 20'500'000});
}

TEST_CASE("several collectives share a network") {
  // On a ring of six, one way round for each: two All-to-Alls of disjoint neighbours don't meet.
  const Topology topology = samples::ring(6);
  std::vector<Collective> parts;
  for (const std::uint32_t first : {0U, 3U}) {
    CollectiveSpec spec;
    spec.kind = CollectiveKind::all_to_all;
    spec.size = Bytes{3'000'000};
    for (std::uint32_t i = 0; i < 3; ++i) spec.group.emplace_back(first + i);
    parts.push_back(make_collective(topology, spec));
  }
  const Time alone = checked_time(topology, parts.front(), with({}));
  CHECK(checked_time(topology, merge(parts), with({})) == alone);
}

TEST_CASE("contributions join before a memory that can't reduce") {
  // npu0 and npu1 reach npu2 over a memory only: it can hold one value.
  TopologyParts parts = samples::npus("memory in between", 3);
  const NodeId memory = parts.add_node({"memory", NodeKind::memory, {true, true, false}, {}});
  parts.add_duplex(samples::link(0, 1));
  for (const std::uint32_t npu : {0U, 1U, 2U}) parts.add_duplex(samples::link(npu, memory.value));
  const Topology topology(std::move(parts));
  for (const CollectiveKind kind :
       {CollectiveKind::reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
    CollectiveSpec spec;
    spec.kind = kind;
    spec.size = Bytes{3'000'000};
    spec.root = kind == CollectiveKind::reduce ? 2 : 0;
    (void)checked_time(topology, make_collective(topology, spec), with({}));
  }
}

TEST_CASE("routing: same seed, same schedule") {
  const Topology topology = make_topology("torus2d:4x5");
  const Collective collective = all_to_all(topology, 2);
  const auto schedule = [&](std::uint64_t seed) {
    const SynthesisOptions options = with({}, seed);
    return routed(topology, collective, options, WorkLimit(options))->schedule;
  };
  CHECK(schedule(1) == schedule(1));
  CHECK_FALSE(schedule(1) == schedule(2));
}

TEST_CASE("routing: a limit that passes first leaves nothing") {
  const Topology topology = make_topology("mesh2d:8x8");
  SynthesisOptions options;
  options.limit_seconds = 1e-9;
  CHECK_FALSE(routed(topology, all_to_all(topology), options, WorkLimit(options)));
}

TEST_CASE("routing: what is already where it is wanted stays there") {
  const Topology topology = samples::ring(4);
  Collective collective;
  collective.sets = {{NodeId{0}, NodeId{1}}, {NodeId{1}}};
  collective.chunks = {{Bytes{1000}, 0, 1, false}};
  CollectivePart part;
  part.group = {NodeId{0}, NodeId{1}};
  part.size = Bytes{1000};
  part.chunk_count = 1;
  collective.parts = {part};
  CHECK(checked_time(topology, collective, with({})) == Time{0});
}

} // namespace tacos_routing_test
