// Transfers that share a send: times by hand, both engines against the slow replay on random cases,
// and what the checker, files and transforms make of them.
#include "sim/compact_schedule.hpp"
#include "sim/critical_chain.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/engines/engine.hpp"
#include "sim/files/schedule_binary.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/files/schedule_json.hpp"
#include "sim/relays.hpp"
#include "sim/transforms.hpp"
#include "sim/verify.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"
#include "tests/sim/random_disturbance.hpp"
#include "tests/sim/slow_replay.hpp"
#include "tests/sim/small_cases.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shared_sends_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

constexpr std::int64_t a = 500'000, d = 20'000'000; // ps: of a sample's link, and of 1 MB over it

const TimeModel latency_too{LinkBusy::latency_and_serialization};

Step copied(std::uint32_t chunk, std::vector<std::uint32_t> path) {
  return {chunk, std::move(path)};
}
/// With the one before.
Step joined(std::uint32_t chunk, std::vector<std::uint32_t> path, Op op = Op::copy) {
  return {chunk, std::move(path), op, false, true};
}

std::vector<std::int64_t> times(const std::vector<Time>& deliveries) {
  std::vector<std::int64_t> all;
  for (const Time time : deliveries) all.push_back(time.ps);
  return all;
}

using Times = std::vector<std::int64_t>;

/// When each transfer is delivered, on which both engines agree.
Times delivered(const Topology& topology, const Collective& collective, const Schedule& schedule,
                const TimeModel& model = {}, const RunOptions& options = {}) {
  const Verdict verdict = verify(topology, collective, schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  RunOptions recorded = options;
  recorded.record_deliveries = recorded.record_hops = true;
  const Report report = run_both(topology, collective, schedule, model, recorded);
  CHECK(disagreement(*report.agreement) == "");
  return times(report.deliveries);
}

std::vector<bool> contiguous_bits(const Schedule& schedule) {
  std::vector<bool> bits;
  for (std::size_t i = 0; i < schedule.size(); ++i) bits.push_back(schedule[i].contiguous);
  return bits;
}
std::vector<std::uint32_t> chunk_ids(const Schedule& schedule) {
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < schedule.size(); ++i) ids.push_back(schedule[i].chunk.value);
  return ids;
}

/// The same transfers after `change`; path ids stay.
Schedule changed(const Schedule& schedule,
                 const std::function<void(Transfer&, std::size_t)>& change) {
  Schedule made(schedule.paths().link_count());
  made.paths() = schedule.paths();
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    Transfer transfer = schedule[i];
    change(transfer, i);
    made.push(transfer);
  }
  for (std::size_t k = 0; k < schedule.waiting().size(); ++k)
    made.add_dependency(schedule.waiting()[k], schedule.all_dependencies()[k]);
  return made;
}

/// A random case, undisturbed or not, whose sends are of one part each.
struct DisturbedCase {
  RandomCase c;
  Disturbance disturbance;
};
DisturbedCase disturbed_case(std::uint64_t seed) {
  RandomCase c = random_case_of_sends(seed);
  make_whole(c);
  Disturbance disturbance = random_disturbance(seed, c);
  std::vector<std::size_t> part_of;
  for (std::size_t p = 0; p < c.collective.parts.size(); ++p)
    part_of.insert(part_of.end(), c.collective.parts[p].chunk_count, p);
  const Schedule before = c.schedule;
  c.schedule = changed(before, [&](Transfer& transfer, std::size_t i) {
    transfer.contiguous =
        transfer.contiguous && part_of[transfer.chunk.value] == part_of[before[i - 1].chunk.value];
  });
  return {std::move(c), std::move(disturbance)};
}

} // namespace

