// Both engines against the slow replay, on random cases with random disturbances and on schedules
// of real algorithms.

#include "tests/sim/slow_replay.hpp"

#include "algorithms/list.hpp"
#include "sim/engines/agreement.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"
#include "tests/sim/random_disturbance.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace slow_replay_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

auto values(const StuckTransfer& stuck) {
  return std::tuple(stuck.transfer, stuck.why, stuck.link, stuck.since, stuck.awaited);
}
auto values(const LinkUse& use) { return std::tuple(use.bytes, use.busy, use.transfers); }

template <typename T> bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return values(x) == values(y); });
}

struct Counts {
  std::size_t delivered = 0, stuck = 0, differing = 0;
  std::size_t runs = 0, apart = 0; ///< simgrid from native, by more than rounding
};

void compare(const RandomCase& c, const Disturbance& disturbance, Counts& counts) {
  const RunOptions options = disturbance.options();
  const SlowReport slow = slow_replay(c.topology, c.collective, c.schedule, c.model, options);
  std::vector<Time> deliveries; // as engines give them
  for (const std::optional<Time>& delivery : slow.deliveries) {
    deliveries.push_back(delivery.value_or(Time{}));
    ++(delivery ? counts.delivered : counts.stuck);
  }
  const Report report = run_both(c.topology, c.collective, c.schedule, c.model, options);
  ++counts.runs;
  counts.apart += report.agreement->holds ? 0 : 1;
  if (report.deliveries == deliveries && same(report.stuck, slow.stuck) &&
      same(report.links, slow.links) && report.quiet == slow.quiet &&
      report.completion == slow.completion)
    return;
  ++counts.differing;
  UNSCOPED_INFO("native differs from the slow replay");
}

Counts compare_random(std::uint64_t first, std::uint64_t last) {
  Counts counts;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    RandomCase c = random_case(seed, false);
    make_whole(c);
    const Disturbance disturbance = random_disturbance(seed, c);
    const std::size_t before = counts.differing;
    compare(c, disturbance, counts);
    if (counts.differing > before) UNSCOPED_INFO("seed " << seed);
  }
  return counts;
}

/// Two collectives at once, by one algorithm.
RandomCase algorithm_case(const Topology& topology, CollectiveKind kind,
                          SynthesisFunction algorithm) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{60'000};
  spec.chunks_per_shard = 2;
  const Collective one = make_collective(topology, spec);
  const Schedule part = *algorithm(topology, one, {}).schedule;
  Schedule both(topology.link_count());
  for (std::uint32_t job = 0; job < 2; ++job)
    for (std::size_t i = 0; i < part.size(); ++i) {
      Transfer transfer = part[i];
      transfer.chunk.value += job * static_cast<std::uint32_t>(one.chunks.size());
      transfer.path = both.paths().intern(part.paths().links(transfer.path));
      both.push(transfer);
    }
  const std::array<Collective, 2> twice{one, one};
  return {topology, merge(twice), std::move(both), {}};
}

} // namespace

TEST_CASE("undisturbed, the slow replay gives what engines give") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const RandomCase c = random_case(seed, false);
    INFO("seed " << seed);
    const Report report =
        run_native(c.topology, c.collective, c.schedule, c.model, {.record_deliveries = true});
    const SlowReport slow = slow_replay(c.topology, c.collective, c.schedule, c.model, {});
    REQUIRE(slow.stuck.empty());
    for (std::size_t i = 0; i < report.deliveries.size(); ++i)
      CHECK(slow.deliveries[i] == report.deliveries[i]);
  }
}

TEST_CASE("both engines and the slow replay agree on disturbed cases", "[heavy]") {
  const Counts counts = compare_random(1, 300);
  CHECK(counts.differing == 0);
  CHECK(counts.apart <= counts.runs / 20);
  CHECK(counts.delivered > 2000);
  CHECK(counts.stuck > 1000);
}

TEST_CASE("both engines and the slow replay agree on 10,000 disturbed cases", "[slow]") {
  const Counts counts = compare_random(301, 10'300);
  CHECK(counts.differing == 0);
  CHECK(counts.apart <= counts.runs / 20);
}

TEST_CASE("both engines and the slow replay agree on disturbed schedules of algorithms",
          "[heavy]") {
  Counts counts;
  std::uint64_t seed = 1;
  for (const Topology& topology : {samples::ring(4), samples::star(4), samples::uneven_mesh(2, 3)})
    for (const SynthesisFunction algorithm : {ring, direct})
      for (const CollectiveKind kind :
           {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
        INFO(topology.name() << ", " << to_text(kind));
        for (int disturbed = 0; disturbed < 2; ++disturbed) {
          RandomCase c = algorithm_case(topology, kind, algorithm);
          const Disturbance disturbance = random_disturbance(seed++, c);
          compare(c, disturbance, counts);
          REQUIRE(counts.differing == 0);
        }
      }
  CHECK(counts.apart <= counts.runs / 20);
  CHECK(counts.delivered > 1000);
}

} // namespace slow_replay_test
