// How many times as fast as NCCL a run is: whose time counts, and what is evaluated for it.
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <optional>
#include <string>
#include <vector>

namespace over_nccl_test {

using namespace tutti;

namespace {

Case case_of(const Topology& topology, const std::string& algorithm, bool over_nccl,
             Bytes size = {std::int64_t{1} << 20}) {
  Case c;
  c.topology_label = topology.name();
  c.topology = &topology;
  c.collective = {{"all_reduce"}, size};
  c.algorithm = find_algorithm(algorithm);
  c.chunks = std::nullopt;
  c.engine = &find_engine("native");
  c.over_nccl = over_nccl;
  return c;
}

struct Counted {
  std::size_t evaluated = 0;
  std::vector<Evaluation> evaluations;
};
Counted counted(std::vector<Case> cases) {
  Counted made;
  made.evaluations = evaluated_over_nccl(std::move(cases), [&](std::span<const Case> all) {
    made.evaluated = all.size();
    std::vector<Evaluation> evaluations;
    for (const Case& c : all) evaluations.push_back(evaluate(c));
    return evaluations;
  });
  return made;
}

double seconds_of(const Evaluation& e) { return e.replays.at(0).report.completion.seconds(); }

} // namespace

TEST_CASE("NCCL is evaluated once for each problem that asks for it, and isn't a row") {
  const Topology topology = make_topology("dgx_h100");
  const Bytes other{std::int64_t{1} << 24};
  const Counted made =
      counted({case_of(topology, "ring", true), case_of(topology, "direct", true),
               case_of(topology, "ring", true, other), case_of(topology, "direct", false, other)});
  CHECK(made.evaluated == 6);
  REQUIRE(made.evaluations.size() == 4);
  const double nccl = seconds_of(evaluate(case_of(topology, "nccl", false)));
  const double nccl_of_other = seconds_of(evaluate(case_of(topology, "nccl", false, other)));
  for (const std::size_t i : {0U, 1U}) {
    const Evaluation& e = made.evaluations[i];
    CHECK(e.replays.at(0).over_nccl.value() == Approx(nccl / seconds_of(e)));
  }
  for (const std::size_t i : {2U, 3U}) {
    const Evaluation& e = made.evaluations[i];
    CHECK(e.replays.at(0).over_nccl.value() == Approx(nccl_of_other / seconds_of(e)));
  }
}

TEST_CASE("where NCCL is among the algorithms nothing more is evaluated, and all have the ratio") {
  const Topology topology = make_topology("dgx_h100");
  const Counted made = counted({case_of(topology, "nccl", false), case_of(topology, "ring", true)});
  CHECK(made.evaluated == 2);
  CHECK(made.evaluations[0].replays.at(0).over_nccl == 1.0);
  CHECK(made.evaluations[1].replays.at(0).over_nccl.value() ==
        Approx(seconds_of(made.evaluations[0]) / seconds_of(made.evaluations[1])));
}

TEST_CASE("of NCCL with several cuts the fastest counts") {
  const Topology topology = make_topology("dgx_h100");
  Case coarse = case_of(topology, "nccl", false);
  coarse.chunks = 1;
  const Counted made =
      counted({coarse, case_of(topology, "nccl", false), case_of(topology, "ring", true)});
  const double least = std::min(seconds_of(made.evaluations[0]), seconds_of(made.evaluations[1]));
  CHECK(seconds_of(made.evaluations[0]) != seconds_of(made.evaluations[1]));
  CHECK(made.evaluations[2].replays.at(0).over_nccl.value() ==
        Approx(least / seconds_of(made.evaluations[2])));
}

TEST_CASE("on AMD's NPUs it is RCCL's time, and without an answer there is no ratio") {
  const Topology mesh = make_topology("mi300x");
  CHECK(nccl_of(mesh) == "rccl");
  CHECK(counted({case_of(mesh, "ring", true)}).evaluations[0].replays.at(0).over_nccl.has_value());
  // NCCL doesn't run there, and is no answer for those that ask.
  const Counted other = counted({case_of(mesh, "nccl", false), case_of(mesh, "ring", true)});
  CHECK(other.evaluated == 3);
  CHECK(other.evaluations[1].replays.at(0).over_nccl.has_value());
  // Seven of eight GPUs in one node and eight in the other.
  const Topology unequal = make_topology("dgx_h100:2,without=npu3");
  CHECK(counted({case_of(unequal, "direct", true)})
            .evaluations[0]
            .replays.at(0)
            .over_nccl.has_value());
}

TEST_CASE("where NCCL's nodes aren't known there is no ratio, and the note says why") {
  const Topology rack = make_topology("switch:72"), large = make_topology("switch:73");
  CHECK(counted({case_of(rack, "ring", true)}).evaluations[0].replays.at(0).over_nccl.has_value());
  const Counted made = counted({case_of(large, "ring", true), case_of(large, "nccl", false)});
  for (const Evaluation& e : made.evaluations) CHECK_FALSE(e.replays.at(0).over_nccl.has_value());
  CHECK(made.evaluations[0].note == "not over nccl: how its NPUs form nodes isn't known");
}

TEST_CASE("who joins late does so with NCCL, too") {
  const Topology topology = make_topology("dgx_h100");
  Case ring = case_of(topology, "ring", true);
  ring.noise.starts = {"npu3=20us"};
  Case nccl = case_of(topology, "nccl", false);
  nccl.noise.starts = ring.noise.starts;
  const Evaluation e = counted({ring}).evaluations[0];
  CHECK(e.replays.at(0).over_nccl.value() == Approx(seconds_of(evaluate(nccl)) / seconds_of(e)));
}

TEST_CASE("NCCL's time under another transport, or with others late, is no answer") {
  const Topology topology = make_topology("dgx_h100");
  const Case ideal = case_of(topology, "nccl", false);
  Case carried = case_of(topology, "ring", true);
  carried.transport = parse_transport("nccl");
  Case late = case_of(topology, "ring", true);
  late.noise.starts = {"npu3=20us"};
  const Counted made = counted({ideal, carried, late});
  CHECK(made.evaluated == 5);
  Case theirs = ideal;
  theirs.transport = carried.transport;
  CHECK(made.evaluations[1].replays.at(0).over_nccl.value() ==
        Approx(seconds_of(evaluate(theirs)) / seconds_of(made.evaluations[1])));
  theirs = ideal;
  theirs.noise.starts = late.noise.starts;
  CHECK(made.evaluations[2].replays.at(0).over_nccl.value() ==
        Approx(seconds_of(evaluate(theirs)) / seconds_of(made.evaluations[2])));
}

TEST_CASE("what no runtime takes isn't over NCCL, and the note says why") {
  // An NVSwitch that copies: nobody's program lets it.
  const Topology topology = make_topology("dgx_h100:1,npus=2");
  const NodeId hub = topology.find_node("nvswitch0");
  const auto link = [&](NodeId from, NodeId to) {
    for (const LinkId l : topology.out_links(from))
      if (topology.link(l).to == to) return l;
    return LinkId{};
  };
  const Case nccl = case_of(topology, "nccl", false), own = case_of(topology, "direct", true);
  const std::vector<Evaluation> made =
      evaluated_over_nccl({nccl, own}, [&](std::span<const Case> all) {
        std::vector<Evaluation> evaluations{evaluate(all[0])};
        Collective collective = make_collective(topology, all[1].collective, 1);
        Schedule schedule(topology.link_count());
        for (std::uint32_t c = 0; c < 2; ++c) {
          schedule.push(ChunkId{c}, link(NodeId{1 - c}, hub), Op::reduce);
          schedule.push(ChunkId{c}, link(hub, NodeId{c}), Op::reduce);
          schedule.push(ChunkId{c}, link(NodeId{c}, hub), Op::copy);
          schedule.push(ChunkId{c}, link(hub, NodeId{1 - c}), Op::copy);
        }
        ScheduleFile file{topology.name(), "own", {}, std::move(collective), std::move(schedule)};
        evaluations.push_back(evaluate_given(all[1], given_attempt(topology, file)));
        return evaluations;
      });
  REQUIRE(made[1].verified);
  CHECK_FALSE(made[1].replays.at(0).over_nccl.has_value());
  CHECK(made[1].note ==
        "not over nccl: no runtime takes it: nvswitch0 takes part, but only NPUs have programs");
}

} // namespace over_nccl_test
