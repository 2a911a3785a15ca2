// Random small networks, algorithms, collectives and events, through every policy: no hang, no
// crash, nothing lost or counted twice, both engines equal.

#include "algorithms/list.hpp"
#include "sim/random.hpp"
#include "sim/repair/recovery.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

using namespace tutti;

namespace {

template <typename T, std::size_t n> T pick(Random& random, const std::array<T, n>& values) {
  return values[random.below(n)];
}

std::uint32_t number_below(Random& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random.below(bound));
}

/// A ring both ways or one way with chords, all with few different rates and latencies; or a star.
Topology random_network(Random& random) {
  const std::uint32_t n = 2 + number_below(random, 7);
  if (random.below(5) == 0) return samples::star(n);
  TopologyParts parts = samples::npus("random", n);
  constexpr std::array<std::int64_t, 3> latencies{0, 500'000, 2'000'000};
  constexpr std::array<std::int64_t, 3> rates{10'000'000'000, 25'000'000'000, 50'000'000'000};
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link(
        {NodeId{from}, NodeId{to}, Time{pick(random, latencies)}, Bandwidth{pick(random, rates)}});
  };
  const bool both_ways = random.below(3) > 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    add(i, (i + 1) % n);
    if (both_ways && n > 2) add((i + 1) % n, i);
  }
  for (std::uint32_t extra = number_below(random, 2 * n); extra > 0; --extra) {
    const std::uint32_t from = number_below(random, n), to = number_below(random, n);
    if (from != to) add(from, to);
  }
  return Topology(std::move(parts));
}

/// Makes sense in order: nothing that is down goes down, nothing happens to the dead.
std::vector<NetworkEvent> random_events(Random& random, const Topology& topology, Time span) {
  using Kind = NetworkEvent::Kind;
  std::set<std::int64_t> times;
  for (std::uint64_t count = 1 + random.below(6); count > 0; --count)
    times.insert(static_cast<std::int64_t>(
        random.below(static_cast<std::uint64_t>(span.ps + span.ps / 4 + 1))));
  NetworkState state(topology);
  std::vector<NetworkEvent> events;
  for (const std::int64_t at : times) {
    NetworkEvent event{Time{at}};
    event.link = LinkId{number_below(random, topology.link_count())};
    event.npu = NodeId{number_below(random, topology.npu_count())};
    const Link& link = topology.link(event.link);
    const bool dead_link = !state.is_up(link.from) || !state.is_up(link.to);
    event.share = Share{pick(random, std::array<std::uint32_t, 4>{1, 100'000, 500'000, 1'000'000})};
    if (event.share.millionths == 1) event.share.millionths = 1'000;
    event.latency = Time{pick(random, std::array<std::int64_t, 3>{0, 700'000, 5'000'000})};
    constexpr std::array kinds{Kind::link_down, Kind::link_down,    Kind::link_down,
                               Kind::link_rate, Kind::link_latency, Kind::npu_down,
                               Kind::npu_rate};
    event.kind = pick(random, kinds);
    if (event.kind == Kind::npu_down || event.kind == Kind::npu_rate) {
      if (!state.is_up(event.npu)) continue;
      event.link = {};
    } else {
      if (dead_link) continue;
      event.npu = {};
      if (!state.is_up(event.link)) event.kind = Kind::link_up;
    }
    state.apply(event);
    events.push_back(event);
  }
  // A flap now and then: what went down comes up again.
  if (!events.empty() && random.below(2) == 0) {
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
      const Link& link = topology.link(LinkId{l});
      if (state.is_up(LinkId{l}) || !state.is_up(link.from) || !state.is_up(link.to)) continue;
      NetworkEvent up{
          Time{events.back().at.ps + 1 +
               static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(span.ps + 1)))}};
      up.kind = Kind::link_up;
      up.link = LinkId{l};
      events.push_back(up);
      break;
    }
  }
  return events;
}

const AlgorithmRow& tacos_row() { return synthesizers().front(); }

struct RepairCase {
  Topology topology;
  Collective collective;
  std::string algorithm;
  Schedule schedule;
  std::vector<NetworkEvent> events;
  Time delay;
};