TEST_CASE("chunks that share a send pay the latency once and arrive together") {
  const Topology topology = line(2);
  const Collective two = chunks({{{0}, {1}}, {{0}, {1}}});
  const Schedule apart = steps(topology, {copied(0, {0}), copied(1, {0})});
  const Schedule shared = steps(topology, {copied(0, {0}), joined(1, {0})});
  CHECK_FALSE(apart.has_contiguous());
  CHECK(shared.has_contiguous());
  CHECK(delivered(topology, two, apart, latency_too) == Times{a + d, 2 * a + 2 * d});
  CHECK(delivered(topology, two, shared, latency_too) == Times{a + 2 * d, a + 2 * d});
  CHECK(delivered(topology, two, apart) == Times{a + d, a + 2 * d});
  CHECK(delivered(topology, two, shared) == Times{a + 2 * d, a + 2 * d});

  const Report report = run_native(topology, two, shared, latency_too,
                                   {.record_deliveries = true, .record_hops = true});
  CHECK(report.links[0].bytes == Bytes{2'000'000});
  CHECK(report.links[0].busy == Time{a + 2 * d});
  CHECK(report.links[0].transfers == 1);
  CHECK(report.link_transfers == 1);
  CHECK(times(report.chunk_done) == Times{a + 2 * d, a + 2 * d});
  REQUIRE(report.hops.size() == 1);
  CHECK(report.hops[0].transfer == 0);
  CHECK(report.hops[0].end == Time{2 * d});
}

TEST_CASE("a send sets out with its last chunk, and what follows waits for all of it") {
  const Topology topology = line(3);
  const Collective two = chunks({{{1}, {2}}, {{0}, {1, 2}}});
  CHECK(
      delivered(topology, two, steps(topology, {copied(1, {0}), copied(0, {1}), joined(1, {1})})) ==
      Times{a + d, 2 * a + 3 * d, 2 * a + 3 * d});
  // One chunk goes on alone, from when the send is in.
  const Collective line_of_two = chunks({{{0}, {1, 2}}, {{0}, {1}}});
  CHECK(delivered(topology, line_of_two,
                  steps(topology, {copied(0, {0}), joined(1, {0}), copied(0, {1})})) ==
        Times{a + 2 * d, a + 2 * d, 2 * a + 3 * d});
  // Names are of each transfer; who names one of them waits for the send.
  const Collective three = chunks({{{0}, {1}}, {{0}, {1}}, {{1}, {2}}, {{1}, {2}}});
  Schedule schedule =
      steps(topology, {copied(2, {1}), copied(0, {0}), joined(1, {0}), copied(3, {1})});
  schedule.add_dependency(2, {0, Milestone::left});
  schedule.add_dependency(3, {1, Milestone::arrived});
  CHECK(delivered(topology, three, schedule) == Times{a + d, a + 3 * d, a + 3 * d, 2 * a + 4 * d});
}

TEST_CASE("a connection keeps list order around a send") {
  const Topology topology = line(3);
  // Chunk 1 holds up the send, and the send holds up chunk 2, which is there.
  const Collective three = chunks({{{1}, {2}}, {{0}, {1, 2}}, {{1}, {2}}});
  CHECK(delivered(
            topology, three,
            steps(topology, {copied(1, {0}), copied(0, {1}), joined(1, {1}), copied(2, {1})})) ==
        Times{a + d, 2 * a + 3 * d, 2 * a + 3 * d, 2 * a + 4 * d});
}

TEST_CASE(
    "a chunk of a send that has arrived waits alone for what its receiver still sends of it") {
  const Topology topology = line(3);
  const Collective four = chunks({{{0, 1}, {1, 2}}, {{0}, {1}}, {{1}, {2}}, {{1}, {2}}});
  CHECK(delivered(topology, four,
                  steps(topology, {copied(2, {1}), copied(3, {1}), copied(0, {1}), copied(0, {0}),
                                   joined(1, {0})})) ==
        Times{a + d, a + 2 * d, a + 3 * d, 3 * d, a + 2 * d});
}

