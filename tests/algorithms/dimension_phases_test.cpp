// Hierarchical and Themis: correct on every grid, with the traffic and times that their rules give
// by hand.

#include "algorithms/dimension_phases.hpp"
#include "algorithms/member_grid.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <set>

namespace dimension_phases_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

constexpr std::string_view both[] = {"hierarchical", "themis"};
constexpr CollectiveKind kinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_reduce};

TimeModel cut_through() {
  TimeModel model;
  model.forwarding = Forwarding::cut_through;
  return model;
}

/// `chunks` of the whole buffer, each of two pieces.
Collective all_reduce(const Topology& topology, std::int64_t size, std::uint32_t chunks) {
  return make_collective(topology, {CollectiveKind::all_reduce, Bytes{size}, {}, 0, 2 * chunks});
}

Report replay(std::string_view name, const Topology& topology, const Collective& collective) {
  return run_native(topology, collective, schedule_of(name, topology, collective), cut_through());
}

/// The different numbers of bytes that links along a dimension carry.
std::set<std::int64_t> bytes_along(int dimension, const Topology& topology, const Report& report) {
  std::set<std::int64_t> bytes;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (topology.link(LinkId{l}).dimension == dimension) bytes.insert(report.links[l].bytes.count);
  return bytes;
}

std::vector<NodeId> nodes(std::initializer_list<std::uint32_t> ids) {
  std::vector<NodeId> found;
  for (const std::uint32_t id : ids) found.push_back(NodeId{id});
  return found;
}

void check(std::string_view name, const Topology& topology, const Collective& collective) {
  INFO(name << " for " << collective.name() << " on " << topology.name() << " in "
            << collective.parts[0].chunks_per_shard);
  const Schedule schedule = schedule_of(name, topology, collective);
  const Verdict verdict = verify(topology, collective, schedule);
  INFO((verdict.fault ? verdict.fault->text : ""));
  REQUIRE(verdict.correct());
  CHECK(verdict.redundant == 0);
  const Time time = run_native(topology, collective, schedule, {}).completion;
  CHECK(time >= lower_bound(topology, collective, {}, Chunking::given).time);
  CHECK(time == run_simgrid(topology, collective, schedule, {}).completion);
}

} // namespace

TEST_CASE("collectives by dimensions are correct on grids of every kind", "[heavy]") {
  for (const std::string text : {"torus2d:3x3", "torus2d:2x4", "torus3d:3x3x3", "torus3d:2x3x4",
                                 "mesh2d:3x5", "mesh3d:2x3x4", "mesh3d:3x1x2", "rfs:2x4x3",
                                 "rfs:4x3x2", "hypercube:3", "two_level_switch:4x3", "ring:6",
                                 "fully_connected:5", "switch:5", "torus2d:4x3,directions=1"}) {
    const Topology topology = make_topology(text + ",bandwidth=25GB/s,latency=0.5us");
    for (const std::string_view name : both)
      for (const CollectiveKind kind : kinds)
        for (const std::uint32_t chunks_per_shard : {1U, 5U})
          check(name, topology,
                make_collective(topology, {kind, Bytes{9973}, {}, 0, chunks_per_shard}));
  }
}

TEST_CASE("groups that are grids of their own take part, in any order of their members") {
  // NPU = x + 3 * (y + 4 * z)
  const Topology topology = make_topology("torus3d:3x4x2,bandwidth=25GB/s,latency=0.5us");
  for (const auto& group : {nodes({9, 0, 2, 11}),                // x in {0, 2}, y in {0, 3}
                            nodes({1, 4, 7, 10}),                // a line along y
                            nodes({12, 3, 15, 0, 4, 1, 13, 16}), // x, y and z in {0, 1}
                            nodes({5, 17})})                     // a line along z
    for (const std::string_view name : both)
      for (const CollectiveKind kind : kinds)
        check(name, topology, make_collective(topology, {kind, Bytes{9973}, group, 0, 4}));
}

TEST_CASE("without a link, lines go another way") {
  const Topology topology = mesh_without_a_link(2, 4);
  for (const std::string_view name : both)
    check(name, topology, make_collective(topology, {CollectiveKind::all_reduce, Bytes{9973}, {}}));
}

