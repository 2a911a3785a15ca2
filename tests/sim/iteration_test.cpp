// Workloads on both engines, with times derived by hand: a byte takes 20 ps on a link, a hop 0.5 us
// on top. An All-Reduce of 1 MB between two NPUs that each keep half takes 2 (10 + 0.5) = 21 us,
// sending 1 MB takes 20.5 us.
#include "sim/engines/agreement.hpp"
#include "sim/iteration.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sim/iteration_samples.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace iteration_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

constexpr Bytes megabyte{1'000'000};
constexpr std::int64_t all_reduce_takes = 21 * us, sending_takes = 20 * us + us / 2;

std::vector<NodeId> npus_of(const Topology& topology) {
  std::vector<NodeId> npus;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) npus.emplace_back(n);
  return npus;
}

void check_same(const IterationReport& a, const IterationReport& b) {
  CHECK(a.duration == b.duration);
  CHECK(a.accounts == b.accounts);
  CHECK(a.communication == b.communication);
  CHECK(a.spans == b.spans);
  CHECK(a.link_transfers == b.link_transfers);
  for (std::size_t l = 0; l < a.links.size(); ++l) CHECK(a.links[l].busy == b.links[l].busy);
}

/// On the native engine, folded; the same without folding and on SimGrid.
IterationReport run(const Topology& topology, const Sketch& sketch, IterationOptions options = {},
                    const char* algorithm = "direct") {
  const WorkloadPlans plans = plans_by(algorithm, topology, sketch.workload);
  const std::vector<NodeId> npus = npus_of(topology);
  options.record = npus;
  options.fold = true;
  IterationReport folded = run_iteration_native(topology, sketch.workload, plans, options);
  CHECK(folded.engine == "native");
  options.fold = false;
  check_same(folded, run_iteration_native(topology, sketch.workload, plans, options));
  const IterationReport simgrid = run_iteration_simgrid(topology, sketch.workload, plans, options);
  CHECK(simgrid.engine == "simgrid");
  CHECK(disagreement(agreement_of(topology, sketch.workload, plans, options, folded, simgrid)) ==
        "");
  for (const TimeAccount& account : folded.accounts) CHECK(account.total() == folded.duration);
  return folded;
}

Time exposed(const TimeAccount& account, Purpose purpose) {
  return account.exposed[static_cast<std::size_t>(purpose)];
}

Time end_of(const IterationReport& report, std::uint32_t npu, std::uint32_t operation) {
  for (const OperationSpan& span : report.spans)
    if (span.npu.value == npu && span.operation == operation) return span.end;
  FAIL("no span");
  return {};
}

} // namespace

TEST_CASE("communication that is hidden behind computing costs nothing") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    const std::uint32_t first = sketch.compute(npu, 10 * us);
    const std::uint32_t reduced = sketch.collective(npu, group, 0, megabyte, {first});
    const std::uint32_t second = sketch.compute(npu, 30 * us, {first});
    sketch.compute(npu, 5 * us, {reduced, second});
  }
  const IterationReport report = run(samples::ring(2), sketch);
  CHECK(report.duration == Time{45 * us});
  CHECK(report.operations == 8);
  CHECK(report.communications == 1);
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    CHECK(report.accounts[npu].compute == Time{45 * us});
    CHECK(report.communication[npu][0] == Time{all_reduce_takes});
    CHECK(end_of(report, npu, 1) == Time{10 * us + all_reduce_takes});
  }
}

TEST_CASE("exposed communication, and waiting for one who is late") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    const std::uint32_t first = sketch.compute(npu, npu == 0 ? 10 * us : 14 * us);
    const std::uint32_t reduced =
        sketch.collective(npu, group, 0, megabyte, {first}, Purpose::tensor);
    sketch.compute(npu, npu == 0 ? 5 * us : 7 * us, {reduced});
  }
  const IterationReport report = run(samples::ring(2), sketch);
  CHECK(report.duration == Time{14 * us + all_reduce_takes + 7 * us});
  CHECK(report.accounts[0].compute == Time{15 * us});
  CHECK(exposed(report.accounts[0], Purpose::tensor) == Time{all_reduce_takes});
  CHECK(report.accounts[0].waiting == Time{4 * us + 2 * us}); // at the beginning, at the end
  CHECK(report.accounts[1].compute == Time{21 * us});
  CHECK(report.accounts[1].waiting == Time{});
  CHECK(report.spans[1] == OperationSpan{NodeId{0}, 1, Time{10 * us}, Time{14 * us},
                                         Time{14 * us + all_reduce_takes}});
}