TEST_CASE("a send is reduced as one of its size") {
  const Topology topology = line(2);
  const Collective two = chunks({{{0, 1}, {1}}, {{0, 1}, {1}}}, true);
  TimeModel model;
  model.reduce_rate = Bandwidth{100'000'000'000}; // 10 us each
  CHECK(delivered(topology, two,
                  steps(topology, {{0, {0}, Op::reduce}, joined(1, {0}, Op::reduce)}),
                  model) == Times{a + 3 * d, a + 3 * d});
  CHECK(delivered(topology, two, steps(topology, {{0, {0}, Op::reduce}, {1, {0}, Op::reduce}}),
                  model) == Times{a + d + d / 2, a + 2 * d + d / 2});
}

TEST_CASE("a send takes shared groups, and the links of its path, as one of its size") {
  TopologyParts parts = samples::npus("bus", 4);
  parts.add_link(samples::link(0, 1));
  parts.add_link(samples::link(2, 3));
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, Bandwidth{100'000'000'000}});
  const Topology bus(std::move(parts)); // of twice a link's bandwidth
  const Collective three = chunks({{{0}, {1}}, {{0}, {1}}, {{2}, {3}}});
  CHECK(delivered(bus, three, steps(bus, {copied(0, {0}), joined(1, {0}), copied(2, {1})})) ==
        Times{a + 2 * d, a + 2 * d, a + 2 * d});

  const Topology star = samples::star(3);
  const Collective two = chunks({{{0}, {1}}, {{0}, {1}}});
  const Schedule over_switch = steps(star, {copied(0, {0, 3}), joined(1, {0, 3})});
  CHECK(delivered(star, two, over_switch) == Times{2 * a + 2 * d, 2 * a + 2 * d});
  TimeModel model;
  model.forwarding = Forwarding::store_and_forward;
  CHECK(delivered(star, two, over_switch, model) == Times{2 * a + 4 * d, 2 * a + 4 * d});
}

TEST_CASE("a switch that copies passes a send on with its head, in whatever sends") {
  TopologyParts parts = samples::npus("hub", 3);
  const NodeId hub = parts.add_node({"hub", NodeKind::switching, {false, true, false}, {}});
  for (const std::uint32_t npu : {0U, 1U, 2U}) parts.add_duplex(samples::link(npu, hub.value));
  const Topology topology(std::move(parts)); // links 2i to the hub, 2i + 1 from there
  const Collective two = chunks({{{0}, {1, 2}}, {{0}, {1, 2}}});
  CHECK(delivered(topology, two,
                  steps(topology, {copied(0, {0}), joined(1, {0}), copied(0, {3}), joined(1, {3}),
                                   copied(1, {5}), copied(0, {5})})) ==
        Times{a + 2 * d, a + 2 * d, 2 * a + 2 * d, 2 * a + 2 * d, 2 * a + 2 * d, 2 * a + 2 * d});
  // What came as two leaves as one, with the second's head and tail.
  CHECK(delivered(topology, two,
                  steps(topology, {copied(0, {0}), copied(1, {0}), copied(0, {3}), joined(1, {3}),
                                   copied(0, {5}), joined(1, {5})})) ==
        Times{a + d, a + 2 * d, 2 * a + 3 * d, 2 * a + 3 * d, 2 * a + 3 * d, 2 * a + 3 * d});
}

TEST_CASE("fluid sharing moves a send as one, too") {
  const Topology topology = line(3);
  TimeModel fluid;
  fluid.discipline = Discipline::fluid;
  const auto times_of = [&](const Collective& collective, const std::vector<Step>& list) {
    return times(
        run_simgrid(topology, collective, steps(topology, list), fluid, {.record_deliveries = true})
            .deliveries);
  };
  const Collective two = chunks({{{0}, {1, 2}}, {{0}, {1}}});
  CHECK(times_of(two, {copied(0, {0}), joined(1, {0}), copied(0, {1})}) ==
        Times{a + 2 * d, a + 2 * d, 2 * a + 3 * d});
  CHECK(times_of(two, {copied(0, {0}), copied(1, {0}), copied(0, {1})}) ==
        Times{a + d, a + 2 * d, 2 * a + 2 * d});
}

TEST_CASE("halves of chunks that share all sends take as long as the chunks", "[heavy]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomCase whole = random_case(seed, false);
    make_whole(whole);
    whole.schedule = changed(whole.schedule, [](Transfer& t, std::size_t) { t.together = false; });
    if (!verify(whole.topology, whole.collective, whole.schedule).correct()) continue;
    INFO("seed " << seed);
    RandomCase halves = whole;
    halves.collective.chunks.clear();
    for (Chunk chunk : whole.collective.chunks) {
      const Bytes all = chunk.size;
      chunk.size = Bytes{all.count / 3}; // of at least three bytes
      halves.collective.chunks.push_back(chunk);
      chunk.size = all - chunk.size;
      halves.collective.chunks.push_back(chunk);
    }
    halves.collective.parts.front().chunk_count *= 2;
    halves.schedule = Schedule(whole.topology.link_count());
    halves.schedule.paths() = whole.schedule.paths();
    for (std::size_t i = 0; i < whole.schedule.size(); ++i)
      for (const std::uint32_t half : {0U, 1U}) {
        Transfer transfer = whole.schedule[i];
        transfer.chunk.value = 2 * transfer.chunk.value + half;
        transfer.contiguous = half == 1;
        halves.schedule.push(transfer);
      }
    REQUIRE(verify(halves.topology, halves.collective, halves.schedule).correct());
    for (const Discipline discipline : {Discipline::fifo, Discipline::fluid}) {
      TimeModel model = whole.model;
      model.discipline = discipline;
      const auto run = discipline == Discipline::fifo ? run_both : run_simgrid;
      const RunOptions recorded{.record_deliveries = true, .record_hops = true};
      const Report one = run(whole.topology, whole.collective, whole.schedule, model, recorded);
      const Report two = run(halves.topology, halves.collective, halves.schedule, model, recorded);
      CHECK(one.completion == two.completion);
      CHECK(one.hops.size() == two.hops.size());
      for (std::size_t i = 0; i < one.deliveries.size(); ++i) {
        CHECK(two.deliveries[2 * i] == one.deliveries[i]);
        CHECK(two.deliveries[2 * i + 1] == one.deliveries[i]);
      }
      for (std::size_t l = 0; l < one.links.size(); ++l) {
        CHECK(one.links[l].bytes == two.links[l].bytes);
        CHECK(one.links[l].busy == two.links[l].busy);
        CHECK(one.links[l].transfers == two.links[l].transfers);
      }
    }
  }
}

TEST_CASE("random sends keep the rules, and both engines give the slow replay's times", "[heavy]") {
  std::size_t shared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomCase c = random_case_of_sends(seed);
    make_whole(c);
    INFO("seed " << seed);
    const Verdict verdict = verify(c.topology, c.collective, c.schedule);
    REQUIRE((verdict.fault ? verdict.fault->text : "") == "");
    shared += std::ranges::count(contiguous_bits(c.schedule), true) > 0 ? 1U : 0U;
    const Report report = run_both(c.topology, c.collective, c.schedule, c.model,
                                   {.record_deliveries = true, .record_hops = true});
    CHECK(disagreement(*report.agreement) == "");
    const SlowReport slow = slow_replay(c.topology, c.collective, c.schedule, c.model, {});
    REQUIRE(slow.stuck.empty());
    for (std::size_t i = 0; i < report.deliveries.size(); ++i)
      CHECK(slow.deliveries[i] == report.deliveries[i]);
    for (std::size_t l = 0; l < report.links.size(); ++l) {
      CHECK(slow.links[l].bytes == report.links[l].bytes);
      CHECK(slow.links[l].busy == report.links[l].busy);
      CHECK(slow.links[l].transfers == report.links[l].transfers);
    }
    // What a send waits for makes no difference to whether a chain of causes can be followed.
    const CriticalChain chain = critical_chain(c.topology, c.collective, c.schedule, {}, report);
    if (!report.deliveries.empty() && !chain.hops.empty())
      CHECK(chain.hops.front().start == Time{});
  }
  CHECK(shared > 150);
}

