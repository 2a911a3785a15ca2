// Schedules of Mixture-of-Experts traffic: cases by hand, Birkhoff's stages by their definition,
// and random draws on servers and rails.

#include "algorithms/birkhoff.hpp"
#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace unequal_all_to_all_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

/// Each server a switch of 400 GB/s, each GPU a NIC of 50 GB/s to a rail; no latencies. GPU g of an
/// odd server is on rail g + 1 if `crossed`.
Topology machine(std::uint32_t servers, std::uint32_t gpus, bool crossed = false) {
  TopologyParts parts = npus("machine", servers * gpus);
  const auto add_switch = [&](const std::string& name, std::uint32_t number) {
    return parts.add_node(
        {name + std::to_string(number), NodeKind::switching, {false, false, false}, {}});
  };
  const auto join = [&](std::uint32_t npu, NodeId to, std::int64_t giga) {
    parts.add_duplex({NodeId{npu}, to, Time{0}, Bandwidth{giga * 1'000'000'000}});
  };
  std::vector<NodeId> rails;
  for (std::uint32_t r = 0; r < gpus; ++r) rails.push_back(add_switch("rail", r));
  for (std::uint32_t s = 0; s < servers; ++s) {
    const NodeId inside = add_switch("inside", s);
    for (std::uint32_t g = 0; g < gpus; ++g) {
      join(s * gpus + g, inside, 400);
      join(s * gpus + g, rails[(g + (crossed ? s % 2 : 0)) % gpus], 50);
    }
  }
  return Topology(std::move(parts));
}

struct Demand {
  std::uint32_t from, to;
  std::int64_t bytes;
};

Collective unicast(const Topology& topology, const std::vector<Demand>& demands) {
  Collective collective;
  CollectivePart part;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) {
    collective.sets.push_back({NodeId{n}});
    part.group.push_back(NodeId{n});
  }
  for (const Demand& demand : demands) {
    collective.chunks.push_back({Bytes{demand.bytes}, demand.from, demand.to, false});
    part.size += Bytes{demand.bytes};
  }
  part.chunk_count = static_cast<std::uint32_t>(demands.size());
  collective.parts = {part};
  return collective;
}

/// Pairs of any size up to so many bytes, some of them none; cut into at most three chunks.
std::vector<Demand> random_demands(std::uint32_t npus, std::int64_t most, Random& random) {
  std::vector<Demand> demands;
  for (std::uint32_t from = 0; from < npus; ++from)
    for (std::uint32_t to = 0; to < npus; ++to) {
      const std::uint64_t chunks = random.below(4);
      const auto bytes =
          static_cast<std::int64_t>(1 + random.below(static_cast<std::uint64_t>(most))) >>
          random.below(16);
      for (std::uint64_t k = 0; k < chunks; ++k)
        demands.push_back({from, to, std::max<std::int64_t>(bytes, 1)});
    }
  return demands;
}

Time time_of(std::string_view algorithm, const Topology& topology, const Collective& collective) {
  const Schedule schedule = schedule_of(algorithm, topology, collective);
  CHECK(verify(topology, collective, schedule).correct());
  return run_native(topology, collective, schedule, {}).completion;
}

std::pair<NodeId, NodeId> ends(const Topology& topology, const Schedule& schedule, std::size_t t) {
  const PathId path = schedule.path_of(t);
  return {topology.link(schedule.paths().first(path)).from,
          topology.link(schedule.paths().last(path)).to};
}

} // namespace

TEST_CASE("unequal chunks between two servers take as long as by hand") {
  const Topology topology = machine(2, 2);
  // A MB takes 20 us along a rail, 2.5 us within a server. Two of them from 0 to 2: along rail 0
  // one after the other, or the second one over 1 and 3.
  const Collective hot = unicast(topology, {{0, 2, 1'000'000}, {0, 2, 1'000'000}});
  CHECK(time_of("direct", topology, hot) == Time{40'000'000});
  CHECK(time_of("two_level", topology, hot) == Time{40'000'000});
  CHECK(time_of("fast", topology, hot) == Time{25'000'000});
  // From 0 to 3: first to 1, which is on the rail of 3; `fast` may also take rail 0.
  const Collective across = unicast(topology, {{0, 3, 1'000'000}});
  CHECK(time_of("two_level", topology, across) == Time{22'500'000});
  CHECK(time_of("fast", topology, across) == Time{22'500'000});
  // One each way beside one within: nothing waits.
  const Collective three =
      unicast(topology, {{0, 2, 1'000'000}, {2, 0, 1'000'000}, {0, 1, 1'000'000}, {1, 1, 7}});
  for (const char* algorithm : {"two_level", "fast"})
    CHECK(time_of(algorithm, topology, three) == Time{20'000'000});
}

TEST_CASE("two_level goes to the rail of the destination, then along it") {
  const Topology topology = machine(2, 2);
  const Schedule schedule = schedule_of("two_level", topology, unicast(topology, {{0, 3, 9}}));
  REQUIRE(schedule.size() == 2);
  CHECK(ends(topology, schedule, 0) == std::pair(NodeId{0}, NodeId{1}));
  CHECK(ends(topology, schedule, 1) == std::pair(NodeId{1}, NodeId{3}));
}

TEST_CASE("direct lists chunks of one to one in rotated order") {
  const Topology topology = machine(2, 2);
  const Schedule schedule = schedule_of(
      "direct", topology, unicast(topology, {{0, 3, 9}, {1, 3, 9}, {2, 3, 9}, {3, 0, 9}}));
  std::vector<std::uint32_t> chunks;
  for (std::size_t t = 0; t < schedule.size(); ++t) chunks.push_back(schedule[t].chunk.value);
  CHECK(chunks == std::vector<std::uint32_t>{2, 3, 1, 0}); // 2 > 3, 3 > 0; 1 > 3; 0 > 3
}

TEST_CASE("Birkhoff's stages are partial permutations that carry the matrix") {
  CHECK(birkhoff_stages({0, 2, 3, 0}, 2, {}).stages.size() == 1);
  CHECK(birkhoff_stages({0, 0, 0, 0}, 2, {}).stages.empty());
  Random random(5);
  for (std::uint32_t draw = 0; draw < 60; ++draw) {
    const std::uint32_t n = 2 + draw % 11;
    std::vector<std::int64_t> amounts(std::size_t{n} * n);
    for (std::int64_t& amount : amounts)
      amount = random.below(3) == 0
                   ? 0
                   : static_cast<std::int64_t>(random.below(1'000'000'000)) >> random.below(30);
    std::int64_t most = 0; // of rows and columns
    for (std::uint32_t i = 0; i < n; ++i) {
      std::int64_t row = 0, column = 0;
      for (std::uint32_t j = 0; j < n; ++j) {
        row += amounts[i * n + j];
        column += amounts[j * n + i];
      }
      most = std::max({most, row, column});
    }
    const BirkhoffStages found = birkhoff_stages(amounts, n, {});
    CHECK(found.stages.size() <= std::size_t{n} * n - 2 * n + 2);
    // An augmenting path sees each entry once. On these draws at most three rows a stage are
    // matched anew on average; it could be all n.
    CHECK(found.entries_seen <= 3 * std::uint64_t{n} * n * (found.stages.size() + n));
    std::int64_t sum = 0;
    for (const BirkhoffStage& stage : found.stages) {
      CHECK(stage.amount > 0);
      sum += stage.amount;
      std::vector<std::uint32_t> to = stage.to;
      std::ranges::sort(to);
      for (std::uint32_t i = 0; i < n; ++i) {
        CHECK(to[i] == i);
        amounts[i * n + stage.to[i]] -= stage.amount;
      }
    }
    CHECK(sum == most);
    CHECK(std::ranges::all_of(amounts, [](std::int64_t left) { return left <= 0; }));
  }
}

TEST_CASE("fast gives each rail as much of a pair of servers, within a chunk") {
  for (const bool crossed : {false, true}) {
    const Topology topology = machine(3, 4, crossed);
    Random random(7);
    const Collective collective = unicast(topology, random_demands(12, 1'000'000, random));
    const Schedule schedule = schedule_of("fast", topology, collective);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<std::int64_t, 4>> loads;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> largest;
    for (std::size_t t = 0; t < schedule.size(); ++t) {
      const auto [from, to] = ends(topology, schedule, t);
      const std::pair servers(from.value / 4, to.value / 4);
      if (servers.first == servers.second) continue;
      CHECK(schedule.paths().links(schedule.path_of(t)).size() == 2); // up to its rail, and down
      const std::int64_t bytes = collective.chunks[schedule[t].chunk.value].size.count;
      loads[servers][from.value % 4] += bytes;
      largest[servers] = std::max(largest[servers], bytes);
    }
    CHECK(loads.size() == 6);
    for (const auto& [servers, load] : loads)
      CHECK(std::ranges::max(load) - std::ranges::min(load) <= largest[servers]);
  }
}

TEST_CASE("two_level and fast deliver random traffic, not below the bound") {
  Random random(11);
  for (std::uint32_t draw = 0; draw < 30; ++draw) {
    const std::uint32_t servers = 1 + draw % 4, gpus = 2 + draw % 3;
    // A single server shows itself by its GPUs' model alone.
    TopologyParts parts = machine(servers, gpus, draw % 2 == 1).parts();
    if (servers == 1) parts.npu_model = "h100";
    const Topology topology(std::move(parts));
    const Collective collective =
        unicast(topology, random_demands(servers * gpus, 1'000'000, random));
    const Time bound = lower_bound(topology, collective, {}, Chunking::given).time;
    for (const char* algorithm : {"two_level", "fast"}) {
      INFO(algorithm << " on " << servers << " x " << gpus);
      const Schedule schedule = schedule_of(algorithm, topology, collective);
      const Verdict verdict = verify(topology, collective, schedule);
      INFO((verdict.fault ? verdict.fault->text : ""));
      REQUIRE(verdict.correct());
      CHECK(verdict.redundant == 0);
      CHECK(run_native(topology, collective, schedule, {}).completion >= bound);
    }
  }
}

TEST_CASE("two_level and fast serve groups and named collectives, and say what they can't") {
  const Topology topology = machine(3, 2);
  for (const char* algorithm : {"two_level", "fast"}) {
    INFO(algorithm);
    // Servers without a rail in common, out of order.
    for (const std::vector<NodeId>& group :
         {std::vector<NodeId>{}, {NodeId{0}, NodeId{3}}, {NodeId{5}, NodeId{0}, NodeId{2}}}) {
      const Collective collective =
          make_collective(topology, {CollectiveKind::all_to_all, Bytes{36'000}, group, 0, 2});
      CHECK(verify(topology, collective, schedule_of(algorithm, topology, collective)).correct());
    }
    CHECK(run_baseline(algorithm, mesh(2, 3), unicast(mesh(2, 3), {{0, 1, 9}})).note ==
          "the network shows no servers");
    Collective wide = unicast(topology, {{0, 1, 9}, {0, 1, 9}});
    wide.sets.push_back({NodeId{1}, NodeId{2}});
    wide.chunks[1].destinations = static_cast<SetId>(wide.sets.size() - 1);
    CHECK(run_baseline(algorithm, topology, wide).note ==
          "chunk 1 doesn't go from one NPU to one other");
  }
}

} // namespace unequal_all_to_all_test