TEST_CASE("one at a time, communication follows communication") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    const std::uint32_t first = sketch.collective(npu, group, 0, megabyte, {}, Purpose::tensor);
    const std::uint32_t second = sketch.collective(npu, group, 1, megabyte);
    const std::uint32_t computed = sketch.compute(npu, 5 * us);
    const std::uint32_t third = sketch.collective(npu, group, 2, megabyte, {computed});
    sketch.compute(npu, us, {first, second, third});
  }
  const IterationReport several = run(samples::ring(2), sketch);
  IterationOptions options;
  options.one_at_a_time = true;
  const IterationReport one = run(samples::ring(2), sketch, options);
  CHECK(several.duration < one.duration);
  CHECK(one.duration == Time{3 * all_reduce_takes + us});
  CHECK(one.spans[1] == OperationSpan{NodeId{0}, 1, Time{all_reduce_takes}, Time{all_reduce_takes},
                                      Time{2 * all_reduce_takes}});
  // The 5 us of computing hide the first; from then on the last waits its turn.
  CHECK(exposed(one.accounts[0], Purpose::tensor) == Time{all_reduce_takes - 5 * us});
  CHECK(exposed(one.accounts[0], Purpose::data) == Time{2 * all_reduce_takes});
  CHECK(one.accounts[0].waiting == Time{});
}

TEST_CASE("one at a time, the lowest turn comes first, and receiving is free") {
  Sketch sketch(2);
  const std::uint32_t pair = sketch.group({0, 1});
  sketch.send(0, pair, 0, megabyte);
  sketch.send(0, pair, 1, megabyte);
  sketch.send(0, pair, 2, megabyte);
  sketch.receive(1, pair, 0, megabyte);
  sketch.receive(1, pair, 1, megabyte);
  sketch.receive(1, pair, 2, megabyte);
  sketch.send(1, pair, 3, megabyte);
  sketch.receive(0, pair, 3, megabyte);
  sketch.workload.programs[0].set_turns({2, 0, 1, 3});
  IterationOptions options;
  options.one_at_a_time = true;
  const IterationReport report = run(samples::ring(2), sketch, options);
  CHECK(end_of(report, 0, 1) == Time{sending_takes});
  CHECK(end_of(report, 0, 2) == Time{2 * sending_takes});
  CHECK(end_of(report, 0, 0) == Time{3 * sending_takes});
  CHECK(end_of(report, 1, 3) == Time{sending_takes});
  CHECK(end_of(report, 1, 0) == Time{3 * sending_takes});
}

TEST_CASE("one at a time, members that begin with different collectives come to a halt") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  sketch.collective(0, group, 0, megabyte);
  sketch.collective(0, group, 1, megabyte);
  sketch.collective(1, group, 1, megabyte);
  sketch.collective(1, group, 0, megabyte);
  const WorkloadPlans plans = plans_by("direct", samples::ring(2), sketch.workload);
  IterationOptions options;
  (void)run_iteration_native(samples::ring(2), sketch.workload, plans, options);
  options.one_at_a_time = true;
  CHECK(message_of([&] {
          (void)run_iteration_native(samples::ring(2), sketch.workload, plans, options);
        }) ==
        "the run comes to a halt with 4 operations left: gradients (all_reduce number 0 of "
        "group 0) waits for npu1 (which waits in its gradients); gradients (all_reduce number "
        "1 of group 0) waits for npu0 (which waits in its gradients)");
}