TEST_CASE("sends on networks that change, in jobs, with late starts, frozen or halted", "[heavy]") {
  std::size_t stuck = 0, apart = 0, runs = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto [c, disturbance] = disturbed_case(seed);
    INFO("seed " << seed);
    const Verdict verdict = verify(c.topology, c.collective, c.schedule);
    REQUIRE((verdict.fault ? verdict.fault->text : "") == "");
    const RunOptions options = disturbance.options();
    const Report report = run_both(c.topology, c.collective, c.schedule, c.model, options);
    ++runs;
    apart += report.agreement->holds ? 0 : 1;
    const SlowReport slow = slow_replay(c.topology, c.collective, c.schedule, c.model, options);
    for (std::size_t i = 0; i < report.deliveries.size(); ++i)
      CHECK(slow.deliveries[i].value_or(Time{}) == report.deliveries[i]);
    REQUIRE(slow.stuck.size() == report.stuck.size());
    for (std::size_t k = 0; k < report.stuck.size(); ++k) {
      CHECK(slow.stuck[k].transfer == report.stuck[k].transfer);
      CHECK(slow.stuck[k].why == report.stuck[k].why);
      CHECK(slow.stuck[k].link == report.stuck[k].link);
      CHECK(slow.stuck[k].since == report.stuck[k].since);
      CHECK(slow.stuck[k].awaited == report.stuck[k].awaited);
    }
    for (std::size_t l = 0; l < report.links.size(); ++l) {
      CHECK(slow.links[l].bytes == report.links[l].bytes);
      CHECK(slow.links[l].busy == report.links[l].busy);
    }
    CHECK(slow.quiet == report.quiet);
    CHECK(slow.completion == report.completion);
    stuck += report.stuck.size();
  }
  CHECK(apart <= runs / 20);
  CHECK(stuck > 1000);
}