TEST_CASE("what isn't a grid has no dimensions to go by") {
  const Topology grid = mesh(2, 4); // NPU = 4 * row + column
  const auto note = [](const Topology& topology, std::vector<NodeId> group) {
    const Outcome outcome = run_baseline(
        "themis", topology,
        make_collective(topology, {CollectiveKind::all_reduce, Bytes{1000}, std::move(group)}));
    CHECK(outcome.status == Status::unsupported);
    return outcome.note;
  };
  CHECK(note(full(5), {}) == "full5 has no coordinates");
  CHECK(note(grid, nodes({0, 1, 4})) ==
        "the 3 NPUs don't fill the grid that they span in mesh2x4 (2x2)");
  CHECK(note(grid, nodes({0, 5})) ==
        "the 2 NPUs don't fill the grid that they span in mesh2x4 (2x2)");
  const std::vector<NodeId> gone = nodes({5});
  const Topology holed = without(grid, gone, {});
  CHECK(note(holed, {}).starts_with("the 7 NPUs don't fill the grid that they span in"));
  const Collective row =
      make_collective(holed, {CollectiveKind::all_reduce, Bytes{1000}, nodes({0, 1, 2, 3}), 0, 2});
  CHECK(verify(holed, row, schedule_of("themis", holed, row)).correct());
}

TEST_CASE("in one dimension, times are those of ring and direct exchange") {
  const std::int64_t a = 500'000, D = 9'000'000 * 40; // 0.5 us; 9 MB at 25 GB/s
  const auto time = [](const std::string& topology_text, std::uint32_t chunks_per_shard) {
    const Topology topology = make_topology(topology_text + ",bandwidth=25GB/s,latency=0.5us");
    const Collective collective = make_collective(
        topology, {CollectiveKind::all_reduce, Bytes{9'000'000}, {}, 0, chunks_per_shard});
    const Time found = replay("hierarchical", topology, collective).completion;
    CHECK(replay("themis", topology, collective).completion == found);
    return found.ps;
  };
  CHECK(time("ring:6", 2) == 2 * 5 * (a + D / 12)); // half each way
  CHECK(time("ring:6", 1) == 2 * 5 * (a + D / 6));  // one way
  CHECK(time("fully_connected:5", 1) == 2 * (a + D / 5));
}

TEST_CASE("latencies add up along rings, one dimension after the other") {
  // Rings of 4 and 5: 3 + 4 steps there and back. A piece is a byte, of a picosecond.
  const Topology topology = make_topology("torus2d:4x5,bandwidth=1000GB/s,latency=1us");
  const Report report = replay("hierarchical", topology, all_reduce(topology, 40, 1));
  CHECK(report.completion.ps >= 14 * 1'000'000);
  CHECK(report.completion.ps <= 14 * 1'000'000 + 2 * 40);
}

TEST_CASE("hierarchical loads dimension k with (n_k - 1) / (n_1 ... n_k) of the buffer") {
  const std::int64_t size = 2 * 24 * 1000;
  for (const std::string text : {"torus3d:2x3x4", "torus3d:4x3x2"}) {
    const Topology topology = make_topology(text + ",bandwidth=25GB/s,latency=0.5us");
    const Report report = replay("hierarchical", topology, all_reduce(topology, size, 1));
    std::int64_t rest = size;
    for (int d = 0; d < 3; ++d) {
      const int n = topology.shape()[static_cast<std::size_t>(d)];
      const std::int64_t sent = 2 * (rest - rest / n), links = n == 2 ? 1 : 2;
      CHECK(bytes_along(d, topology, report) == std::set<std::int64_t>{sent / links});
      rest /= n;
    }
  }
}

TEST_CASE("many chunks keep hierarchical's first dimension busy all the time") {
  const Topology topology = make_topology("torus3d:4x4x4,bandwidth=25GB/s,latency=0.5us");
  const Time time =
      replay("hierarchical", topology, all_reduce(topology, 64'000'000, 8)).completion;
  const std::int64_t first_dimension = 2 * 64'000'000LL * 40 * 3 / 4 / 2; // two links, two phases
  CHECK(time.ps >= first_dimension);
  CHECK(time.ps <= first_dimension * 102 / 100);
}

