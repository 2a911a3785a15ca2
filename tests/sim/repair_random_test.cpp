// Random small networks, algorithms, collectives (with roots and groups, one or two at once), time
// models, events and late starts, through every policy: no hang, no crash, nothing lost or counted
// twice, both engines equal. And every history that is spoilt somewhere is found out.

#include "algorithms/list.hpp"
#include "sim/engines/late_starts.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "sim/repair/history_check.hpp"
#include "sim/repair/recovery.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/pick.hpp"
#include "tests/samples.hpp"
#include "tests/sim/repair_samples.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace repair_random_test {

using namespace tutti;
using testing::pick;

namespace {

std::uint32_t number_below(Random& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random.below(bound));
}

/// A ring both ways or one way with chords, all with few different rates and latencies; or a star.
Topology random_network(Random& random) {
  const std::uint32_t n = 2 + number_below(random, 7);
  if (random.below(6) == 0) return samples::star(n);
  if (random.below(6) == 0)
    return Topology(samples::mesh_parts(1 + static_cast<int>(random.below(3)),
                                        2 + static_cast<int>(random.below(2))));
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
  TimeModel model;
  std::vector<NetworkEvent> events;
  Time delay;
  std::vector<Time> starts; ///< per node, or empty
};

/// Nobody starts late, or some do: early, late, after what would be the end, or with an event.
std::vector<Time> random_starts(Random& random, const Topology& topology, Time span,
                                std::span<const NetworkEvent> events) {
  if (random.below(2) == 0) return {};
  std::vector<Time> starts(topology.node_count());
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    if (random.below(2) == 0)
      starts[n] =
          pick(random, std::array<Time, 5>{Time{1 + static_cast<std::int64_t>(random.below(9))},
                                           Time{span.ps / 4}, Time{span.ps / 2}, Time{2 * span.ps},
                                           events[random.below(events.size())].at});
  return starts;
}

/// Of all kinds, among all NPUs or some; nothing where the algorithm doesn't know it.
std::optional<Collective> random_collective(Random& random, const Topology& topology,
                                            const AlgorithmRow& row) {
  std::vector<Collective> parts;
  for (std::uint64_t count = random.below(8) == 0 ? 2 : 1; count > 0; --count) {
    const auto kinds = basic_collectives();
    CollectiveSpec spec;
    spec.kind = kinds[random.below(kinds.size())];
    if (std::ranges::find(row.collectives, spec.kind) == row.collectives.end()) return std::nullopt;
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
      if (random.below(4) > 0) spec.group.emplace_back(n);
    if (spec.group.size() < 2 || random.below(2) == 0) spec.group.clear();
    const std::size_t members = spec.group.empty() ? topology.npu_count() : spec.group.size();
    if (has_root(spec.kind)) spec.root = number_below(random, static_cast<std::uint32_t>(members));
    spec.size = Bytes{1'000'000 + static_cast<std::int64_t>(random.below(7))};
    spec.chunks_per_shard = row.chunk_multiple * (1 + number_below(random, 2));
    parts.push_back(make_collective(topology, spec));
  }
  return parts.size() == 1 ? parts.front() : merge(parts);
}

