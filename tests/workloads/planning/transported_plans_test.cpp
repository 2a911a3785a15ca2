// Plans under a transport: launches, lanes that several plans share, what a protocol is chosen by;
// all by hand, on both engines.
#include "workloads/planning/transported_plans.hpp"

#include "sim/engines/engine.hpp"
#include "sim/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sim/iteration_samples.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace transported_plans_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

/// NPUs with links of 100 GB/s to the next and back, that take 1 us.
Topology line(std::uint32_t npus, std::vector<SharedGroup> groups = {}) {
  TopologyParts parts;
  parts.name = "line";
  for (std::uint32_t n = 0; n < npus; ++n)
    parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  for (std::uint32_t n = 0; n + 1 < npus; ++n) {
    Link link;
    link.from = NodeId{n};
    link.to = NodeId{n + 1};
    link.bandwidth = Bandwidth{100'000'000'000};
    link.latency = Time{us};
    link.part = parts.link_part("wire");
    parts.add_duplex(link);
  }
  parts.groups = std::move(groups);
  return Topology(std::move(parts));
}

TransportRule rule_of(const std::string& protocol, double share, std::int64_t latency_us) {
  TransportRule rule;
  rule.part = "wire";
  rule.protocol = protocol;
  rule.share = share;
  rule.latency = Time{latency_us * us};
  return rule;
}

Transport transport() {
  Transport made;
  made.name = "t";
  made.launch = {{"", Time{10 * us}}};
  made.rules = {rule_of("simple", 0.5, 4), rule_of("ll", 0.25, 1)};
  return made;
}

/// Of sends, in the order of requests, by these protocols.
WorkloadPlans plans_of(const Topology& topology, const Workload& workload,
                       const std::vector<std::string>& protocols) {
  WorkloadPlans plans = plans_by("direct", topology, workload);
  REQUIRE(plans.plans.size() == protocols.size());
  for (std::size_t i = 0; i < protocols.size(); ++i) {
    CommunicationPlan plan = *plans.plans[i].plan;
    plan.library = LibraryChoice{"", protocols[i], 0, false};
    plans.plans[i].plan = std::make_shared<const CommunicationPlan>(std::move(plan));
  }
  return plans;
}

/// npu0 sends to npu1, in two groups at once: 1 MB and 1.5 MB.
Workload two_sends() {
  Sketch sketch(2);
  const std::uint32_t one = sketch.group({0, 1}), other = sketch.group({0, 1});
  for (const auto& [group, size] : {std::pair{one, 1'000'000}, std::pair{other, 1'500'000}}) {
    sketch.send(0, group, 0, Bytes{size});
    sketch.receive(1, group, 0, Bytes{size});
  }
  return sketch.workload;
}

void check_duration(const TransportedPlans& by, const Workload& workload, Time expected) {
  IterationOptions options;
  CHECK(run_iteration_native(by.topology, workload, by.plans, options).duration == expected);
  options.fold = false;
  CHECK(run_iteration_native(by.topology, workload, by.plans, options).duration == expected);
  CHECK(run_iteration_simgrid(by.topology, workload, by.plans, options).duration == expected);
}

} // namespace

TEST_CASE("a call's transfers begin when it is launched, whatever else is computed meanwhile") {
  const Topology topology = line(2);
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    const std::uint32_t before = sketch.compute(npu, npu == 0 ? 3 * us : 5 * us);
    sketch.collective(npu, group, 0, Bytes{2'000'000}, {before});
    sketch.compute(npu, 7 * us, {before}); // beside the launch
  }
  const TransportedPlans by =
      transported(topology, plans_of(topology, sketch.workload, {"simple"}), transport());
  // Both are there at 5 us; launched at 15; twice 1 MB at 50 GB/s and 4 us each way.
  check_duration(by, sketch.workload, Time{(5 + 10 + 2 * (20 + 4)) * us});
}