TEST_CASE("themis gives each chunk the order that its rule says") {
  SECTION("4 chunks on 4x4x4") {
    // In 64ths of a chunk an order loads its dimensions with 48, 12, 3: 0 1 2 gives 48 12 3, then
    // 2 1 0: 51 24 51, 1 0 2: 63 72 54, 2 0 1: 75 75 102. There and back, over two links.
    const Topology topology = make_topology("torus3d:4x4x4,bandwidth=25GB/s,latency=0.5us");
    const std::int64_t chunk = 128 * 1000;
    const Report report = replay("themis", topology, all_reduce(topology, 4 * chunk, 4));
    CHECK(bytes_along(0, topology, report) == std::set<std::int64_t>{75 * chunk / 64});
    CHECK(bytes_along(1, topology, report) == std::set<std::int64_t>{75 * chunk / 64});
    CHECK(bytes_along(2, topology, report) == std::set<std::int64_t>{102 * chunk / 64});
  }
  SECTION("loads that differ by less than a 16th of a chunk are left in order") {
    // 0 1, then 1 0: 3/4 of a chunk each, so that dimension 1, 1 % faster, is 0.7 % of a chunk
    // ahead; 0 1 again.
    const Topology topology = make_topology("torus2d:2x2,bandwidth=100GB/s+101GB/s,latency=0.5us");
    const std::int64_t chunk = 8000;
    const Report report = replay("themis", topology, all_reduce(topology, 3 * chunk, 3));
    CHECK(bytes_along(0, topology, report) == std::set<std::int64_t>{2 * 5 * chunk / 4});
    CHECK(bytes_along(1, topology, report) == std::set<std::int64_t>{2 * 4 * chunk / 4});
  }
}

TEST_CASE("themis in many chunks keeps all dimensions as busy and beats hierarchical", "[heavy]") {
  const auto compare = [](const std::string& text, std::int64_t limit) {
    const Topology topology = make_topology(text);
    const Collective collective = all_reduce(topology, 64'000'000, 64);
    const Report report = replay("themis", topology, collective);
    const std::vector<double> busy = utilisation(report);
    CHECK(*std::ranges::min_element(busy) > 0.95);
    CHECK(report.completion.ps >= limit);
    CHECK(report.completion.ps <= limit * 103 / 100);
    return replay("hierarchical", topology, collective).completion.seconds() /
           report.completion.seconds();
  };
  SECTION("six links of 25 GB/s: 2 (1 - 1/64) S / 6B; hierarchical uses two of them") {
    const double ratio = compare("torus3d:4x4x4,bandwidth=25GB/s,latency=0.1us",
                                 2 * 64'000'000LL * 40 * 63 / 64 / 6);
    CHECK(ratio == Approx(3 * 0.75 / (63.0 / 64)).epsilon(0.03));
  }
  SECTION("unequal dimensions: 2 links of 50 and 2 of 25 GB/s are 150") {
    const double ratio = compare("torus2d:4x4,bandwidth=50GB/s+25GB/s,latency=0.1us",
                                 2 * 64'000'000LL * 20 * 15 / 16 / 3);
    CHECK(ratio == Approx(0.75 / (15.0 / 16 * 2 / 3)).epsilon(0.03));
  }
}

TEST_CASE("an unwrapped line is a ring whose last hop crosses it, or exchanges directly") {
  const Topology line = make_topology("mesh2d:5x1,bandwidth=25GB/s,latency=0.5us");
  const Collective collective =
      make_collective(line, {CollectiveKind::all_gather, Bytes{10'000}, {}, 0, 2});
  const auto bytes = [&](const std::string& setting) {
    SynthesisOptions options;
    if (!setting.empty()) options.settings["line"] = setting;
    const Outcome outcome = synthesize(baseline("hierarchical"), line, collective, options);
    REQUIRE(outcome.schedule);
    CHECK(verify(line, collective, *outcome.schedule).redundant == 0);
    return bytes_along(0, line, run_native(line, collective, *outcome.schedule, {}));
  };
  // 4 of 5 shards, half of each forward and half of it on its way back to the start.
  CHECK(bytes("") == std::set<std::int64_t>{4 * 2000});
  CHECK(bytes("ring") == bytes(""));
  // Behind the k-th NPU k shards go to 5 - k others.
  CHECK(bytes("direct") == std::set<std::int64_t>{1 * 4 * 2000, 2 * 3 * 2000});
  CHECK_THROWS_WITH(bytes("star"), ContainsSubstring("unknown line \"star\" (known: ring, direct"));
}

TEST_CASE("a member grid counts the coordinates that members have") {
  const Topology topology = mesh(3, 5); // NPU = 5 * row + column
  const MemberGridSearch search = find_member_grid(topology, nodes({14, 1, 11, 4}));
  REQUIRE(search.obstacle.empty());
  const MemberGrid& grid = search.grid;
  REQUIRE(grid.axes.size() == 2);
  CHECK(grid.axes[0].extent == 2); // rows 0 and 2
  CHECK(grid.axes[1].extent == 2); // columns 1 and 4
  CHECK(grid.rank_at == std::vector<Rank>{1, 2, 3, 0});
  CHECK(grid.coordinate(2, 0) == 0);
  CHECK(grid.coordinate(2, 1) == 1);
  CHECK(find_member_grid(topology, nodes({6, 8})).grid.axes.size() == 1);
}

} // namespace dimension_phases_test