TimeModel random_model(Random& random) {
  TimeModel model;
  if (random.below(3) == 0) model.link_busy = LinkBusy::latency_and_serialization;
  if (random.below(4) == 0) model.forwarding = Forwarding::cut_through;
  if (random.below(4) == 0) model.forwarding = Forwarding::store_and_forward;
  if (random.below(4) == 0) model.reduce_rate = Bandwidth{20'000'000'000};
  return model;
}

std::optional<RepairCase> repair_case(Random& random) {
  const Topology topology = random_network(random);
  const auto baselines = baseline_algorithms();
  const std::uint64_t which = random.below(baselines.size() + 1);
  const AlgorithmRow& row = which < baselines.size() ? baselines[which] : tacos_row();
  std::optional<Collective> drawn = random_collective(random, topology, row);
  if (!drawn) return std::nullopt;
  Collective collective = *std::move(drawn);
  const TimeModel model = random_model(random);
  SynthesisOptions options;
  options.model = model;
  Outcome outcome;
  try {
    outcome = synthesize(row, topology, collective, options);
  } catch (const InputError&) { // not for several at once, say
    return std::nullopt;
  }
  if (outcome.compact) outcome.schedule = expanded(topology, collective, *outcome.compact);
  if (!outcome.schedule) return std::nullopt;
  const Time span = run_native(topology, collective, *outcome.schedule, model).completion;
  std::vector<NetworkEvent> events = random_events(random, topology, span);
  if (events.empty()) return std::nullopt;
  const std::array<std::int64_t, 4> delays{0, 1'000, span.ps / 10, span.ps / 2};
  const Time delay{pick(random, delays)};
  std::vector<Time> starts = random_starts(random, topology, span, events);
  return RepairCase{topology,
                    std::move(collective),
                    std::string(row.name),
                    *std::move(outcome.schedule),
                    model,
                    std::move(events),
                    delay,
                    std::move(starts)};
}

Recovery recovered(const RepairCase& one, Policy policy, std::string_view engine) {
  const Reaction reaction{policy,
                          one.delay,
                          Time{},
                          [&one](const Topology& network, const Collective& rest) {
                            SynthesisOptions options;
                            options.model = one.model;
                            return synthesize(tacos_row(), network, rest, options);
                          },
                          {},
                          beaten_bound,
                          one.starts};
  return recover(find_engine(engine), one.topology, one.collective, one.schedule, one.model,
                 one.events, reaction);
}

/// Of members that no event has killed that counts.
Time last_start_of_living(const RepairCase& one, const Recovery& recovery) {
  std::vector<Time> starts = one.starts;
  for (std::size_t e = 0; e < recovery.events_counted && !starts.empty(); ++e)
    if (one.events[e].kind == NetworkEvent::Kind::npu_down)
      starts[one.events[e].npu.value] = Time{};
  return last_start(one.collective, starts);
}

/// What must be true of any recovery, and when it must be complete.
void check_recovery(const RepairCase& one, const Recovery& recovery) {
  CHECK(recovery.problem == "");
  CHECK((recovery.ending == Ending::incomplete) == !recovery.missing.empty());
  CHECK((recovery.complete() ? recovery.completion > Time{} : true));
  CHECK((recovery.complete() ? recovery.completion >= last_start_of_living(one, recovery) : true));
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
  if (!died && !went_down) CHECK(recovery.complete());
  if (!died) CHECK(recovery.lost.empty());
  for (const ChunkAt& lost : recovery.lost) CHECK_FALSE(end.is_up(lost.npu));
  if (!died && recovery.complete()) CHECK(in_place == recovery.wanted);
  const bool connected = repair_samples::strongly_connected(one.topology, end);
  // Where someone died, other routes don't help, and data may be gone from where a restart begins.
  if (connected &&
      (recovery.policy == Policy::resynthesize || (!died && recovery.policy != Policy::report)))
    CHECK(recovery.ending != Ending::incomplete);
}

/// A recovery with what is said of it, both of which can be spoilt.
struct Told {
  const RepairCase& one;
  Recovery recovery;
  std::vector<NetworkEvent> events;
  std::vector<Time> starts;

  [[nodiscard]] bool is_believed() const {
    return !check_history(
        one.topology, one.collective,
        {recovery.segments, recovery.deliveries, events, recovery.route_changes, starts},
        {recovery.ending, recovery.completion, recovery.lost, recovery.missing,
         recovery.events_counted});
  }
};

/// Some delivered transfer, as (segment, transfer); nothing where there is none.
std::optional<std::pair<std::size_t, std::uint32_t>> random_delivery(Random& random,
                                                                     const Recovery& recovery) {
  std::vector<std::pair<std::size_t, std::uint32_t>> all;
  for (std::size_t s = 0; s < recovery.segments.size(); ++s)
    for (std::uint32_t i = 0; i < recovery.segments[s].schedule.size(); ++i)
      if (recovery.segments[s].delivered[i]) all.emplace_back(s, i);
  if (all.empty()) return std::nullopt;
  return all[random.below(all.size())];
}

/// Spoils what happened or what is said of it in one of many ways, each of which makes it wrong.
/// False where there is nothing to spoil in that way.
bool spoil(Random& random, Told& told, std::uint64_t way) {
  Recovery& recovery = told.recovery;
  const RepairCase& one = told.one;
  const auto delivery = random_delivery(random, recovery);
  NetworkState end(one.topology);
  for (const NetworkEvent& event : one.events) end.apply(event);
  const auto ends = [&](const Segment& segment, std::uint32_t i) {
    const PathId path = segment.schedule.path_of(i);
    return std::pair{one.topology.link(segment.schedule.paths().first(path)).from,
                     one.topology.link(segment.schedule.paths().last(path)).to};
  };
  switch (way) {
  case 0: // the last delivery that someone wanted didn't take place
    for (std::size_t s = 0; s < recovery.segments.size(); ++s)
      for (std::uint32_t i = 0; i < recovery.segments[s].schedule.size(); ++i) {
        Segment& segment = recovery.segments[s];
        const ChunkId chunk = segment.chunk[segment.schedule[i].chunk.value];
        const auto wanted = one.collective.destinations(chunk);
        if (!segment.delivered[i] || s + 1 < recovery.segments.size() || !recovery.complete() ||
            recovery.deliveries[s][i] != recovery.completion ||
            std::ranges::find(wanted, ends(segment, i).second) == wanted.end() ||
            !end.is_up(ends(segment, i).second))
          continue;
        segment.delivered[i] = false;
        return true;
      }
    return false;
  case 1: { // a reduction once more, when it is over
    if (!delivery) return false;
    Segment& segment = recovery.segments[delivery->first];
    const Transfer again = segment.schedule[delivery->second];
    if (again.op != Op::reduce) return false;
    segment.schedule.push({again.chunk, again.path, again.op, false});
    segment.delivered.push_back(true);
    recovery.deliveries[delivery->first].push_back(segment.end);
    return true;
  }
  case 2: // at once
    if (!delivery) return false;
    recovery.deliveries[delivery->first][delivery->second] =
        recovery.segments[delivery->first].begin;
    return true;
  case 3: { // by one who was dead
    if (!delivery) return false;
    NetworkEvent death{Time{}, NetworkEvent::Kind::npu_down, {}, {}, {}, {}};
    death.npu = ends(recovery.segments[delivery->first], delivery->second).first;
    if (death.npu.value >= one.topology.npu_count()) return false;
    told.events.insert(told.events.begin(), death);
    ++recovery.events_counted;
    return true;
  }
  case 4: { // over a link that was down
    if (!delivery || !recovery.route_changes.empty()) return false;
    const Segment& segment = recovery.segments[delivery->first];
    const LinkId link = segment.schedule.paths().first(segment.schedule.path_of(delivery->second));
    if (std::ranges::find(told.events, link, &NetworkEvent::link) != told.events.end())
      return false;
    told.events.insert(told.events.begin(),
                       {Time{}, NetworkEvent::Kind::link_down, link, {}, {}, {}});
    ++recovery.events_counted;
    return true;
  }
  case 5: { // something is lost that an NPU has which lives, or nothing is said of what is
    if (!recovery.lost.empty() && random.below(2) == 0) {
      recovery.lost.erase(recovery.lost.begin() +
                          static_cast<std::ptrdiff_t>(random.below(recovery.lost.size())));
      // Of data that several held at first one name says it all.
      return std::ranges::all_of(one.collective.chunks, [&](const Chunk& chunk) {
        return chunk.reduces || one.collective.sets[chunk.sources].size() == 1;
      });
    }
    const ChunkId chunk{
        number_below(random, static_cast<std::uint32_t>(one.collective.chunks.size()))};
    const NodeId npu = one.collective.sources(chunk).front();
    if (!end.is_up(npu)) return false;
    recovery.lost.push_back({chunk, npu});
    std::ranges::sort(recovery.lost);
    return true;
  }
  case 6: // another time
    recovery.completion.ps += random.below(2) == 0 ? 1 : -1;
    return true;
  case 7: { // another ending
    constexpr std::array endings{Ending::complete, Ending::incomplete, Ending::no_destination,
                                 Ending::nothing_left};
    const Ending ending = pick(random, endings);
    return std::exchange(recovery.ending, ending) != ending;
  }
  case 8: // what is missing isn't told
    if (recovery.missing.empty()) return false;
    recovery.missing.pop_back();
    return true;
  case 9:
  case 10: { // to one, or by one, that joins only then
    if (!delivery) return false;
    const auto [from, to] = ends(recovery.segments[delivery->first], delivery->second);
    const NodeId late = way == 9 ? to : from;
    if (late.value >= one.topology.npu_count()) return false;
    told.starts.resize(one.topology.node_count());
    const Time at = recovery.deliveries[delivery->first][delivery->second];
    told.starts[late.value] = way == 9 ? at + Time{1} : at;
    return true;
  }
  default: { // a holder is left out of a plan for a sum, with no other that has its contribution
    if (recovery.segments.size() < 2 || recovery.segments.back().anew) return false;
    Segment& segment = recovery.segments.back();
    if (std::ranges::any_of(told.events, [](const NetworkEvent& event) {
          return event.kind == NetworkEvent::Kind::npu_down;
        }))
      return false;
    for (std::uint32_t c = 0; c < segment.collective.chunks.size(); ++c) {
      if (!segment.collective.chunks[c].reduces) continue;
      segment.collective.sets[segment.collective.chunks[c].sources].pop_back();
      return true;
    }
    return false;
  }
  }
}

void check_equal(const Recovery& a, const Recovery& b) {
  CHECK(a.completion == b.completion);
  CHECK(a.missing == b.missing);
  CHECK(a.lost == b.lost);
  CHECK(a.ending == b.ending);
  CHECK(a.in_vain == b.in_vain);
  REQUIRE(a.segments.size() == b.segments.size());
  for (std::size_t s = 0; s < a.segments.size(); ++s) {
    CHECK(a.segments[s].begin == b.segments[s].begin);
    CHECK(a.segments[s].end == b.segments[s].end);
    CHECK(a.segments[s].delivered == b.segments[s].delivered);
    CHECK(a.segments[s].schedule == b.segments[s].schedule);
  }
}

bool dies_first_and_alone(const RepairCase& one) {
  const auto is_death = [](const NetworkEvent& event) {
    return event.kind == NetworkEvent::Kind::npu_down;
  };
  return is_death(one.events.front()) && std::ranges::count_if(one.events, is_death) == 1;
}

void check_seeds(std::uint64_t first, std::uint64_t cases, std::uint64_t simgrid_every) {
  std::uint64_t made = 0, spoilt = 0;
  for (std::uint64_t seed = first; made < cases; ++seed) {
    Random random(seed);
    const std::optional<RepairCase> one = repair_case(random);
    if (!one) continue;
    ++made;
    INFO("seed " << seed << ": " << one->algorithm << ", " << one->collective.name() << ", "
                 << one->topology.npu_count() << " NPUs");
    std::vector<ChunkAt> lost_by_rerouting;
    for (const Policy policy : all_policies) {
      INFO(to_text(policy));
      const Recovery recovery = recovered(*one, policy, "native");
      // Up to the first event policies do the same. If that is the only death, lost is what the
      // dead NPU hadn't passed on; and, of a plan that is given up, what waited at a receiver
      // or was halfway along a path.
      if (policy == Policy::reroute) lost_by_rerouting = recovery.lost;
      if (policy == Policy::resynthesize && dies_first_and_alone(*one))
        CHECK(std::ranges::includes(recovery.lost, lost_by_rerouting));
      check_recovery(*one, recovery);
      if (made % simgrid_every == 0) check_equal(recovery, recovered(*one, policy, "simgrid"));
      Told told{*one, recovery, sorted_events(one->topology, one->events), one->starts};
      CHECK(told.is_believed());
      const std::uint64_t way = random.below(12);
      INFO("spoilt in way " << way);
      if (!spoil(random, told, way)) continue;
      ++spoilt;
      CHECK_FALSE(told.is_believed());
    }
  }
  CHECK(spoilt > cases);
}

} // namespace

TEST_CASE("random failures, every policy: nothing lost or counted twice, both engines equal",
          "[heavy]") {
  check_seeds(1, 200, 10);
}

TEST_CASE("ten thousand random failures", "[slow]") { check_seeds(100'000, 10'000, 50); }

} // namespace repair_random_test