TEST_CASE("plans on one link share what their protocols leave of it") {
  const Topology topology = line(2);
  const Workload workload = two_sends();
  const WorkloadPlans plans = plans_of(topology, workload, {"simple", "ll"});
  const TransportedPlans by = transported(topology, plans, transport());
  REQUIRE(by.topology.link_count() == 4); // two lanes behind the links, which nothing crosses
  CHECK(by.original == std::vector<LinkId>{LinkId{0}, LinkId{1}, LinkId{0}, LinkId{0}});
  // Simple fills the wire most: 50 GB/s.
  REQUIRE(by.topology.groups().size() == 1);
  CHECK(by.topology.groups()[0].bandwidth.bytes_per_second == 50'000'000'000);
  // 1 MB keeps the wire for 20 us; then 1.5 MB take 60 us at 25 GB/s and 1 us.
  check_duration(by, workload, Time{(10 + 20 + 60 + 1) * us});

  const IterationReport report =
      run_iteration_native(by.topology, workload, by.plans, IterationOptions{});
  const std::vector<LinkUse> uses = without_lanes(by, report.links, topology.link_count());
  CHECK(uses[0].bytes == Bytes{2'500'000});
  CHECK(uses[0].transfers == 2);
  CHECK(uses[0].busy == Time{(20 + 60) * us});
  CHECK(uses[1].bytes == Bytes{0});
}

TEST_CASE("plans that share no link but a group share that") {
  const Topology topology = line(3, {{"bus", {LinkId{0}, LinkId{2}}, Bandwidth{100'000'000'000}}});
  Sketch sketch(3);
  const std::uint32_t one = sketch.group({0, 1}), other = sketch.group({1, 2});
  sketch.send(0, one, 0, Bytes{1'000'000});
  sketch.receive(1, one, 0, Bytes{1'000'000});
  sketch.send(1, other, 0, Bytes{1'500'000});
  sketch.receive(2, other, 0, Bytes{1'500'000});
  const TransportedPlans by =
      transported(topology, plans_of(topology, sketch.workload, {"simple", "ll"}), transport());
  std::vector<std::int64_t> rates; // of the bus itself, of each plan on it, of both
  for (const SharedGroup& group : by.topology.groups())
    rates.push_back(group.bandwidth.bytes_per_second / 1'000'000'000);
  CHECK(rates == std::vector<std::int64_t>{100, 50, 25, 50});
}

TEST_CASE("a plan alone takes what it takes in an iteration, by the protocol that suits it") {
  const Topology topology = line(2);
  const Transport made = transport();
  for (const auto& [size, protocol] : {std::pair{100'000, "ll"}, std::pair{10'000'000, "simple"}}) {
    Sketch sketch(2);
    const std::uint32_t group = sketch.group({0, 1});
    sketch.send(0, group, 0, Bytes{size});
    sketch.receive(1, group, 0, Bytes{size});
    WorkloadPlans plans = plans_by("direct", topology, sketch.workload);
    CommunicationPlan plan = *plans.plans[0].plan;
    const PlanTimes times = timed(topology, plan, true, &made, TimeModel{}, {});
    REQUIRE(plan.library);
    CHECK(plan.library->protocol == protocol);
    plans.plans[0].plan = std::make_shared<const CommunicationPlan>(plan);
    check_duration(transported(topology, plans, made), sketch.workload, times.alone);
  }
}

TEST_CASE("what one NPU sends to another never goes by LL128") {
  const Topology topology = line(2);
  Transport made = transport();
  made.rules.push_back(rule_of("ll128", 1, 0));
  Sketch sketch(2);
  const std::uint32_t group = sketch.group({0, 1});
  sketch.send(0, group, 0, Bytes{1'000'000});
  sketch.receive(1, group, 0, Bytes{1'000'000});
  CommunicationPlan plan = *plans_by("direct", topology, sketch.workload).plans[0].plan;
  CommunicationPlan collective = plan;
  (void)timed(topology, plan, true, &made, TimeModel{}, {});
  CHECK(plan.library->protocol == "simple");
  (void)timed(topology, collective, false, &made, TimeModel{}, {});
  CHECK(collective.library->protocol == "ll128");
}

TEST_CASE("a link that goes down takes its lanes with it; other events nobody has measured") {
  const Topology topology = line(2);
  const Workload workload = two_sends();
  const TransportedPlans by =
      transported(topology, plans_of(topology, workload, {"simple", "ll"}), transport());
  std::vector<NetworkEvent> events(2);
  events[0] = {.at = Time{15 * us}, .kind = NetworkEvent::Kind::link_down, .link = LinkId{0}};
  events[1] = {.at = Time{45 * us}, .kind = NetworkEvent::Kind::link_up, .link = LinkId{0}};
  const std::vector<NetworkEvent> on = on_lanes(by, events);
  REQUIRE(on.size() == 6);
  CHECK(std::ranges::count(on, LinkId{2}, &NetworkEvent::link) == 2);
  IterationOptions options;
  options.events = on;
  // The first has 5 us behind it at 15 us, and 15 to go from 45 us on; the second is as long as
  // ever, from when the group is free again.
  const IterationReport report = run_iteration_native(by.topology, workload, by.plans, options);
  CHECK(report.duration > Time{(45 + 60) * us});
  CHECK(report.duration ==
        run_iteration_simgrid(by.topology, workload, by.plans, options).duration);

  events.resize(1);
  events[0].kind = NetworkEvent::Kind::link_rate;
  events[0].share = Share{500'000};
  CHECK(message_of([&] { (void)on_lanes(by, events); }) ==
        "npu0>npu1 at 50 % of its rate: under a transport links go down and up only");
}

} // namespace transported_plans_test