std::optional<RepairCase> repair_case(Random& random) {
  const Topology topology = random_network(random);
  const auto baselines = baseline_algorithms();
  const std::uint64_t which = random.below(baselines.size() + 1);
  const AlgorithmRow& row = which < baselines.size() ? baselines[which] : tacos_row();
  constexpr std::array kinds{CollectiveKind::all_reduce, CollectiveKind::all_gather,
                             CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                             CollectiveKind::all_to_all};
  const CollectiveKind kind = pick(random, kinds);
  if (std::ranges::find(row.collectives, kind) == row.collectives.end()) return std::nullopt;
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{1'000'000 + static_cast<std::int64_t>(random.below(7))};
  spec.pieces = row.pieces * (1 + number_below(random, 2));
  Collective collective = make_collective(topology, spec);
  Outcome outcome = synthesize(row, topology, collective, {});
  if (outcome.compact) outcome.schedule = expanded(topology, collective, *outcome.compact);
  if (!outcome.schedule) return std::nullopt;
  const Time span = run_native(topology, collective, *outcome.schedule, {}).completion;
  std::vector<NetworkEvent> events = random_events(random, topology, span);
  if (events.empty()) return std::nullopt;
  const std::array<std::int64_t, 4> delays{0, 1'000, span.ps / 10, span.ps / 2};
  return RepairCase{topology,
                    std::move(collective),
                    std::string(row.name),
                    *std::move(outcome.schedule),
                    std::move(events),
                    Time{pick(random, delays)}};
}

bool strongly_connected(const Topology& topology, const NetworkState& state) {
  for (std::uint32_t start = 0; start < topology.npu_count(); ++start) {
    if (!state.is_up(NodeId{start})) continue;
    std::set<NodeId> seen{NodeId{start}};
    for (std::vector<NodeId> open{NodeId{start}}; !open.empty();) {
      const NodeId node = open.back();
      open.pop_back();
      for (const LinkId link : topology.out_links(node))
        if (state.is_up(link) && seen.insert(topology.link(link).to).second)
          open.push_back(topology.link(link).to);
    }
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
      if (state.is_up(NodeId{n}) && !seen.contains(NodeId{n})) return false;
  }
  return true;
}

Recovery recovered(const RepairCase& one, Policy policy, std::string_view engine) {
  const Reaction reaction{policy, one.delay, Time{},
                          [](const Topology& network, const Collective& rest) {
                            return synthesize(tacos_row(), network, rest, {});
                          }};
  return recover(find_engine(engine), one.topology, one.collective, one.schedule, {}, one.events,
                 reaction);
}

/// What must be true of any recovery, and when it must be complete.
void check_recovery(const RepairCase& one, const Recovery& recovery) {
  CHECK(recovery.problem == "");
  CHECK(recovery.complete == recovery.missing.empty());
  CHECK(std::ranges::is_sorted(recovery.progress, {}, &ProgressPoint::at));
  Bytes missing;
  for (const ChunkAt& at : recovery.missing) missing += one.collective.chunks[at.chunk.value].size;
  const Bytes in_place = recovery.progress.empty() ? Bytes{} : recovery.progress.back().in_place;
  CHECK(in_place + missing <= recovery.wanted);

  NetworkState end(one.topology);
  bool died = false, went_down = false;
  for (const NetworkEvent& event : one.events) {
    end.apply(event);
    died = died || event.kind == NetworkEvent::Kind::npu_down;
    went_down = went_down || event.kind == NetworkEvent::Kind::link_down;
  }
  if (!died && !went_down) CHECK(recovery.complete);
  if (!died) CHECK(recovery.lost.empty());
  if (!died && recovery.complete) CHECK(in_place == recovery.wanted);
  const bool connected = strongly_connected(one.topology, end);
  // Where someone died, other routes don't help, and data may be gone from where a restart begins.
  if (connected &&
      (recovery.policy == Policy::resynthesize || (!died && recovery.policy != Policy::report)))
    CHECK(recovery.complete);
}

void check_equal(const Recovery& a, const Recovery& b) {
  CHECK(a.completion == b.completion);
  CHECK(a.missing == b.missing);
  CHECK(a.lost == b.lost);
  CHECK(a.in_vain == b.in_vain);
  REQUIRE(a.segments.size() == b.segments.size());
  for (std::size_t s = 0; s < a.segments.size(); ++s) {
    CHECK(a.segments[s].begin == b.segments[s].begin);
    CHECK(a.segments[s].end == b.segments[s].end);
    CHECK(a.segments[s].delivered == b.segments[s].delivered);
    CHECK(a.segments[s].schedule == b.segments[s].schedule);
  }
}

void check_seeds(std::uint64_t first, std::uint64_t cases, std::uint64_t simgrid_every) {
  std::uint64_t made = 0;
  for (std::uint64_t seed = first; made < cases; ++seed) {
    Random random(seed);
    const std::optional<RepairCase> one = repair_case(random);
    if (!one) continue;
    ++made;
    INFO("seed " << seed << ": " << one->algorithm << ", " << one->collective.name() << ", "
                 << one->topology.npu_count() << " NPUs");
    for (const Policy policy : all_policies()) {
      INFO(to_text(policy));
      const Recovery recovery = recovered(*one, policy, "native");
      check_recovery(*one, recovery);
      if (made % simgrid_every == 0) check_equal(recovery, recovered(*one, policy, "simgrid"));
    }
  }
}

} // namespace

TEST_CASE("random failures, every policy: nothing lost or counted twice, both engines equal",
          "[heavy]") {
  check_seeds(1, 200, 10);
}

TEST_CASE("ten thousand random failures", "[slow]") { check_seeds(100'000, 10'000, 50); }
