#include "workloads/planning/placed_plan.hpp"
#include "workloads/planning/repair.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/training_planning.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/workloads/planning/workload_samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace training_repair_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

PlanningOptions by(const std::string& name) {
  PlanningOptions options;
  options.algorithms = {find_algorithm(name)};
  return options;
}

/// Every plan is correct on the whole network, and runs there with the links down from the start in
/// the time that it takes where nothing happens.
void check_around(const Topology& topology, const Workload& workload, const WorkloadPlans& plans,
                  const std::vector<LinkId>& failed) {
  REQUIRE(plans.requests == requests_of(workload));
  REQUIRE(plans.plans.size() == plans.requests.size());
  const std::vector<NetworkEvent> events = links_down(topology, failed);
  for (std::size_t i = 0; i < plans.plans.size(); ++i) {
    const PlacedPlan& placed = plans.plans[i];
    const Collective collective = asked_for(topology, workload, plans.requests[i], placed);
    const Schedule schedule = on_the_whole(topology, placed);
    CHECK(verify(topology, collective, schedule).correct());
    RunOptions options;
    options.events = events;
    CHECK(run_native(topology, collective, schedule, {}, options).completion ==
          run_native(topology, collective, schedule, {}).completion);
  }
}

Time alone(const Topology& topology, const PlacedPlan& placed) {
  const CommunicationPlan plan = on_whole_network(topology, placed);
  return run_native(topology, plan.collective, plan.schedule, {}).completion;
}

/// The links from a to b.
} // namespace

