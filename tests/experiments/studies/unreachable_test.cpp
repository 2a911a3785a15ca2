// Who is dead or out of reach is nobody's reason to give up what the others want: every algorithm
// and every collective on networks with an NPU that can't be reached, and through its death. What
// must come of it is worked out here from the definition; schedules are verified.

#include "experiments/driver/studies/failures/evaluation.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace unreachable_test {

using namespace tutti;

namespace {

/// Have a plan wherever there is one.
constexpr std::array<std::string_view, 4> complete_planners{"tacos", "flows", "taccl", "teccl"};

bool is_complete(std::string_view name) {
  return std::ranges::find(complete_planners, name) != complete_planners.end();
}

std::vector<NodeId> all_but(const Topology& topology, NodeId npu) {
  std::vector<NodeId> npus;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    if (NodeId{n} != npu) npus.emplace_back(n);
  return npus;
}

/// Without the links that lead to an NPU, or away from it, or both.
Topology cut_off(const Topology& topology, NodeId npu, bool in, bool out) {
  NetworkState state(topology);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    if ((in && link.to == npu) || (out && link.from == npu))
      state.apply({.at = {}, .kind = NetworkEvent::Kind::link_down, .link = LinkId{l}});
  }
  return present_network(topology, state).topology;
}

/// Joined with the NPU gone, so that those who are left have a schedule.
bool stay_joined(const Topology& topology, NodeId npu) {
  const Topology rest = cut_off(topology, npu, true, true);
  const std::vector<NodeId> members = all_but(topology, npu);
  for (const NodeId from : members) {
    std::set<NodeId> seen{from};
    std::vector<NodeId> next{from};
    while (!next.empty()) {
      const NodeId at = next.back();
      next.pop_back();
      for (const LinkId link : rest.out_links(at))
        if (seen.insert(rest.link(link).to).second) next.push_back(rest.link(link).to);
    }
    for (const NodeId to : members)
      if (!seen.contains(to)) return false;
  }
  return true;
}