TEST_CASE("an engine that forgets which transfers share a send is seen") {
  std::size_t seen = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RandomCase c = random_case_of_sends(seed);
    make_whole(c);
    const RunOptions recorded{.record_deliveries = true, .record_hops = true};
    const Schedule apart =
        changed(c.schedule, [](Transfer& t, std::size_t) { t.contiguous = false; });
    seen += agreement_of(c.topology, c.collective, recorded,
                         run_native(c.topology, c.collective, c.schedule, c.model, recorded),
                         run_simgrid(c.topology, c.collective, apart, c.model, recorded))
                    .holds
                ? 0
                : 1;
  }
  CHECK(seen > 50);
}

TEST_CASE("a stuck send is told for each of its transfers") {
  const Topology topology = line(3);
  const Collective three = chunks({{{0}, {1}}, {{0}, {1}}, {{0}, {1, 2}}});
  const Schedule schedule =
      steps(topology, {copied(2, {0}), copied(0, {0}), joined(1, {0}), copied(2, {1})});
  const std::vector<NetworkEvent> events{
      {Time{d / 2 + d}, NetworkEvent::Kind::link_down, LinkId{0}}};
  RunOptions options{.record_deliveries = true};
  options.events = events;
  options.may_halt = true;
  const Report report = run_both(topology, three, schedule, {}, options);
  CHECK(disagreement(*report.agreement) == "");
  REQUIRE(report.stuck.size() == 2);
  for (const std::size_t k : {0U, 1U}) {
    CHECK(report.stuck[k].transfer == k + 1);
    CHECK(report.stuck[k].why == StuckTransfer::Why::link_down);
    CHECK(report.stuck[k].link == LinkId{0});
  }
}

TEST_CASE("the critical chain leads through a send to what its last chunk came with") {
  const Topology topology = line(3);
  const Collective two = chunks({{{1}, {2}}, {{0}, {1, 2}}});
  const Schedule schedule = steps(topology, {copied(1, {0}), copied(0, {1}), joined(1, {1})});
  const Report report =
      run_native(topology, two, schedule, {}, {.record_deliveries = true, .record_hops = true});
  const CriticalChain chain = critical_chain(topology, two, schedule, {}, report);
  REQUIRE(chain.hops.size() == 2);
  CHECK(chain.hops[0].transfer == 0);
  CHECK(chain.hops[1].transfer == 1);
  CHECK(chain.longest == Time{a + 2 * d});
}

