// No bound is above what some algorithm reaches, whatever the process groups, networks and time
// models; nor above the best of all schedules, where all can be tried.
#include "sim/random.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/catch.hpp"
#include "tests/sim/all_schedules.hpp"
#include "tests/synth/bounds/bound_cases.hpp"
#include "tests/synth/flows/price_bounds.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace bound_cases_test {

using namespace tutti;

namespace {

/// Three NPUs, 0 and 1 side by side, 2 far away: data pays nothing for a detour that it can't take.
Topology with_long_detour() {
  TopologyParts parts;
  for (const char* name : {"npu0", "npu1", "npu2"}) parts.add_node({name, NodeKind::npu, {}, {}});
  const auto join = [&](std::uint32_t from, std::uint32_t to, std::int64_t latency) {
    parts.add_duplex({NodeId{from}, NodeId{to}, Time{latency}, Bandwidth{1'000'000'000}, -1});
  };
  join(0, 1, 0);
  join(0, 2, 5'000'000);
  join(1, 2, 5'000'000);
  return Topology(std::move(parts));
}

samples::Replays random_replays(std::uint64_t seed, int cases) {
  Random random(seed);
  samples::Replays replays;
  for (int i = 0; i < cases && replays.beaten.empty(); ++i)
    compare(samples::random_bound_case(random), replays);
  return replays;
}

/// Pairs and triples of members, every `step`-th of them; one collective, or two at once.
samples::Replays group_replays(std::uint64_t seed, std::uint64_t step) {
  Random random(seed);
  samples::Replays replays;
  std::uint64_t turn = random.below(step);
  for (const char* text : samples::small_networks()) {
    const Topology topology = make_topology(text);
    const std::uint32_t n = topology.npu_count();
    for (std::uint32_t a = 0; a < n; ++a)
      for (std::uint32_t b = a + 1; b < n; ++b)
        for (std::uint32_t c = b; c < n; ++c) {
          if (turn++ % step != 0) continue;
          std::vector<NodeId> members{NodeId{a}, NodeId{b}};
          if (c > b) members.emplace_back(c);
          const Bytes size{random.below(2) == 0 ? 600 : 65'538};
          for (const CollectiveSpec& spec : samples::collectives_of(members, size, 1)) {
            TimeModel model;
            if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
            Collective collective = make_collective(topology, spec);
            if (random.below(3) == 0) {
              const std::array others{NodeId{(a + 1) % n}, NodeId{(b + 1) % n}};
              const auto more = samples::collectives_of(others, Bytes{262'144}, 1);
              collective = merge(std::array{
                  collective, make_collective(topology, more[random.below(more.size())])});
            }
            compare({random.below(4) == 0 ? topology : samples::redrawn(topology, random),
                     std::move(collective), model},
                    replays);
          }
        }
  }
  return replays;
}

void check_two_members(std::uint64_t seed, int rounds) {
  Random random(seed);
  int reached = 0, cases = 0;
  for (int round = 0; round < rounds; ++round) {
    const Topology topology = samples::redrawn(
        make_topology(random.below(2) == 0 ? "fully_connected:3" : "switch:3"), random);
    const std::array members{NodeId{0}, NodeId{1}};
    for (const CollectiveSpec& spec :
         samples::collectives_of(members, Bytes{round % 2 == 0 ? 600 : 6000}, 1)) {
      const Collective collective = make_collective(topology, spec);
      TimeModel model;
      if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
      if (random.below(3) == 0) model.forwarding = Forwarding::cut_through;
      const auto [time, tried] = testing::AllSchedules(topology, collective, model)
                                     .best(collective.chunks.size() == 4 ? 3 : 4);
      if (tried == 0) continue;
      INFO(round << ", " << collective.name());
      const auto highest_of = [&](Chunking chunking) {
        return best_of(samples::all_bounds({topology, collective, model}, chunking)).time.ps;
      };
      const std::int64_t highest = highest_of(Chunking::given);
      CHECK(highest <= time);
      CHECK(highest_of(Chunking::any) <= highest);
      ++cases;
      reached += highest == time;
    }
  }
  CHECK(cases > 10 * rounds);
  CHECK(reached > cases / 2);
}

} // namespace

TEST_CASE("flow bounds: a detour that is too long carries nothing, rather than less than that") {
  const Topology topology = with_long_detour();
  const std::array members{NodeId{0}, NodeId{1}};
  for (const CollectiveSpec& spec : samples::collectives_of(members, Bytes{1000}, 1)) {
    INFO(to_text(spec.kind));
    samples::Replays replays;
    compare({topology, make_collective(topology, spec), {}}, replays);
    CHECK(replays.beaten == "");
    CHECK(replays.disordered == "");
    CHECK(replays.reached == 1); // over the direct link
  }
  // 14 chunks of 1 us: the detour carries from 6 us on, so that 10 + 4 of the 14 are over at 10 us.
  const Collective longer = make_collective(
      topology, {CollectiveKind::gather, Bytes{28'000}, {members.begin(), members.end()}, 1, 14});
  const std::vector<Bound> bounds = testing::flow_bounds(topology, longer, {}, Chunking::given);
  REQUIRE(bounds.size() == 1);
  CHECK(bounds.front().time >= Time{9'999'999});
  CHECK(bounds.front().time <= Time{10'000'000});
}

TEST_CASE("the best of all schedules of two members doesn't beat a bound", "[heavy]") {
  check_two_members(6, 20);
}

TEST_CASE("the best of many schedules of two members doesn't beat a bound", "[slow]") {
  for (std::uint64_t seed = 7; seed < 11; ++seed) check_two_members(seed, 40);
}

TEST_CASE("no algorithm beats a bound on random networks and process groups", "[heavy]") {
  const samples::Replays replays = random_replays(1, 25);
  CHECK(replays.beaten == "");
  CHECK(replays.disordered == "");
  CHECK(replays.count > 120);
  CHECK(replays.reached > 5);
}

TEST_CASE("no algorithm beats a bound on many random networks and process groups", "[slow]") {
  for (std::uint64_t seed = 2; seed < 10; ++seed) {
    INFO("seed " << seed);
    const samples::Replays replays = random_replays(seed, 1000);
    CHECK(replays.beaten == "");
    CHECK(replays.disordered == "");
    CHECK(replays.reached > 250);
  }
}

TEST_CASE("no algorithm beats a bound for pairs and triples of members") {
  const samples::Replays replays = group_replays(1, 1400);
  CHECK(replays.beaten == "");
  CHECK(replays.count > 30);
}

TEST_CASE("no algorithm beats a bound for any pair and triple of members", "[slow]") {
  CHECK(group_replays(2, 1).beaten == "");
}

} // namespace bound_cases_test