TEST_CASE("one at a time, a member begins a collective without who is late") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    const std::uint32_t computed = sketch.compute(npu, npu == 0 ? 10 * us : 30 * us);
    sketch.collective(npu, group, 0, megabyte, {computed}, Purpose::tensor);
  }
  IterationOptions options;
  options.one_at_a_time = true;
  const IterationReport report = run(samples::ring(2), sketch, options);
  // npu0's half, there at 20.5 us, waits for npu1, which at 30 us sends its own half and, right
  // behind it, the sum of the other one: they are there at 40.5 and 50.5 us. npu0 sends the sum of
  // its half at 40.5 us.
  CHECK(report.spans[1] ==
        OperationSpan{NodeId{0}, 1, Time{10 * us}, Time{10 * us}, Time{50 * us + us / 2}});
  CHECK(report.spans[3] ==
        OperationSpan{NodeId{1}, 1, Time{30 * us}, Time{30 * us}, Time{51 * us}});
  CHECK(exposed(report.accounts[0], Purpose::tensor) == Time{40 * us + us / 2});
  CHECK(report.accounts[0].waiting == Time{us / 2}); // at the end
  CHECK(report.communication[0][static_cast<std::size_t>(Purpose::tensor)] ==
        Time{40 * us + us / 2});
}