TEST_CASE("what can't share a send is a fault, in words") {
  const Topology topology = line(3);
  Collective four = chunks({{{0}, {1}}, {{0}, {1}}, {{0, 1}, {1}}, {{0, 1}, {1}}});
  four.chunks[2].reduces = four.chunks[3].reduces = true;
  const auto fault = [&](const std::vector<Step>& list) {
    const Verdict verdict = verify(topology, four, steps(topology, list));
    return verdict.fault ? verdict.fault->text : "";
  };
  const std::vector<Step> sums{{2, {0}, Op::reduce}, joined(3, {0}, Op::reduce)};
  const auto with_sums = [&](std::vector<Step> list) {
    list.insert(list.end(), sums.begin(), sums.end());
    return fault(list);
  };
  CHECK(with_sums({copied(0, {0}), joined(1, {0})}) == "");
  CHECK(with_sums({joined(0, {0}), joined(1, {0})}) ==
        "transfer 0: it is contiguous, and none is listed before it");
  CHECK(with_sums({copied(0, {0}), copied(1, {0}), joined(0, {1})}) ==
        "transfer 2: it is contiguous with the one before and takes another path");
  CHECK(fault({copied(0, {0}), joined(2, {0}, Op::reduce)}) ==
        "transfer 1: it is contiguous with the one before, and only one of them reduces");
  CHECK(with_sums({copied(0, {0}), joined(1, {0}), joined(0, {0})}) ==
        "transfer 2: it is contiguous with those before, which have chunk 0 already");
  CHECK(with_sums({copied(0, {0}), {1, {0}, Op::copy, true, true}}) ==
        "transfer 1: it can't be contiguous with the one before and also together with it");
  CHECK(with_sums({copied(0, {0}), joined(1, {0}), {0, {1}, Op::copy, true}}) ==
        "transfer 2: it is together with one that is contiguous");
  CHECK(with_sums({copied(1, {0}), {0, {0}, Op::copy, true}, joined(1, {0})}) ==
        "transfer 2: it is contiguous with one that is together with others");

  Schedule names = steps(topology, {copied(0, {0}), joined(1, {0}), sums[0], sums[1]});
  names.add_dependency(1, {0, Milestone::left});
  CHECK(verify(topology, four, names).fault->text ==
        "transfer 1: it waits for transfer 0, which isn't listed before it");

  const std::array<Collective, 2> parts{chunks({{{0}, {1}}}), chunks({{{0}, {1}}})};
  CHECK(verify(topology, merge(parts), steps(topology, {copied(0, {0}), joined(1, {0})}))
            .fault->text ==
        "transfer 1: it is contiguous with the one before, whose chunk is another collective's");
}

TEST_CASE("files keep what shares a send, and say so by their version") {
  const Topology ring = samples::ring(3, true);
  const Collective collective =
      make_collective(ring, {CollectiveKind::all_gather, Bytes{60}, {}, 0, 2});
  Schedule schedule(ring.link_count());
  for (std::uint32_t step = 0; step < 2; ++step)
    for (std::uint32_t npu = 0; npu < 3; ++npu) {
      const std::uint32_t shard = (npu + 3 - step) % 3;
      schedule.push(ChunkId{2 * shard}, LinkId{npu}, Op::copy);
      schedule.push({ChunkId{2 * shard + 1}, PathId{npu}, Op::copy, false, true});
    }
  REQUIRE(verify(ring, collective, schedule).correct());
  CHECK_FALSE(compacted(ring, collective, schedule));
  for (const bool names : {false, true}) {
    if (names) schedule.add_dependency(6, {0, Milestone::arrived});
    const ScheduleFile file{ring.name(), "by hand", {}, collective, schedule};
    const std::string text = schedule_format::to_json(ring, file);
    CHECK(text.find("\"version\": 4") != std::string::npos);
    CHECK(text.find("[1,[0],\"copy\",\"contiguous\"]") != std::string::npos);
    CHECK(parse_schedule(text, "x", ring).schedule == schedule);
    const std::string bytes = schedule_format::wrapped(schedule_format::to_payload(ring, file), 4);
    CHECK(parse_schedule(bytes, "x", ring).schedule == schedule);
  }
  std::string wrong = schedule_format::to_json(ring, {ring.name(), "x", {}, collective, schedule});
  const std::string word = "\"contiguous\"";
  wrong.replace(wrong.find(word), word.size(), "\"adjacent\"");
  CHECK(message_of([&] {
          (void)parse_schedule(wrong, "x", ring);
        }).find("the fourth entry must be \"together\" or \"contiguous\", or left out") !=
        std::string::npos);
}

TEST_CASE("random schedules of sends survive both kinds of files") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RandomCase c = random_case_of_sends(seed);
    Random random(seed);
    if (seed % 2 == 0) add_dependencies(random, c);
    const ScheduleFile file{"random", "x", c.model, c.collective, c.schedule};
    const Schedule of_text =
        parse_schedule(schedule_format::to_json(c.topology, file), "x", c.topology).schedule;
    const Schedule of_bytes =
        schedule_format::from_payload(schedule_format::to_payload(c.topology, file), c.topology)
            .schedule;
    CHECK(of_bytes == c.schedule);
    CHECK(contiguous_bits(of_text) == contiguous_bits(c.schedule));
    CHECK(of_text.all_dependencies().size() == c.schedule.all_dependencies().size());
  }
}