TEST_CASE("rerouted: the long way round a ring") {
  const Topology topology = samples::ring(4);
  const Workload workload =
      communicating(4, {{0, 1, 2, 3}}, {{CollectiveKind::all_gather, Bytes{4'000}}});
  const WorkloadPlans plans = planned(topology, workload, by("ring1")).plans;
  const LinkId gone = samples::link_between(topology, 0, 1);
  const std::vector<LinkId> failed{gone};
  const WorkloadPlans around = rerouted(topology, plans, failed, {});
  check_around(topology, workload, around, failed);

  const Schedule before = on_the_whole(topology, plans.plans.front());
  const Schedule after = on_the_whole(topology, around.plans.front());
  REQUIRE(after.size() == before.size());
  const std::vector<LinkId> detour{samples::link_between(topology, 0, 3),
                                   samples::link_between(topology, 3, 2),
                                   samples::link_between(topology, 2, 1)};
  std::size_t replaced = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto was = before.paths().links(before.path_of(i));
    const auto is = after.paths().links(after.path_of(i));
    CHECK(after[i].chunk == before[i].chunk);
    const bool is_over = std::ranges::count(was, gone) > 0;
    replaced += is_over;
    CHECK(std::ranges::equal(is, is_over ? std::span<const LinkId>(detour) : was));
  }
  CHECK(replaced == 3); // three shards go from npu0 to npu1
}

TEST_CASE("rerouted: over neighbours that aren't in the group, where that is shorter") {
  const Topology topology = make_topology("torus2d:8x8");
  const Workload workload = communicating(
      64, {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}},
      {{CollectiveKind::all_gather, Bytes{8'000}}, {CollectiveKind::all_reduce, Bytes{8'000}}});
  const WorkloadPlans plans = planned(topology, workload, by("ring")).plans;
  const std::vector<LinkId> failed{samples::link_between(topology, 0, 1),
                                   samples::link_between(topology, 1, 0)};
  const WorkloadPlans around = rerouted(topology, plans, failed, {});
  check_around(topology, workload, around, failed);
  std::size_t longest = 0;
  for (const PlacedPlan& placed : around.plans) {
    const Schedule& schedule = placed.plan->schedule;
    for (std::size_t i = 0; i < schedule.size(); ++i)
      longest = std::max(longest, schedule.paths().links(schedule.path_of(i)).size());
  }
  CHECK(longest == 3); // around the square; round the ring they are seven
  for (std::size_t i = 0; i < plans.plans.size(); ++i) {
    const bool is_hit = plans.requests[i].group == 0;
    CHECK((around.plans[i].plan == plans.plans[i].plan) == !is_hit);
  }
}

TEST_CASE("rerouted: without failures, nothing changes") {
  const Topology topology = samples::ring(4);
  const Workload workload =
      communicating(4, {{0, 1, 2, 3}}, {{CollectiveKind::all_gather, Bytes{4'000}}});
  const WorkloadPlans plans = planned(topology, workload, by("ring")).plans;
  CHECK(rerouted(topology, plans, {}, {}).plans.front().plan == plans.plans.front().plan);
}

TEST_CASE("resynthesized: plans use what is left") {
  for (const std::string name : {"torus2d:4x4", "rfs:2x4x2", "dgx_a100_rail:2"}) {
    INFO(name);
    const Topology topology = make_topology(name);
    const Workload workload = communicating(16, {{0, 1, 2, 3}, {0, 4, 8, 12}, {5, 6}, {0, 8}},
                                            {{CollectiveKind::all_reduce, Bytes{64'000}},
                                             {CollectiveKind::broadcast, Bytes{64'000}, 1}});
    // Two links of npu0 where that leaves others.
    const std::vector<LinkId> failed{topology.out_links(NodeId{0}).front(),
                                     topology.in_links(NodeId{0}).front()};
    const WorkloadPlans plans = planned(topology, workload, by("tacos")).plans;
    const WorkloadPlanning planning = planned_anew(topology, workload, by("tacos"), plans, failed);
    CHECK(planning.problem.empty());
    check_around(topology, workload, planning.plans, failed);
    for (const PlacedPlan& placed : planning.plans.plans)
      for (const LinkId link : failed) CHECK(std::ranges::count(placed.links, link) == 0);

    const WorkloadPlans around = rerouted(topology, plans, failed, {});
    check_around(topology, workload, around, failed);
    std::uint64_t requests = 0;
    for (const PlannedCommunication& row : planning.communications) {
      CHECK(row.bound <= row.alone);
      requests += row.requests;
    }
    CHECK(requests == planning.plans.plans.size());
    for (std::size_t i = 0; i < plans.plans.size(); ++i)
      CHECK(alone(topology, planning.plans.plans[i]) <= alone(topology, around.plans[i]));
  }
}

TEST_CASE("resynthesized: where neighbours lend more than a group has left, the old plan stays") {
  // A row of the torus loses a link of its ring; on what is left of the row alone all goes one way.
  const Topology topology = make_topology("torus2d:8x4");
  const Workload workload = communicating(32, {{0, 1, 2, 3, 4, 5, 6, 7}},
                                          {{CollectiveKind::all_gather, Bytes{8'000'000}}});
  const std::vector<LinkId> failed{samples::link_between(topology, 0, 1),
                                   samples::link_between(topology, 1, 0)};
  const WorkloadPlans plans = planned(topology, workload, by("ring")).plans;
  const WorkloadPlanning planning = planned_anew(topology, workload, by("ring"), plans, failed);
  const PlacedPlan& kept = planning.plans.plans.front();
  CHECK(alone(topology, kept) ==
        alone(topology, rerouted(topology, plans, failed, {}).plans.front()));
  REQUIRE(planning.communications.size() == 1);
  CHECK(planning.communications.front().algorithm == "ring, with detours");
  CHECK(planning.communications.front().requests == 1);
  CHECK(planning.communications.front().alone == alone(topology, kept));
  CHECK(planning.communications.front().bound <= planning.communications.front().alone);
}

TEST_CASE("a member that is cut off is named") {
  const Topology topology = samples::star(4);
  const Workload workload =
      communicating(4, {{0, 1, 2, 3}}, {{CollectiveKind::all_gather, Bytes{4'000}}});
  const WorkloadPlans plans = planned(topology, workload, by("ring")).plans;
  const std::vector<LinkId> failed{topology.in_links(NodeId{2}).front()};
  CHECK_THAT(message_of([&] { (void)rerouted(topology, plans, failed, {}); }),
             ContainsSubstring("npu2 can't be reached"));
  CHECK_THAT(message_of([&] { (void)planned_anew(topology, workload, by("ring"), plans, failed); }),
             ContainsSubstring("can't get from npu0 to npu2"));
}

TEST_CASE("links that aren't there, or are named twice, are refused") {
  const Topology topology = samples::ring(4);
  CHECK_THROWS_AS(links_down(topology, std::vector{LinkId{8}}), InputError);
  CHECK_THROWS_AS(links_down(topology, std::vector{LinkId{1}, LinkId{1}}), InputError);
  const std::vector<NetworkEvent> events = links_down(topology, std::vector{LinkId{3}, LinkId{1}});
  REQUIRE(events.size() == 2);
  for (const NetworkEvent& event : events) {
    CHECK(event.at == Time{});
    CHECK(event.kind == NetworkEvent::Kind::link_down);
  }
}

} // namespace training_repair_test
