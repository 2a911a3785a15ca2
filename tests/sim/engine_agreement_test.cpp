// Two engines that share no decision, held against each other on random cases: to the picosecond
// where every crossing takes whole picoseconds, within rounding elsewhere. And that it is a check:
// whichever rule is broken in one of them, it is seen.
#include "sim/engines/agreement.hpp"
#include "sim/engines/engine.hpp"
#include "sim/engines/simgrid/library/replay.hpp"
#include "sim/engines/simgrid/requests.hpp"
#include "sim/error.hpp"
#include "sim/processes/isolated.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"
#include "tests/sim/random_disturbance.hpp"
#include "tests/sim/small_cases.hpp"

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace engine_agreement_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

const RunOptions recorded{.record_deliveries = true, .record_hops = true};

EngineAgreement agreement(const RandomCase& c, const RunOptions& options) {
  return *run_both(c.topology, c.collective, c.schedule, c.model, options).agreement;
}

/// The same network after `change`.
void rebuild(RandomCase& c, const std::function<void(TopologyParts&)>& change) {
  TopologyParts parts = c.topology.parts();
  change(parts);
  c.topology = Topology(std::move(parts));
}

/// Every crossing takes whole picoseconds; latencies are up to 2.5 times the shortest crossing, in
/// every fourth case a thousand times more.
RandomCase whole_case(std::uint64_t seed) {
  RandomCase c = random_case(seed, false);
  make_whole(c);
  if (seed % 4 == 0)
    rebuild(c, [](TopologyParts& parts) {
      for (Link& link : parts.links) link.latency.ps *= 1000;
    });
  return c;
}

/// What is apart as an order depends on rounding is told by finer time, in which it isn't apart.
struct Count {
  std::size_t cases = 0, apart = 0, hanging = 0;
  void take(std::uint64_t seed, const EngineAgreement& agreement) {
    ++cases;
    if (agreement.depends_on_rounding) ++hanging;
    if (agreement.holds) return;
    ++apart;
    UNSCOPED_INFO("seed " << seed << ": " << to_text(agreement));
  }
};

Count whole(std::uint64_t first, std::uint64_t last) {
  Count count;
  for (std::uint64_t seed = first; seed <= last; ++seed)
    count.take(seed, agreement(whole_case(seed), recorded));
  return count;
}

Count rounded(std::uint64_t first, std::uint64_t last) {
  Count count;
  for (std::uint64_t seed = first; seed <= last; ++seed)
    count.take(seed, agreement(random_case(seed, false), recorded));
  return count;
}

/// So many times as long that the run takes from 20 to 40 s: finer time is beyond SimGrid's clock.
Count long_runs(std::uint64_t first, std::uint64_t last) {
  Count count;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    RandomCase c = random_case(seed, false);
    const Time length = run_native(c.topology, c.collective, c.schedule, c.model, {}).completion;
    if (length == Time{}) continue;
    const TimeVariation longer{.times = Time{40'000'000'000'000}.ps / length.ps};
    c.topology = longer.of(c.topology);
    c.collective = longer.of(std::move(c.collective));
    count.take(seed, agreement(c, recorded));
  }
  return count;
}

/// A rest that isn't whole ends up to a picosecond apart on every link that it crosses.
Count disturbed(std::uint64_t first, std::uint64_t last) {
  Count count;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    RandomCase c = whole_case(seed);
    const Disturbance disturbance = random_disturbance(seed, c);
    count.take(seed, agreement(c, disturbance.options()));
  }
  return count;
}

} // namespace

TEST_CASE("both engines agree on random cases to the picosecond, where all takes whole ones") {
  const Count count = whole(1, 500);
  CHECK(count.apart == 0);
  CHECK(count.hanging == 0);
}

TEST_CASE("an order that depends on rounding is told, and is no disagreement") {
  std::size_t hanging = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RandomCase c = random_case(seed, false);
    const Report native = run_native(c.topology, c.collective, c.schedule, c.model, recorded);
    const Report simgrid = run_simgrid(c.topology, c.collective, c.schedule, c.model, recorded);
    const EngineAgreement agreement =
        judged_agreement(c.topology, c.collective, c.schedule, c.model, recorded, native, simgrid);
    CHECK(agreement.holds);
    if (!agreement.depends_on_rounding) continue;
    ++hanging;
    CHECK(remark(agreement).find("depends on less than a picosecond") != std::string::npos);
  }
  CHECK(hanging > 0);
}

