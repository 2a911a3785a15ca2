#include "synth/scheduling/list_scheduling.hpp"

#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"
#include "topologies/list.hpp"

#include <set>
#include <utility>
#include <vector>

namespace list_scheduling_test {

using namespace tutti;

namespace {

/// What list_scheduled asks for: nothing together, nothing passed on by nodes that can't store.
bool fits(const Topology& topology, const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Transfer transfer = schedule[i];
    const NodeId from = topology.link(schedule.paths().first(transfer.path)).from;
    if (transfer.together || !topology.node(from).can.store) return false; // sources are NPUs
  }
  return true;
}

/// Schedules, and checks what must hold of any result.
Timed checked(const Topology& topology, const Collective& collective, const Schedule& schedule,
              const TimeModel& model) {
  Timed timed = list_scheduled(topology, collective, schedule, model);
  CHECK(timed.schedule.size() == schedule.size());
  const Verdict before = verify(topology, collective, schedule);
  const Verdict after = verify(topology, collective, timed.schedule);
  CHECK((after.fault ? after.fault->text : "") == "");
  CHECK(after.redundant == before.redundant);
  CHECK(run_native(topology, collective, timed.schedule, model).completion == timed.makespan);
  if (timed.is_queued) CHECK(timed.planned == timed.makespan);
  return timed;
}

std::vector<TimeModel> models() {
  TimeModel paper, hops, reducing;
  paper.link_busy = LinkBusy::latency_and_serialization;
  hops.forwarding = Forwarding::store_and_forward;
  reducing.reduce_rate = Bandwidth{60'000'000'000};
  return {{}, paper, hops, reducing};
}

} // namespace

TEST_CASE("list scheduling keeps the meaning of any schedule and knows its time") {
  std::size_t cases = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const testing::RandomCase random = testing::random_case(seed, false);
    if (!fits(random.topology, random.schedule)) continue;
    INFO("seed " << seed);
    (void)checked(random.topology, random.collective, random.schedule, random.model);
    ++cases;
  }
  CHECK(cases > 1000);
}

TEST_CASE("list scheduling takes no longer than the order of a baseline") {
  for (const char* name : {"mesh2d:4x4", "torus2d:3x4", "two_level_switch:2x3", "dgx1", "ndv2x2",
                           "multi_rail:2x3", "fat_tree:4", "uneven"}) {
    const Topology topology =
        std::string_view(name) == "uneven" ? samples::uneven_mesh(3, 4) : make_topology(name);
    for (const CollectiveKind kind : basic_collectives()) {
      CollectiveSpec spec;
      spec.kind = kind;
      spec.size = Bytes{10'000'019};
      const Collective collective = make_collective(topology, spec);
      const Schedule direct = samples::schedule_of("direct", topology, collective);
      if (!fits(topology, direct)) continue;
      for (const TimeModel& model : models()) {
        INFO(name << " " << collective.name() << " " << to_text(model.link_busy) << " "
                  << to_text(model.forwarding));
        const Timed timed = checked(topology, collective, direct, model);
        CHECK(timed.makespan >= lower_bound(topology, collective, model, Chunking::given).time);
        CHECK(timed.makespan <= run_native(topology, collective, direct, model).completion);
      }
    }
  }
}

namespace {

/// Chunk 0 from npu0 to npu1; chunk 1 from npu0 to `end`, over a line of NPUs.
Collective two_chunks(std::uint32_t end) {
  Collective collective;
  collective.sets = {{NodeId{0}}, {NodeId{1}}, {NodeId{end}}};
  collective.chunks = {{Bytes{1'000'000}, 0, 1, false}, {Bytes{1'000'000}, 0, 2, false}};
  CollectivePart part;
  part.group = {NodeId{0}, NodeId{1}, NodeId{end}};
  part.chunk_count = 2;
  collective.parts = {part};
  return collective;
}

Schedule along_the_line(const Topology& line, std::uint32_t end) {
  Schedule schedule(line.link_count());
  schedule.push(ChunkId{0}, LinkId{0}, Op::copy);
  for (std::uint32_t hop = 0; hop < end; ++hop) schedule.push(ChunkId{1}, LinkId{hop}, Op::copy);
  return schedule;
}

constexpr std::int64_t hop_time = 20'500'000; // of 1 MB with latency, ps

} // namespace

TEST_CASE("what has farthest to go leaves first") {
  const Topology line = samples::ring(4, true); // its links 0, 1, 2 lead from npu0 to npu3
  const Timed timed = checked(line, two_chunks(3), along_the_line(line, 3), {});
  CHECK(timed.makespan == Time{3 * hop_time});
  CHECK(timed.schedule[0].chunk == ChunkId{1});
}

TEST_CASE("classes of chunks come before the path that they have to go") {
  const Topology line = samples::ring(4, true);
  const std::vector<std::int64_t> priority{-7, 100};
  const Timed timed = list_scheduled(line, two_chunks(3), along_the_line(line, 3), {},
                                     {.chunk_priority = priority});
  CHECK(timed.schedule[0].chunk == ChunkId{0});
  CHECK(timed.makespan == Time{3 * hop_time + 20'000'000});
}

TEST_CASE("nothing to schedule takes no time") {
  const Topology line = samples::ring(4, true);
  const Timed timed = list_scheduled(line, two_chunks(3), Schedule(line.link_count()), {});
  CHECK(timed.schedule.empty());
  CHECK(timed.makespan == Time{0});
}

} // namespace list_scheduling_test