TEST_CASE("transforms keep what shares a send") {
  const Topology topology = line(3);
  const Schedule schedule = steps(topology, {copied(0, {0}), joined(1, {0}), joined(2, {0}),
                                             copied(3, {1}), copied(0, {1}), joined(1, {1})});
  SECTION("inversion") {
    const Schedule inverse = inverted(topology, schedule, Op::reduce);
    CHECK(chunk_ids(inverse) == std::vector<std::uint32_t>{1, 0, 3, 2, 1, 0});
    CHECK(contiguous_bits(inverse) == std::vector<bool>{false, true, false, false, true, true});
    CHECK(inverted(topology, inverse, Op::reduce) == schedule);
  }
  SECTION("subchunks") {
    Schedule named = schedule;
    named.add_dependency(4, {1, Milestone::arrived});
    const Schedule split = split_chunks(named, 2);
    CHECK(chunk_ids(split) == std::vector<std::uint32_t>{0, 2, 4, 1, 3, 5, 6, 7, 0, 2, 1, 3});
    CHECK(contiguous_bits(split) == std::vector<bool>{false, true, true, false, true, true, false,
                                                      false, false, true, false, true});
    REQUIRE(split.waiting().size() == 2);
    CHECK(split.waiting()[0] == 8);
    CHECK(split.all_dependencies()[0] == Dependency{1, Milestone::arrived});
    CHECK(split.waiting()[1] == 10);
    CHECK(split.all_dependencies()[1] == Dependency{4, Milestone::arrived});
    CHECK(split_chunks(named, 1) == named);
  }
  SECTION("several at once") {
    const Schedule both = interleaved(schedule, schedule, 10);
    CHECK(both.size() == 12);
    for (std::size_t i = 0; i < both.size(); ++i)
      if (both[i].contiguous) CHECK(both[i].chunk.value == both[i - 1].chunk.value + 1);
    CHECK(std::ranges::count(contiguous_bits(both), true) == 6);
    const Schedule one_by_one = concatenated(schedule, schedule);
    CHECK(one_by_one[5].contiguous);
    CHECK_FALSE(one_by_one[6].contiguous);
    CHECK(one_by_one[7].contiguous);
  }
}

TEST_CASE("an inverted schedule of sends is one of the inverse collective") {
  const Topology ring = samples::ring(4);
  const Topology backwards = reversed(ring);
  const auto collective_on = [](const Topology& topology, CollectiveKind kind) {
    return make_collective(topology, {kind, Bytes{4'000'000}, {}, 0, 2});
  };
  const Schedule made = samples::schedule_of("ring1", backwards,
                                             collective_on(backwards, CollectiveKind::all_gather));
  // The ring sends chunk 2i + 1 somewhere after chunk 2i, over the same link.
  Schedule shared(ring.link_count());
  shared.paths() = made.paths();
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].chunk.value % 2 != 0) continue;
    Transfer transfer = made[i];
    shared.push(transfer);
    ++transfer.chunk.value;
    transfer.contiguous = true;
    shared.push(transfer);
  }
  REQUIRE(shared.size() == made.size());
  CHECK(verify(backwards, collective_on(backwards, CollectiveKind::all_gather), shared).correct());
  const Schedule inverse = inverted(ring, shared, Op::reduce);
  const Collective sums = collective_on(ring, CollectiveKind::reduce_scatter);
  const Times all = delivered(ring, sums, inverse, latency_too);
  CHECK(*std::ranges::max_element(all) == 3 * (a + d)); // three steps of 1 MB
}

TEST_CASE("a relay in software passes a send on as one") {
  const Topology topology = line(3);
  const Collective two = chunks({{{0}, {2}}, {{0}, {2}}});
  const Schedule through = steps(topology, {copied(0, {0, 1}), joined(1, {0, 1})});
  const Schedule by_relay = relayed(topology, through);
  CHECK(chunk_ids(by_relay) == std::vector<std::uint32_t>{0, 1, 0, 1});
  CHECK(contiguous_bits(by_relay) == std::vector<bool>{false, true, false, true});
  CHECK(delivered(topology, two, by_relay) ==
        Times{a + 2 * d, a + 2 * d, 2 * a + 4 * d, 2 * a + 4 * d});
}

} // namespace shared_sends_test