void check_everybody(const Topology& topology, std::span<const NodeId> group, bool is_feasible) {
  for (const CollectiveKind kind : named_collectives()) {
    const Collective collective =
        make_collective(topology, {kind, Bytes{24'000}, {group.begin(), group.end()}, 0, 2});
    for (const AlgorithmRow& row : all_algorithms()) {
      INFO(row.name << " for " << collective.name() << " on " << topology.name());
      const Outcome outcome = synthesize(row, topology, collective, {});
      if (!is_feasible) {
        CHECK(outcome.status == Status::infeasible);
        CHECK_FALSE(outcome.schedule);
        CHECK(outcome.note.find("chunk ") != std::string::npos);
        CHECK(outcome.note.find("npu") != std::string::npos);
      } else if (outcome.schedule) {
        CHECK((outcome.status == Status::feasible || outcome.status == Status::optimal));
        CHECK(verdict_problem(verify(topology, collective, *outcome.schedule), row.imitates) == "");
      } else {
        CHECK(outcome.status == Status::unsupported);
        CHECK_FALSE(outcome.note.empty());
        CHECK_FALSE(is_complete(row.name));
      }
    }
  }
}

/// An outsider without any link, one that only sends and one that only receives; then a member
/// without any.
void check_network(const std::string& name) {
  const Topology whole = make_topology(name);
  const NodeId gone{whole.npu_count() / 2};
  if (!stay_joined(whole, gone)) return;
  const std::vector<NodeId> others = all_but(whole, gone);
  for (const auto& [in, out] : {std::pair{true, true}, {true, false}, {false, true}})
    check_everybody(cut_off(whole, gone, in, out), others, true);
  std::vector<NodeId> members = others;
  members.back() = gone;
  check_everybody(cut_off(whole, gone, true, true), members, false);
}

/// A collective of some of a network's NPUs, of which one dies, or whose outsider does.
struct Death {
  std::string network;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string_view planner;
  bool of_member = true;
  std::uint32_t millionths = 500'000;
};

/// Everyone alive gets all that somebody alive has, or had passed on.
void check_survivors(const Death& death) {
  const Topology topology = make_topology(death.network);
  const std::uint32_t gone = topology.npu_count() / 2;
  if (!stay_joined(topology, NodeId{gone})) return;
  std::string group;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    if (death.of_member || n != gone) group += (group.empty() ? "" : "+") + std::to_string(n);
  FailureCase c;
  c.topology_label = death.network;
  c.topology = &topology;
  c.collective = {{std::string(to_text(death.kind)) + ",group=" + group}, Bytes{1'000'000}};
  c.algorithm = find_algorithm("direct");
  c.planner = find_algorithm(death.planner);
  c.engines = {&find_engine("native")};
  c.policies = {Policy::resynthesize, Policy::restart};
  c.events.events = {{{{}, death.millionths},
                      {.at = {}, .kind = NetworkEvent::Kind::npu_down, .npu = NodeId{gone}},
                      {}}};
  INFO(death.planner << " for " << c.collective.text() << " on " << death.network << ", npu" << gone
                     << " dies at " << death.millionths << " millionths");
  const FailureEvaluation e = evaluate_failures(c);
  CHECK(e.problem == "");
  REQUIRE(e.verified);
  REQUIRE(e.scenarios.size() == 1);
  for (const PolicyEvaluation& policy : e.scenarios.front().policies) {
    const Recovery& recovery = policy.recovery;
    INFO(to_text(recovery.policy) << ": "
                                  << (recovery.decisions.empty()
                                          ? std::string("no decision")
                                          : recovery.decisions.front().what));
    CHECK(recovery.missing.empty());
    CHECK(recovery.ending != Ending::incomplete);
    for (const ChunkAt& lost : recovery.lost) CHECK(lost.npu == NodeId{gone});
    const std::string planner = e.planner_of(recovery.decisions.size(), policy.handed_over());
    CHECK((planner == death.planner || planner == "tacos" ||
           planner == std::string(death.planner) + "+tacos"));
    if (is_complete(death.planner)) CHECK(planner == death.planner);
  }
}

constexpr std::array planners{std::string_view("tacos"), std::string_view("flows"),
                              std::string_view("taccl"), std::string_view("sccl"),
                              std::string_view("teccl"), std::string_view("direct")};

} // namespace

TEST_CASE("an NPU out of reach stops nobody who doesn't need it") {
  for (const char* name : {"ring:4", "mesh2d:2x3", "switch:4"}) check_network(name);
}

TEST_CASE("an NPU out of reach stops nobody, on more networks", "[slow]") {
  for (const char* name : {"ring:6", "fully_connected:5", "hypercube:3", "torus2d:3x3", "dgx1",
                           "mesh2d:3x3", "two_level_switch:3x2"})
    check_network(name);
}

TEST_CASE("those who outlive an NPU lose nothing of their own") {
  for (const std::string_view planner : planners)
    for (const bool of_member : {true, false})
      for (const CollectiveKind kind : named_collectives())
        check_survivors({"ring:4", kind, planner, of_member, 500'000});
}

TEST_CASE("those who outlive an NPU lose nothing, on more networks and at other times", "[slow]") {
  for (const char* network : {"ring:4", "ring:7", "mesh2d:3x3", "torus2d:3x3", "hypercube:3",
                              "fully_connected:5", "switch:6", "dgx1", "dgx_a100", "dgx_h100",
                              "mesh2d:2x4", "torus3d:2x2x2", "two_level_switch:3x2"})
    for (const std::string_view planner : planners)
      for (const bool of_member : {true, false})
        for (const CollectiveKind kind : named_collectives())
          for (const std::uint32_t millionths : {0U, 300'000U, 800'000U})
            check_survivors({network, kind, planner, of_member, millionths});
}

} // namespace unreachable_test
