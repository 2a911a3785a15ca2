// Relays in software: who passes data on takes it in first, and only once it has started.
#include "sim/relays.hpp"

#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

namespace relays_test {

using namespace tutti;

namespace {

/// npu0 sends to npu2 over npu1, on a ring of four; 1 MB takes 20 us a link, and 0.5 us of latency.
struct OverOne {
  Topology ring = samples::ring(4);
  Collective broadcast = make_collective(
      ring, {CollectiveKind::broadcast, Bytes{1'000'000}, {NodeId{0}, NodeId{2}}, 0, 1});
  Schedule schedule{ring.link_count()};

  OverOne() { schedule.push({ChunkId{0}, schedule.paths().intern(path())}); }
  [[nodiscard]] std::vector<LinkId> path() const {
    return {samples::link_between(ring, 0, 1), samples::link_between(ring, 1, 2)};
  }
};

} // namespace

TEST_CASE("a relay waits for its own start only where it sends itself") {
  const OverOne c;
  const Schedule sent = relayed(c.ring, c.schedule);
  REQUIRE(sent.size() == 2);
  CHECK(sent.path_of(0) == PathId{c.path()[0].value});
  CHECK(sent.path_of(1) == PathId{c.path()[1].value});
  CHECK(verify(c.ring, c.broadcast, sent).correct());
  CHECK(relayed(c.ring, sent) == sent);
  std::vector<Time> starts(c.ring.node_count());
  starts[1] = Time{100'000'000};
  const auto time = [&](const Schedule& schedule, std::span<const Time> late) {
    RunOptions options;
    options.starts = late;
    return run_native(c.ring, c.broadcast, schedule, {}, options).completion;
  };
  CHECK(time(c.schedule, {}) == Time{41'000'000});
  CHECK(time(c.schedule, starts) == Time{41'000'000}); // the path goes through npu1 all the same
  CHECK(time(sent, {}) == Time{41'000'000});
  CHECK(time(sent, starts) == Time{120'500'000}); // from 100 us on over the second link
}

TEST_CASE("names go to the first piece for departures and to the last for arrivals") {
  OverOne c;
  const Collective both = make_collective(
      c.ring, {CollectiveKind::broadcast, Bytes{2'000'000}, {NodeId{0}, NodeId{2}}, 0, 2});
  c.schedule.push({ChunkId{1}, c.schedule.path_of(0)});
  c.schedule.add_dependency(1, {0, Milestone::left});
  c.schedule.add_dependency(1, {0, Milestone::arrived});
  const Schedule sent = relayed(c.ring, c.schedule);
  REQUIRE(sent.size() == 4);
  REQUIRE(verify(c.ring, both, sent).correct());
  const auto waiting = sent.waiting();
  REQUIRE(waiting.size() == 2);
  const std::uint32_t second = waiting[0];
  CHECK(sent[second].chunk == ChunkId{1});
  CHECK(sent.path_of(second) == PathId{c.path()[0].value});
  const Dependency left = sent.all_dependencies()[0], arrived = sent.all_dependencies()[1];
  CHECK(left.milestone == Milestone::left);
  CHECK(sent.path_of(left.transfer) == PathId{c.path()[0].value});
  CHECK(arrived.milestone == Milestone::arrived);
  CHECK(sent.path_of(arrived.transfer) == PathId{c.path()[1].value});
  CHECK(sent[arrived.transfer].chunk == ChunkId{0});
}

TEST_CASE("a reduction can't be relayed, as its relay has a contribution") {
  OverOne c;
  Schedule reduced(c.ring.link_count());
  reduced.push({ChunkId{0}, reduced.paths().intern(c.path()), Op::reduce});
  CHECK_THAT(message_of([&] { (void)relayed(c.ring, reduced); }),
             ContainsSubstring("transfer 0 leads through npu1"));
}

} // namespace relays_test
