#include "experiments/driver/cli/oracle_case.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

using namespace tutti;

namespace {

// npu0 -> hub -> npu1 and back: links 0..3 of the star, one shared group over the first two.
Topology grouped_star() {
  TopologyParts parts = samples::star(2).parts();
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{2}}, Bandwidth{7}});
  return Topology(std::move(parts));
}

} // namespace

TEST_CASE("a case in plain numbers") {
  const Topology topology = grouped_star();
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_reduce, {6}, {}, 0, 1});
  Schedule schedule(topology.link_count());
  const std::vector<LinkId> there{LinkId{0}, LinkId{3}}, back{LinkId{2}, LinkId{1}};
  schedule.push({ChunkId{0}, schedule.paths().intern(there), Op::reduce, false});
  schedule.push({ChunkId{0}, schedule.paths().intern(back), Op::copy, true});
  const TimeModel model{
      LinkBusy::latency_and_serialization, Forwarding::cut_through, Discipline::fifo, {}};
  CHECK(oracle_case(topology, collective, schedule, model) ==
        R"({"nodes":[{"store":true,"copy":true,"reduce":true},)"
        R"({"store":true,"copy":true,"reduce":true},)"
        R"({"store":false,"copy":false,"reduce":false}],)"
        R"("links":[{"from":0,"to":2,"latency_ps":500000,"bandwidth":50000000000},)"
        R"({"from":2,"to":0,"latency_ps":500000,"bandwidth":50000000000},)"
        R"({"from":1,"to":2,"latency_ps":500000,"bandwidth":50000000000},)"
        R"({"from":2,"to":1,"latency_ps":500000,"bandwidth":50000000000}],)"
        R"("groups":[{"links":[0,2],"bandwidth":7}],)"
        R"("chunks":[{"bytes":3,"held_by":[0,1],"wanted_by":[0,1],"reduce":true},)"
        R"({"bytes":3,"held_by":[0,1],"wanted_by":[0,1],"reduce":true}],)"
        R"("transfers":[{"chunk":0,"path":[0,3],"op":"reduce","together":false},)"
        R"({"chunk":0,"path":[2,1],"op":"copy","together":true}],)"
        R"("time_model":{"link_busy":"latency+serialization","forwarding":"cut-through"}})"
        "\n");
}

TEST_CASE("what a case can't express is refused") {
  TopologyParts parts = samples::ring(3).parts();
  parts.nodes[1].reduce_rate = {1000};
  const Topology slow(std::move(parts)), plain = samples::ring(3);
  const Collective collective = make_collective(plain, {CollectiveKind::all_gather, {3}, {}, 0, 1});
  const Schedule schedule(plain.link_count());
  CHECK(message_of([&] { (void)oracle_case(slow, collective, schedule, {}); }) ==
        "a case can't be exported: node npu1 has a reduction rate, which cases don't know");
  TimeModel model;
  model.reduce_rate = {1};
  CHECK(message_of([&] { (void)oracle_case(plain, collective, schedule, model); }) ==
        "a case can't be exported: the time model has a reduction rate, which cases don't know");
}
