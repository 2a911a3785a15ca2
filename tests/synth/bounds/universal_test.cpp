// The bound of any schedule, against all schedules of tiny collectives in 1 to 8 chunks; and what
// both bounds may depend on.
#include "sim/random.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/check.hpp"
#include "tests/catch.hpp"
#include "tests/sim/all_schedules.hpp"
#include "tests/synth/bounds/bound_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::universal_test {
namespace {

using testing::AllSchedules;

Time best_time(const samples::BoundCase& given, Chunking chunking) {
  return best_of(samples::all_bounds(given, chunking)).time;
}

std::int64_t some(Random& random, std::int64_t most) {
  return 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most)));
}

/// `npus` in a row or in a ring, joined directly or, the first two, over a switch, too.
Topology tiny_network(Random& random, std::uint32_t npus, bool one_way) {
  TopologyParts parts;
  for (std::uint32_t n = 0; n < npus; ++n)
    parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
  const auto join = [&](std::uint32_t from, std::uint32_t to) {
    const Link link{NodeId{from}, NodeId{to}, Time{500 * (some(random, 4) - 1)},
                    Bandwidth{1'000'000'000 * some(random, 3)}, -1};
    if (one_way)
      parts.add_link(link);
    else
      parts.add_duplex(link);
  };
  for (std::uint32_t n = 0; n + 1 < npus; ++n) join(n, n + 1);
  if (npus == 2) {
    if (random.below(2) == 0) join(0, 1);
    if (random.below(2) == 0) {
      const bool stores = random.below(3) == 0;
      parts.add_node({"switch", NodeKind::switching, {stores, random.below(2) == 0, false}, {}});
      join(0, 2);
      join(2, 1);
    }
  } else if (random.below(2) == 0) {
    join(0, npus - 1);
  }
  if (random.below(3) == 0) {
    SharedGroup group{"group", {}, Bandwidth{2'000'000'000}};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (parts.links[l].from == NodeId{0}) group.links.emplace_back(l);
    parts.groups.push_back(group);
  }
  return Topology(std::move(parts));
}

struct Optima {
  int found = 0;
  double nearest = 0; ///< of the bound over the optimum
  std::string beaten;
};

/// The optimum in 1 to `most_chunks` chunks against both bounds.
void compare_with_optima(Random& random, std::uint32_t npus, std::uint32_t most_chunks,
                         Optima& optima) {
  const Topology topology = tiny_network(random, npus, true);
  TimeModel model;
  if (random.below(3) == 0) model.link_busy = LinkBusy::latency_and_serialization;
  if (random.below(3) == 0) model.forwarding = Forwarding::cut_through;
  const bool reduces = random.below(2) == 0;
  const Bytes size{840 * some(random, 8)};
  for (std::uint32_t chunks = 1; chunks <= most_chunks; ++chunks) {
    const CollectiveKind kind = reduces ? CollectiveKind::reduce : CollectiveKind::broadcast;
    const samples::BoundCase given{
        topology, make_collective(topology, {kind, size, {}, reduces ? npus - 1 : 0, chunks}),
        model};
    const auto [least, tried] =
        AllSchedules(topology, given.collective, model).best((npus - 1) * chunks);
    if (tried == 0) continue;
    const Time any = best_time(given, Chunking::any), at_chunks = best_time(given, Chunking::given);
    ++optima.found;
    optima.nearest =
        std::max(optima.nearest, static_cast<double>(any.ps) / static_cast<double>(least));
    if ((any.ps > least || at_chunks.ps > least || any > at_chunks) && optima.beaten.empty())
      optima.beaten = fmt::format("{} of {} in {} chunks: {} ps, bounds {} and {}", to_text(kind),
                                  to_text(size), chunks, least, any.ps, at_chunks.ps);
  }
}

Optima optima(std::uint64_t seed, int rounds) {
  Random random(seed);
  Optima result;
  for (int round = 0; round < rounds; ++round) {
    compare_with_optima(random, 2, 8, result);
    compare_with_optima(random, 3, 3, result);
  }
  return result;
}

TEST_CASE("no schedule in 1 to 8 chunks beats the bound of any schedule", "[bounds][heavy]") {
  const Optima result = optima(1, 2);
  CHECK(result.beaten == "");
  CHECK(result.found > 15);
  CHECK(result.nearest > 0.8);
}

TEST_CASE("no schedule in 1 to 8 chunks beats the bound of any schedule at length",
          "[bounds][slow]") {
  for (std::uint64_t seed = 2; seed < 8; ++seed) {
    const Optima result = optima(seed, 20);
    CHECK(result.beaten == "");
    CHECK(result.nearest > 0.9);
  }
}

/// The same network where a link, or a group, is faster or a latency less.
Topology improved(const Topology& topology, Random& random) {
  TopologyParts parts = topology.parts();
  for (std::int64_t changes = some(random, 3); changes > 0; --changes) {
    if (!parts.groups.empty() && random.below(3) == 0) {
      SharedGroup& group = parts.groups[random.below(parts.groups.size())];
      group.bandwidth.bytes_per_second += some(random, group.bandwidth.bytes_per_second);
    }
    Link& link = parts.links[random.below(parts.links.size())];
    if (random.below(2) == 0)
      link.bandwidth.bytes_per_second += some(random, link.bandwidth.bytes_per_second);
    else
      link.latency.ps =
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(link.latency.ps) + 1));
  }
  return Topology(std::move(parts));
}

struct Changes {
  int bounds = 0;
  int lower = 0;       ///< the best ones that a better network lowered
  int higher = 0;      ///< those that it raised, since other cuts were tried there
  std::string refuted; ///< the first proof for the better network that fails for the worse one
};

/// A link counts only in the narrowest of its groups, which may be another in a better network.
bool in_several_groups(const Topology& topology) {
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (topology.groups_of(LinkId{l}).size() > 1) return true;
  return false;
}

Changes after_improvements(std::uint64_t seed, int cases) {
  Random random(seed);
  Changes changes;
  for (int i = 0; i < cases; ++i) {
    const samples::BoundCase given = samples::random_bound_case(random);
    if (in_several_groups(given.topology)) continue;
    const samples::BoundCase better{improved(given.topology, random), given.collective,
                                    given.model};
    for (const Chunking chunking : {Chunking::any, Chunking::given}) {
      const std::vector<Bound> bounds = samples::all_bounds(better, chunking);
      const Time before = best_time(given, chunking), after = best_of(bounds).time;
      ++changes.bounds;
      changes.lower += after < before;
      changes.higher += after > before;
      for (const Bound& bound : bounds) {
        const std::string fault =
            refuted(given.topology, given.collective, given.model, chunking, bound);
        if (fault.empty() || !changes.refuted.empty()) continue;
        changes.refuted =
            fmt::format("seed {}, case {}, {} on {}: {} ps by {} ({}) with more bandwidth or less "
                        "latency, without it {}",
                        seed, i, given.collective.name(), given.topology.name(), bound.time.ps,
                        to_text(bound.kind), bound.certificate, fault);
      }
    }
  }
  return changes;
}

// What proves a bound proves it for all networks with less bandwidth or more latency, too. Which
// cuts are tried depends on the network, so that now and then a better one has a better bound.
TEST_CASE("proofs hold with less bandwidth or more latency, which hardly lowers a bound",
          "[bounds]") {
  const Changes changes = after_improvements(1, 30);
  CHECK(changes.refuted == "");
  CHECK(20 * changes.higher <= changes.bounds);
  CHECK(changes.lower > 10);
}

TEST_CASE("many proofs hold with less bandwidth or more latency", "[bounds][slow]") {
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    const Changes changes = after_improvements(seed, 250);
    CHECK(changes.refuted == "");
    CHECK(20 * changes.higher <= changes.bounds);
  }
}

/// The first bound of any schedule that isn't the same in another number of chunks.
std::string different(std::uint64_t seed, int cases) {
  Random random(seed);
  for (int i = 0; i < cases; ++i) {
    const samples::BoundCase given = samples::random_bound_case(random);
    const CollectivePart& part = given.collective.parts.front();
    const auto n = static_cast<std::int64_t>(part.group.size());
    const Bytes size{n * n * 8 * some(random, 100'000)};
    std::vector<Bound> first;
    for (const std::uint32_t chunks : {1U, 2U, 8U}) {
      const std::vector<Bound> bounds = samples::all_bounds(
          {given.topology,
           make_collective(given.topology, {part.kind, size, part.group, part.root, chunks}),
           given.model},
          Chunking::any);
      if (chunks == 1) first = bounds;
      const bool same = std::ranges::equal(first, bounds, [](const Bound& one, const Bound& other) {
        return one.kind == other.kind && one.time == other.time &&
               one.certificate == other.certificate;
      });
      if (!same)
        return fmt::format("seed {}, case {}: {} of {} on {} in {} chunks", seed, i,
                           to_text(part.kind), to_text(size), given.topology.name(), chunks);
    }
  }
  return "";
}

TEST_CASE("the bound of any schedule doesn't depend on the number of chunks", "[bounds]") {
  CHECK(different(1, 30) == "");
}

TEST_CASE("no bound of many of any schedule depends on the number of chunks", "[bounds][slow]") {
  for (std::uint64_t seed = 2; seed < 6; ++seed) CHECK(different(seed, 500) == "");
}

} // namespace
} // namespace tutti::universal_test