TEST_CASE("one at a time, a collective is over for who has received everything") {
  TopologyParts parts;
  const NodeId near = parts.add_node({"npu0", NodeKind::npu, {}, {}});
  const NodeId far = parts.add_node({"npu1", NodeKind::npu, {}, {}});
  parts.add_link({near, far, Time{10 * us}, Bandwidth{50'000'000'000}});
  parts.add_link({far, near, Time{us}, Bandwidth{50'000'000'000}});
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  for (std::uint32_t npu = 0; npu < 2; ++npu)
    sketch.collective(npu, group, 0, megabyte, {}, Purpose::data, CollectiveKind::all_gather);
  const Topology topology{parts};
  const IterationReport several = run(topology, sketch);
  CHECK(end_of(several, 0, 0) == Time{20 * us});
  CHECK(end_of(several, 1, 0) == Time{20 * us});
  IterationOptions options;
  options.one_at_a_time = true;
  const IterationReport one = run(topology, sketch, options);
  CHECK(end_of(one, 0, 0) == Time{11 * us});
  CHECK(end_of(one, 1, 0) == Time{20 * us});
}

TEST_CASE("only what the next computation waits for is exposed") {
  // 0 > tensor > data, one after another, with 8 us of computing beside the first.
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    const std::uint32_t first = sketch.collective(npu, group, 0, megabyte, {}, Purpose::tensor);
    const std::uint32_t second = sketch.collective(npu, group, 1, megabyte, {first});
    sketch.compute(npu, 8 * us);
    sketch.compute(npu, 1 * us, {second});
  }
  const IterationReport report = run(samples::ring(2), sketch);
  CHECK(report.duration == Time{2 * all_reduce_takes + us});
  CHECK(report.accounts[0].compute == Time{9 * us});
  CHECK(exposed(report.accounts[0], Purpose::tensor) == Time{all_reduce_takes - 8 * us});
  CHECK(exposed(report.accounts[0], Purpose::data) == Time{all_reduce_takes});
}

TEST_CASE("a pipeline of two stages: bubbles") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  const std::uint32_t forward = sketch.compute(0, 10 * us);
  sketch.send(0, group, 0, megabyte, {forward});
  const std::uint32_t back = sketch.receive(0, group, 1, megabyte, {forward});
  sketch.compute(0, 5 * us, {back});
  const std::uint32_t received = sketch.receive(1, group, 0, megabyte);
  const std::uint32_t computed = sketch.compute(1, 10 * us, {received});
  sketch.send(1, group, 1, megabyte, {computed});
  const IterationReport report = run(samples::ring(2), sketch);

  // 0 computes until 10, its data is at 1 by 30.5, which computes until 40.5; back at 61; until 66.
  CHECK(report.duration == Time{66 * us});
  CHECK(report.accounts[0].compute == Time{15 * us});
  CHECK(report.accounts[0].bubble == Time{30 * us + us / 2});
  CHECK(exposed(report.accounts[0], Purpose::pipeline) == Time{sending_takes});
  CHECK(report.accounts[1].compute == Time{10 * us});
  CHECK(report.accounts[1].bubble == Time{10 * us + 5 * us});
  CHECK(exposed(report.accounts[1], Purpose::pipeline) == Time{2 * sending_takes});
  CHECK(report.communication[1][static_cast<std::size_t>(Purpose::pipeline)] ==
        Time{2 * sending_takes});
}

TEST_CASE("a sender doesn't wait for its receiver") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  sketch.send(0, group, 0, megabyte);
  const std::uint32_t busy = sketch.compute(1, 100 * us);
  const std::uint32_t received = sketch.receive(1, group, 0, megabyte, {busy});
  sketch.compute(1, us, {received});
  const IterationReport report = run(samples::ring(2), sketch);
  CHECK(report.duration == Time{101 * us});
  CHECK(end_of(report, 0, 0) == Time{sending_takes});
  CHECK(end_of(report, 1, 1) == Time{100 * us});
  CHECK(report.spans[2] == OperationSpan{NodeId{1}, 1, Time{100 * us}, Time{}, Time{100 * us}});
  CHECK(report.accounts[1].compute == Time{101 * us});
  CHECK(report.accounts[0].bubble == Time{101 * us} - Time{sending_takes});
}

TEST_CASE("the compute unit takes what is ready and first in the program, and finishes it") {
  Sketch sketch(1);
  const std::uint32_t a = sketch.compute(0, 10 * us);
  const std::uint32_t b = sketch.compute(0, 0, {a});
  sketch.compute(0, 1 * us, {b}); // ready at 10 us, when 3 has been for long, but before it
  sketch.compute(0, 2 * us);
  sketch.compute(0, 4 * us);
  const IterationReport report = run(Topology(samples::npus("alone", 1)), sketch);
  CHECK(report.duration == Time{17 * us});
  CHECK(end_of(report, 0, 1) == Time{10 * us});
  CHECK(end_of(report, 0, 2) == Time{11 * us});
  CHECK(end_of(report, 0, 3) == Time{13 * us});
  CHECK(end_of(report, 0, 4) == Time{17 * us});
}

TEST_CASE("a group of one communicates in no time") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({1});
  const std::uint32_t first = sketch.compute(1, 3 * us);
  const std::uint32_t alone = sketch.collective(1, group, 0, megabyte, {first});
  sketch.compute(1, 3 * us, {alone});
  const IterationReport report = run(samples::ring(2), sketch);
  CHECK(report.duration == Time{6 * us});
  CHECK(report.communications == 1);
  CHECK(report.accounts[0].waiting == Time{6 * us});
}

TEST_CASE("two that meet on a link: by priority, else who begins first, else by group and tag") {
  const auto second_end = [](std::uint8_t of_first, std::uint8_t of_second) {
    Sketch sketch(2);
    const std::uint32_t group = sketch.group({0, 1});
    sketch.priority = of_first;
    sketch.send(0, group, 0, megabyte);
    sketch.priority = of_second;
    sketch.send(0, group, 1, megabyte);
    sketch.priority = of_first;
    sketch.receive(1, group, 0, megabyte);
    sketch.priority = of_second;
    sketch.receive(1, group, 1, megabyte);
    return end_of(run(samples::ring(2), sketch), 1, 1);
  };
  CHECK(second_end(0, 0) == Time{40 * us + us / 2});
  CHECK(second_end(0, 1) == Time{20 * us + us / 2});
  CHECK(second_end(5, 1) == Time{40 * us + us / 2});
}

TEST_CASE("zero computing: communication in a chain takes the sum of the times alone") {
  const Topology topology = samples::ring(4);
  Sketch sketch(4);
  const std::uint32_t group = sketch.group({0, 1, 2, 3});
  for (std::uint32_t npu = 0; npu < 4; ++npu) {
    std::uint32_t last = sketch.compute(npu, 0);
    for (std::uint32_t tag = 0; tag < 3; ++tag)
      last = sketch.collective(npu, group, tag, Bytes{(1 + tag) * 400'000}, {last});
  }
  const WorkloadPlans plans = plans_by("ring", topology, sketch.workload);
  Time sum;
  for (const PlacedPlan& placed : plans.plans)
    sum += run_native(topology, placed.plan->collective, placed.plan->schedule, {}).completion;
  const IterationReport report = run(topology, sketch, {}, "ring");
  // Members are over when all that concerns them is delivered; on a ring all are at once.
  CHECK(report.duration == sum);
  CHECK(report.accounts[2].exposed[0] == sum);
}

TEST_CASE("infinite bandwidth: the critical path of computing is left") {
  TopologyParts parts = samples::npus("fast", 2);
  parts.add_duplex({NodeId{0}, NodeId{1}, Time{}, Bandwidth{1'000'000'000'000'000'000}});
  const Topology topology(std::move(parts));
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  std::vector<std::uint32_t> last(2);
  constexpr std::int64_t times[3][2] = {{10, 20}, {30, 5}, {7, 8}};
  for (std::uint32_t npu = 0; npu < 2; ++npu)
    for (std::uint32_t step = 0; step < 3; ++step) {
      const std::uint32_t computed = step == 0
                                         ? sketch.compute(npu, times[step][npu] * us)
                                         : sketch.compute(npu, times[step][npu] * us, {last[npu]});
      last[npu] = sketch.collective(npu, group, step, Bytes{2}, {computed});
    }
  // Each All-Reduce takes 2 ps: a byte a link in Reduce-Scatter and All-Gather.
  CHECK(run(topology, sketch).duration == Time{(20 + 30 + 8) * us + 3 * 2});
}

TEST_CASE("engines that disagree about an iteration are told") {
  const Topology topology = samples::ring(2);
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  const std::uint32_t computed = sketch.compute(0, 10 * us);
  sketch.send(0, group, 0, megabyte, {computed});
  sketch.receive(1, group, 0, megabyte);
  const WorkloadPlans plans = plans_by("direct", topology, sketch.workload);
  const std::vector<NodeId> npus = npus_of(topology);
  IterationOptions options;
  options.record = npus;
  const IterationReport native = run_iteration_native(topology, sketch.workload, plans, options);
  const auto told = [&](const auto& change) {
    IterationReport other = native;
    change(other);
    return disagreement(agreement_of(topology, sketch.workload, plans, options, native, other));
  };
  CHECK(told([](IterationReport&) {}) == "");
  CHECK_THAT(told([](IterationReport& r) { r.duration += Time{1}; }),
             ContainsSubstring("1ps apart at most, in the duration"));
  CHECK_THAT(told([](IterationReport& r) { r.accounts[0].compute += Time{1}; }),
             ContainsSubstring("how long npu0 computes"));
  CHECK_THAT(told([](IterationReport& r) { r.communication[1][0] += Time{1}; }),
             ContainsSubstring("npu1"));
  CHECK_THAT(told([](IterationReport& r) { r.spans[0].end += Time{1}; }),
             ContainsSubstring("when npu0 does operation 0"));
  CHECK_THAT(told([](IterationReport& r) { r.links[0].bytes += Bytes{1}; }),
             ContainsSubstring("how much crosses"));
  // And simgrid on links of half the bandwidth.
  TopologyParts parts = topology.parts();
  for (Link& link : parts.links) link.bandwidth.bytes_per_second /= 2;
  const Topology slow(std::move(parts));
  CHECK(disagreement(agreement_of(topology, sketch.workload, plans, options, native,
                                  run_iteration_simgrid(slow, sketch.workload, plans, options))) !=
        "");
}

TEST_CASE("stragglers, and events on links") {
  const Topology topology = samples::ring(2);
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  const std::uint32_t first = sketch.compute(0, 10 * us);
  const std::uint32_t second = sketch.compute(0, 10 * us, {first});
  sketch.send(0, group, 0, megabyte, {second});
  sketch.receive(1, group, 0, megabyte);
  const std::vector<NetworkEvent> events = sorted_events(
      topology, std::vector<NetworkEvent>{
                    {Time{5 * us}, NetworkEvent::Kind::npu_rate, {}, NodeId{0}, Share{500'000}}});
  IterationOptions options;
  options.events = events;
  // The first is computed at full speed, the second in 20 us; the link carries half as fast.
  CHECK(run(topology, sketch, options).duration == Time{30 * us + 40 * us + us / 2});

  const std::vector<Share> shares{Share{250'000}, Share{}};
  options.compute_shares = shares;
  CHECK(run(topology, sketch, options).duration == Time{40 * us + 80 * us + 40 * us + us / 2});

  const std::vector<NetworkEvent> outage = sorted_events(
      topology, std::vector<NetworkEvent>{{Time{30 * us}, NetworkEvent::Kind::link_down, LinkId{0}},
                                          {Time{37 * us}, NetworkEvent::Kind::link_up, LinkId{0}}});
  IterationOptions down;
  down.events = outage;
  CHECK(run(topology, sketch, down).duration == Time{20 * us + sending_takes + 7 * us});
}

TEST_CASE("who starts late computes, sends and takes delivery only then") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  const std::uint32_t sent = sketch.send(0, group, 0, megabyte);
  sketch.compute(0, us, {sent});
  const std::uint32_t received = sketch.receive(1, group, 0, megabyte);
  sketch.compute(1, 5 * us, {received});
  IterationOptions options;
  const std::vector<Time> after_arrival{Time{}, Time{50 * us}};
  options.starts = after_arrival;
  const IterationReport late = run(samples::ring(2), sketch, options);
  CHECK(late.duration == Time{55 * us});
  CHECK(exposed(late.accounts[0], Purpose::pipeline) == Time{50 * us});
  CHECK(late.accounts[0].bubble == Time{4 * us});
  CHECK(late.accounts[1].waiting == Time{50 * us});
  CHECK(late.accounts[1].compute == Time{5 * us});
  CHECK(late.spans[2] == OperationSpan{NodeId{1}, 0, Time{50 * us}, Time{}, Time{50 * us}});

  const std::vector<Time> before_arrival{Time{}, Time{10 * us}};
  options.starts = before_arrival;
  const IterationReport in_time = run(samples::ring(2), sketch, options);
  CHECK(in_time.duration == Time{sending_takes + 5 * us});
  CHECK(end_of(in_time, 0, 0) == Time{sending_takes});
  CHECK(in_time.accounts[1].waiting == Time{10 * us});
  CHECK(exposed(in_time.accounts[1], Purpose::pipeline) == Time{sending_takes - 10 * us});
}

TEST_CASE("a collective begins when the last of its members has started") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  for (std::uint32_t npu = 0; npu < 2; ++npu)
    sketch.collective(npu, group, 0, megabyte, {}, Purpose::tensor);
  const std::vector<Time> starts{Time{3 * us}, Time{7 * us}};
  IterationOptions options;
  options.starts = starts;
  const IterationReport report = run(samples::ring(2), sketch, options);
  CHECK(report.duration == Time{7 * us + all_reduce_takes});
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    CHECK(report.accounts[npu].waiting == Time{7 * us});
    CHECK(exposed(report.accounts[npu], Purpose::tensor) == Time{all_reduce_takes});
  }
  CHECK(report.spans[0] ==
        OperationSpan{NodeId{0}, 0, Time{3 * us}, Time{7 * us}, Time{7 * us + all_reduce_takes}});
}

TEST_CASE("one at a time, who starts late is waited for in what has begun") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  const std::uint32_t computed = sketch.compute(0, 10 * us);
  sketch.collective(0, group, 0, megabyte, {computed}, Purpose::tensor);
  sketch.collective(1, group, 0, megabyte, {}, Purpose::tensor);
  const std::vector<Time> starts{Time{}, Time{30 * us}};
  IterationOptions options;
  options.one_at_a_time = true;
  options.starts = starts;
  // As where it computes for that long.
  const IterationReport report = run(samples::ring(2), sketch, options);
  CHECK(end_of(report, 0, 1) == Time{50 * us + us / 2});
  CHECK(report.spans[2] ==
        OperationSpan{NodeId{1}, 0, Time{30 * us}, Time{30 * us}, Time{51 * us}});
  CHECK(report.accounts[1].waiting == Time{30 * us});

  Sketch sends(2);
  const std::uint32_t pair = sends.group({0, 1});
  for (std::uint32_t tag = 0; tag < 2; ++tag) {
    sends.send(0, pair, tag, megabyte);
    sends.receive(1, pair, tag, megabyte);
  }
  const IterationReport one = run(samples::ring(2), sends, options);
  CHECK(end_of(one, 0, 0) == Time{30 * us});
  CHECK(one.duration == Time{30 * us + sending_takes});
  options.one_at_a_time = false;
  CHECK(run(samples::ring(2), sends, options).duration == Time{40 * us + us / 2});
}

TEST_CASE("a start counts where nothing is to be done, and holds up nobody else's data") {
  Sketch sketch(4);
  const std::uint32_t pair = sketch.group({0, 2});
  sketch.compute(3, 3 * us);
  sketch.send(0, pair, 0, megabyte);
  sketch.receive(2, pair, 0, megabyte);
  const std::vector<Time> starts{Time{}, Time{90 * us}, Time{}, Time{90 * us}};
  IterationOptions options;
  options.starts = starts;
  const IterationReport report = run(samples::ring(4), sketch, options);
  CHECK(end_of(report, 2, 0) == Time{2 * sending_takes}); // through npu1 or npu3
  CHECK(report.duration == Time{93 * us});
  CHECK(report.accounts[1].waiting == Time{93 * us});
  CHECK(report.accounts[3].compute == Time{3 * us});

  const Sketch idle(2);
  const std::vector<Time> only{Time{}, Time{9 * us}};
  options.starts = only;
  CHECK(run(samples::ring(2), idle, options).duration == Time{9 * us});
}

TEST_CASE("bad starts of iterations") {
  TopologyParts parts = samples::npus("star", 2);
  const NodeId center = parts.add_node({"center", NodeKind::switching, {false, false, false}, {}});
  for (std::uint32_t npu = 0; npu < 2; ++npu)
    parts.add_duplex({NodeId{npu}, center, Time{us}, Bandwidth{1'000'000'000}});
  const Topology topology(std::move(parts));
  const Sketch sketch(2);
  const auto message = [&](const std::vector<Time>& starts) {
    IterationOptions options;
    options.starts = starts;
    return message_of([&] { (void)run_iteration_native(topology, sketch.workload, {}, options); });
  };
  CHECK(message({Time{}, Time{us}, Time{}}) == "");
  CHECK(message({Time{}, Time{us}}) == "2 start times are given for 3 nodes");
  CHECK(message({Time{}, Time{-1}, Time{}}) == "npu1 starts before time 0");
  CHECK(message({Time{}, Time{}, Time{us}}) == "center is no NPU, so it can't start late");
  CHECK(message({Time{INT64_MAX}, Time{}, Time{}}) == "the simulated time exceeds 53 days");
}

TEST_CASE("folding saves what happens alone, and nothing else") {
  // Links 0>1, 1>2, 2>3, 3>0 and back: 0 and 1 share no link with 2 and 3.
  const Topology topology = samples::ring(4);
  const auto sketch_of = [](std::int64_t of_others) {
    Sketch sketch(4);
    const std::uint32_t pair = sketch.group({0, 1}), other = sketch.group({2, 3}),
                        all = sketch.group({0, 1, 2, 3});
    for (std::uint32_t npu = 0; npu < 4; ++npu) {
      std::vector<std::uint32_t> last(1, sketch.compute(npu, us));
      for (std::uint32_t tag = 0; tag < 10; ++tag)
        last.front() = sketch.collective(npu, npu < 2 ? pair : other, tag, megabyte, {last[0]});
      const std::uint32_t computed = sketch.compute(npu, of_others);
      sketch.collective(npu, all, 99, megabyte, {computed});
    }
    return sketch;
  };
  const auto counts = [&](std::int64_t of_others) {
    const Sketch sketch = sketch_of(of_others);
    const WorkloadPlans plans = plans_by("direct", topology, sketch.workload);
    (void)run(topology, sketch);
    return run_iteration_native(topology, sketch.workload, plans);
  };
  const IterationReport apart = counts(1000 * us); // when the pairs are over
  CHECK(apart.link_transfers > 20 * 4);
  // Of each pair's plan one is replayed (4 crossings), and one All-Reduce of all.
  CHECK(apart.replayed == apart.link_transfers - 20 * 4 + 2 * 4);
  const IterationReport meeting = counts(50 * us); // in the middle of the pairs'
  CHECK(meeting.replayed > apart.replayed);
  CHECK(meeting.replayed < meeting.link_transfers + apart.replayed);
}

TEST_CASE("members that wait for each other in a cycle are named") {
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  const std::uint32_t a = sketch.collective(0, group, 0, megabyte);
  sketch.collective(0, group, 1, megabyte, {a});
  const std::uint32_t b = sketch.collective(1, group, 1, megabyte);
  sketch.collective(1, group, 0, megabyte, {b});
  const Topology topology = samples::ring(2);
  const WorkloadPlans plans = plans_by("direct", topology, sketch.workload);
  const std::string message =
      "the run comes to a halt with 4 operations left: gradients (all_reduce number 0 of group 0) "
      "waits for npu1 (which waits in its gradients); gradients (all_reduce number 1 of group 0) "
      "waits for npu0 (which waits in its gradients)";
  CHECK(message_of([&] { (void)run_iteration_native(topology, sketch.workload, plans); }) ==
        message);
  CHECK(message_of([&] { (void)run_iteration_simgrid(topology, sketch.workload, plans); }) ==
        message);
}

TEST_CASE("bad input of iterations") {
  const Topology topology = samples::ring(2);
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  for (std::uint32_t npu = 0; npu < 2; ++npu) sketch.collective(npu, group, 0, megabyte);
  const WorkloadPlans plans = plans_by("direct", topology, sketch.workload);
  const auto message = [&](const WorkloadPlans& given, const IterationOptions& options) {
    return message_of(
        [&] { (void)run_iteration_native(topology, sketch.workload, given, options); });
  };
  CHECK(message({}, {}) == "there is no plan for all_reduce of 1MB in group 0");
  WorkloadPlans other = plans;
  std::swap(other.plans[0].nodes[0], other.plans[0].nodes[1]);
  CHECK(message(other, {}) == ""); // the members in another order are the same members
  other = plans;
  other.plans[0].links.pop_back();
  CHECK(message(other, {}) == "the plan for all_reduce of 1MB in group 0 doesn't fit: 1 links are "
                              "placed, it has 2");
  other = plans;
  other.plans[0].links[0] = LinkId{1};
  CHECK(message(other, {}) == "the plan for all_reduce of 1MB in group 0 doesn't fit: two of its "
                              "links are placed on one");
  IterationOptions options;
  options.model.discipline = Discipline::fluid;
  CHECK(message(plans, options) == "workloads run on fifo only; fluid knows no computing");
  const std::vector<NetworkEvent> death{{Time{us}, NetworkEvent::Kind::npu_down, {}, NodeId{1}}};
  options = {};
  options.events = death;
  CHECK(message(plans, options) == "npu1 down at 1us: training doesn't survive NPUs that go down");
  const std::vector<NetworkEvent> outage{{Time{us}, NetworkEvent::Kind::link_down, LinkId{0}}};
  options.events = outage;
  CHECK(message(plans, options) ==
        "the run comes to a halt with 2 operations left; communication under way waits for "
        "npu0>npu1, which is down since 1us");
  options = {};
  const std::vector<Share> none{Share{0}, Share{}};
  options.compute_shares = none;
  CHECK(message(plans, options) == "a computing share is 0, or more than 1");
}

} // namespace iteration_test