TEST_CASE("both engines agree on random cases but for rounding") {
  const Count count = rounded(1, 500);
  CHECK(count.apart == 0);
  CHECK(count.hanging <= count.cases / 20);
}

TEST_CASE("both engines agree on runs of half a minute but for rounding") {
  const Count count = long_runs(1, 300);
  CHECK(count.apart == 0);
  CHECK(count.cases > 250);
}

TEST_CASE("a tie at 27 seconds, for which finer time is too long, is told") {
  TopologyParts parts = samples::npus("tie", 5);
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::int64_t rate) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{}, Bandwidth{rate}});
  };
  add(0, 1, 3'000'000'000); // a third of 10 s, twice: as long as 10 GB at 1.5 GB/s
  add(1, 2, 3'000'000'000);
  add(4, 2, 1'500'000'000);
  add(2, 3, 1'000'000'000);
  const Topology topology(std::move(parts));
  Collective collective = chunks({{{0}, {3}}, {{4}, {3}}});
  for (Chunk& chunk : collective.chunks) chunk.size = Bytes{10'000'000'000};
  const Schedule schedule = steps(topology, {{0, {0, 1, 3}}, {1, {2, 3}}});
  const Report report = run_both(topology, collective, schedule, {}, recorded);
  REQUIRE(report.agreement);
  CHECK(report.agreement->holds);
  CHECK(report.agreement->depends_on_rounding);
  CHECK(report.agreement->largest > Time{9'000'000'000'000});
  // What no rounding explains is no tie: the second chunk also comes 10 s late with slightly longer
  // latencies.
  Rounding rounding(topology, collective);
  const EngineAgreement apart{Time{10'000'000'000'000}, Time{3}, "the collective time", false};
  std::size_t asked = 0;
  const EngineAgreement judged =
      judged_agreement(apart, rounding, report.completion, [&](const TimeVariation& other) {
        ++asked;
        if (other.times > 1) throw InputError("too long");
        return false;
      });
  CHECK_FALSE(judged.holds);
  CHECK(asked == 7);
}

TEST_CASE("both engines agree on networks that change, with jobs, late starts and dependencies") {
  const Count count = disturbed(1, 1000);
  CHECK(count.apart == 0);
  CHECK(count.hanging <= count.cases / 20);
}

TEST_CASE("both engines agree on many random cases", "[slow]") {
  const Count exact = whole(501, 10'000);
  CHECK(exact.apart == 0);
  CHECK(exact.hanging == 0);
  const Count count = rounded(501, 10'000);
  CHECK(count.apart == 0);
  CHECK(count.hanging <= count.cases / 20);
  CHECK(long_runs(301, 3000).apart == 0);
  const Count changing = disturbed(1001, 10'000);
  CHECK(changing.apart == 0);
  CHECK(changing.hanging <= changing.cases / 20);
}

namespace {

/// What SimGrid is given instead, as if its engine broke a rule.
using Breaking = std::function<void(RandomCase&, Disturbance&)>;

/// In how many of 100 disturbed cases that is seen.
std::size_t seen(
    const Breaking& breaks, const std::function<bool(const RandomCase&)>& concerns =
                                [](const RandomCase&) { return true; }) {
  std::size_t seen = 0;
  for (std::uint64_t seed = 1, cases = 0; cases < 100; ++seed) {
    RandomCase c = random_case(seed, false);
    if (!concerns(c)) continue;
    ++cases;
    make_whole(c);
    Disturbance disturbance = random_disturbance(seed, c);
    const RunOptions options = disturbance.options();
    const Report native = run_native(c.topology, c.collective, c.schedule, c.model, options);
    RandomCase broken = c;
    Disturbance other = disturbance;
    breaks(broken, other);
    const Report simgrid = run_simgrid(broken.topology, broken.collective, broken.schedule,
                                       broken.model, other.options());
    seen += agreement_of(c.topology, c.collective, options, native, simgrid).holds ? 0 : 1;
  }
  return seen;
}

/// Its transfers after `change`.
Schedule changed(const Schedule& schedule, const std::function<void(Transfer&)>& change) {
  Schedule made(schedule.paths().link_count());
  for (std::uint32_t p = schedule.paths().link_count(); p < schedule.paths().size(); ++p)
    (void)made.paths().intern(schedule.paths().links(PathId{p}));
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    Transfer transfer = schedule[i];
    change(transfer);
    made.push(transfer);
  }
  for (std::size_t k = 0; k < schedule.waiting().size(); ++k)
    made.add_dependency(schedule.waiting()[k], schedule.all_dependencies()[k]);
  return made;
}

bool has_groups(const RandomCase& c) { return !c.topology.groups().empty(); }

} // namespace

TEST_CASE("what isn't broken isn't seen") {
  CHECK(seen([](RandomCase&, Disturbance&) {}) <= 2);
}

TEST_CASE("an engine that is wrong about how long links and groups are busy is seen") {
  CHECK(seen([](RandomCase& c, Disturbance&) {
          c.model.link_busy = c.model.link_busy == LinkBusy::serialization
                                  ? LinkBusy::latency_and_serialization
                                  : LinkBusy::serialization;
        }) > 50);
  CHECK(seen([](RandomCase& c,
                Disturbance&) { rebuild(c, [](TopologyParts& parts) { parts.groups.clear(); }); },
             has_groups) > 50);
  // Each group is busy for n/B_g, not for as long as the link.
  CHECK(seen(
            [](RandomCase& c, Disturbance&) {
              rebuild(c, [](TopologyParts& parts) {
                for (SharedGroup& group : parts.groups) group.bandwidth.bytes_per_second *= 4;
              });
            },
            has_groups) > 20);
  // A link carries at the rate of its narrowest group.
  CHECK(seen([](RandomCase& c, Disturbance&) {
          rebuild(c, [](TopologyParts& parts) {
            for (Link& link : parts.links) link.bandwidth.bytes_per_second *= 2;
          });
        }) > 50);
}

TEST_CASE("an engine that is wrong about latencies and forwarding is seen") {
  CHECK(seen([](RandomCase& c, Disturbance&) {
          rebuild(c, [](TopologyParts& parts) {
            for (Link& link : parts.links) link.latency += Time{300};
          });
        }) > 50);
  for (const Forwarding forwarding : {Forwarding::cut_through, Forwarding::store_and_forward})
    CHECK(seen([&](RandomCase& c, Disturbance&) { c.model.forwarding = forwarding; },
               [&](const RandomCase& c) { return c.model.forwarding != forwarding; }) > 20);
}

TEST_CASE("an engine that serves queues in another order is seen") {
  CHECK(seen([](RandomCase&, Disturbance& other) {
          for (JobTiming& job : other.jobs)
            job.priority = static_cast<std::uint8_t>(JobTiming::highest_priority - job.priority);
        }) > 5);
  CHECK(seen([](RandomCase&, Disturbance& other) {
          for (JobTiming& job : other.jobs) job.start = Time{};
        }) > 5);
  // What is listed first goes first where two enter at one instant.
  TopologyParts parts = samples::npus("star", 3);
  parts.add_node({"switch0", NodeKind::switching, {false, false, false}, {}});
  for (const auto& [from, to] : {std::pair{0U, 3U}, {1U, 3U}, {3U, 2U}})
    parts.add_link(samples::link(from, to));
  const Topology star(std::move(parts));
  const Collective collective = chunks({{{0}, {2}}, {{1}, {2}}});
  const Schedule schedule = steps(star, {{0, {0, 2}}, {1, {1, 2}}});
  const Schedule reversed = steps(star, {{1, {1, 2}}, {0, {0, 2}}});
  const Report native = run_native(star, collective, schedule, {}, recorded);
  Report simgrid = run_simgrid(star, collective, reversed, {}, recorded);
  std::swap(simgrid.deliveries[0], simgrid.deliveries[1]); // the same transfers
  CHECK(native.completion == simgrid.completion);
  CHECK_FALSE(agreement_of(star, collective, {}, native, simgrid).holds);
}

TEST_CASE("an engine that serves queues by list position instead of entry is seen") {
  TopologyParts parts = samples::npus("star", 4);
  parts.add_node({"switch0", NodeKind::switching, {false, false, false}, {}});
  for (const std::uint32_t from : {0U, 1U, 3U}) parts.add_link(samples::link(from, 4));
  parts.links.back().latency += Time{1'000'000}; // chunk 1 comes to the switch last
  parts.add_link(samples::link(4, 2));
  const Topology star(std::move(parts));
  Collective collective = chunks({{{0}, {2}}, {{3}, {2}}, {{1}, {2}}});
  const CollectivePart one = collective.parts.front();
  collective.parts.clear();
  for (std::uint32_t part = 0; part < 3; ++part) {
    collective.parts.push_back(one);
    collective.parts.back().first = ChunkId{part};
    collective.parts.back().chunk_count = 1;
  }
  const Schedule schedule = steps(star, {{0, {0, 3}}, {1, {2, 3}}, {2, {1, 3}}});
  const Report native = run_native(star, collective, schedule, {}, recorded);
  std::vector<JobTiming> jobs(3);
  RunOptions options = recorded;
  options.jobs = jobs;
  CHECK(agreement_of(star, collective, {}, native,
                     run_simgrid(star, collective, schedule, {}, options))
            .holds);
  jobs[1].priority = 1; // overtakes chunk 2, as it is listed before it
  CHECK_FALSE(agreement_of(star, collective, {}, native,
                           run_simgrid(star, collective, schedule, {}, options))
                  .holds);
}

TEST_CASE("an engine that forgets what a transfer waits for is seen") {
  const auto has_names = [](const RandomCase& c) { return c.schedule.size() > 2; };
  CHECK(seen([](RandomCase& c, Disturbance&) { c.schedule.clear_dependencies(); }, has_names) > 20);
  CHECK(seen(
            [](RandomCase& c, Disturbance&) {
              const Schedule before = c.schedule;
              c.schedule.clear_dependencies();
              for (std::size_t k = 0; k < before.waiting().size(); ++k) {
                Dependency named = before.all_dependencies()[k];
                named.milestone =
                    named.milestone == Milestone::left ? Milestone::arrived : Milestone::left;
                c.schedule.add_dependency(before.waiting()[k], named);
              }
            },
            has_names) > 10);
  CHECK(seen([](RandomCase&, Disturbance& other) { other.starts.clear(); }) > 10);
  // A block reads the state before it.
  const auto has_blocks = [](const RandomCase& c) {
    for (std::size_t i = 0; i < c.schedule.size(); ++i)
      if (c.schedule[i].together) return true;
    return false;
  };
  CHECK(seen(
            [](RandomCase& c, Disturbance&) {
              c.schedule = changed(c.schedule, [](Transfer& t) { t.together = false; });
            },
            has_blocks) > 0);
}

TEST_CASE("an engine that reduces at another rate is seen") {
  CHECK(seen([](RandomCase& c, Disturbance&) {
          c.model.reduce_rate.bytes_per_second = 700'000'000;
          rebuild(c, [](TopologyParts& parts) {
            for (Node& node : parts.nodes) node.reduce_rate = Bandwidth{700'000'000};
          });
        }) > 20);
}

TEST_CASE("an engine that ignores events, other routes or the freeze is seen") {
  CHECK(seen([](RandomCase&, Disturbance& other) { other.events.clear(); }) > 20);
  CHECK(seen([](RandomCase&, Disturbance& other) { other.route_changes.clear(); }) > 2);
  CHECK(seen([](RandomCase&, Disturbance& other) { other.freeze.reset(); }) > 5);
}

TEST_CASE("an engine that lets transfers of one path overtake each other is seen") {
  const Topology topology = line(3);
  const Collective collective = chunks({{{0}, {1, 2}}, {{1}, {2}}});
  // Chunk 1 is there, and enters behind chunk 0 all the same; as jobs, it doesn't wait.
  const Schedule schedule = steps(topology, {{0, {0}}, {0, {1}}, {1, {1}}});
  Collective two = collective;
  two.parts = {two.parts.front(), two.parts.front()};
  for (std::uint32_t part = 0; part < 2; ++part) {
    two.parts[part].first = ChunkId{part};
    two.parts[part].chunk_count = 1;
  }
  const std::vector<JobTiming> jobs(2);
  RunOptions apart = recorded;
  apart.jobs = jobs;
  const Report native = run_native(topology, two, schedule, {}, recorded);
  CHECK(agreement_of(topology, two, {}, native, run_simgrid(topology, two, schedule, {}, recorded))
            .holds);
  CHECK_FALSE(
      agreement_of(topology, two, {}, native, run_simgrid(topology, two, schedule, {}, apart))
          .holds);
}

TEST_CASE("an engine that delivers before earlier sends have left is seen") {
  TopologyParts parts = samples::npus("line", 3);
  parts.add_link(samples::link(0, 1));
  Link slow = samples::link(1, 2);
  slow.bandwidth.bytes_per_second /= 4;
  parts.add_link(slow);
  const Topology line(std::move(parts));
  const Collective collective = chunks({{{0, 1}, {1}}, {{1}, {2}}});
  Schedule schedule = steps(line, {{0, {1}}, {0, {0}}}), other = steps(line, {{1, {1}}, {0, {0}}});
  const Report native = run_native(line, collective, schedule, {}, recorded);
  CHECK(agreement_of(line, collective, {}, native,
                     run_simgrid(line, collective, schedule, {}, recorded))
            .holds);
  // The second waits for the first to leave only because both are of one chunk.
  CHECK_FALSE(
      agreement_of(line, collective, {}, native, run_simgrid(line, collective, other, {}, recorded))
          .holds);
}

TEST_CASE("an engine whose crossing doesn't wait for the tail before it is seen") {
  TopologyParts parts = samples::npus("through a switch", 2);
  parts.add_node({"switch0", NodeKind::switching, {false, false, false}, {}});
  Link slow = samples::link(0, 2);
  const std::int64_t rate = slow.bandwidth.bytes_per_second;
  slow.bandwidth.bytes_per_second = rate / 4;
  parts.add_link(slow);
  parts.add_link(samples::link(2, 1));
  const Topology topology(parts);
  const Collective collective = chunks({{{0}, {1}}});
  const Schedule schedule = steps(topology, {{0, {0, 1}}});
  const Report native = run_native(topology, collective, schedule, {}, recorded);
  CHECK(agreement_of(topology, collective, {}, native,
                     run_simgrid(topology, collective, schedule, {}, recorded))
            .holds);
  // Where the first link is as fast as the second, its tail keeps nobody waiting: what is said of
  // the second link is what an engine says that doesn't wait.
  parts.links[0].bandwidth.bytes_per_second = rate;
  Report hasty = run_simgrid(Topology(parts), collective, schedule, {}, recorded);
  REQUIRE(hasty.hops.size() == 2);
  hasty.links[0] = native.links[0];
  hasty.hops[0] = native.hops[0];
  CHECK(hasty.links[1].busy == native.links[1].busy);
  CHECK(hasty.hops[1].start == native.hops[1].start);
  CHECK(hasty.deliveries[0] < native.deliveries[0]);
  CHECK_FALSE(agreement_of(topology, collective, {}, native, hasty).holds);
}

TEST_CASE("an engine that sends on what isn't there yet is seen") {
  const Topology topology = line(3);
  const Collective collective = chunks({{{0}, {1, 2}}});
  const Schedule schedule = steps(topology, {{0, {0}}, {0, {1}}});
  const Schedule hasty = steps(topology, {{0, {1}}, {0, {0}}}); // the send comes before the arrival
  const Report native = run_native(topology, collective, schedule, {}, recorded);
  Report simgrid = run_simgrid(topology, collective, hasty, {}, recorded);
  std::swap(simgrid.deliveries[0], simgrid.deliveries[1]); // the same transfers
  CHECK_FALSE(agreement_of(topology, collective, {}, native, simgrid).holds);
}

TEST_CASE("an engine that lets nodes store that can't is seen") {
  CHECK(seen(
            [](RandomCase& c, Disturbance&) {
              rebuild(c, [](TopologyParts& parts) {
                for (Node& node : parts.nodes) node.can.store = true;
              });
            },
            [](const RandomCase& c) { return c.topology.node_count() > c.topology.npu_count(); }) >
        20);
}

TEST_CASE("how long links are busy is SimGrid's word") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomCase c = random_case(seed, false);
    make_whole(c);
    c.model.link_busy = LinkBusy::serialization;
    const auto run = [&](double factor) {
      return run_isolated(
          [&] {
            simgrid::s4u::Engine::on_simulation_start_cb([factor] {
              for (simgrid::s4u::Link* link : simgrid::s4u::Engine::get_instance()->get_all_links())
                link->set_bandwidth(factor * link->get_bandwidth());
            });
            return replay_fifo_on_simgrid(c.topology, c.collective, c.schedule, c.model, recorded);
          },
          exchange_report, {});
    };
    const Report plain = run(1), halved = run(0.5);
    for (std::size_t l = 0; l < plain.links.size(); ++l)
      CHECK(halved.links[l].busy.ps == 2 * plain.links[l].busy.ps);
  }
}

} // namespace engine_agreement_test
