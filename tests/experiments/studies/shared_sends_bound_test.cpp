// Chunks that share a send pay a latency once, and are held against bounds that allow for that.
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "sim/engines/engine.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

namespace shared_sends_bound_test {

using namespace tutti;

TEST_CASE("a schedule of shared sends may be faster than chunks that are sent alone") {
  const Topology topology = samples::ring(2);
  const Collective collective = make_collective(
      topology, {CollectiveKind::broadcast, Bytes{40'000}, {}, 0, 4}); // 0.2 us each
  TimeModel model;
  model.link_busy = LinkBusy::latency_and_serialization;
  const auto replayed = [&](bool shares) {
    Schedule schedule(topology.link_count());
    for (std::uint32_t c = 0; c < 4; ++c)
      schedule.push({ChunkId{c}, PathId{0}, Op::copy, false, shares && c > 0});
    return replay(topology, collective, schedule, model, find_engine("native"), {},
                  BoundEffort::quick);
  };
  const Replay alone = replayed(false), shared = replayed(true);
  CHECK(alone.report.completion == Time{4 * 700'000});
  CHECK(shared.report.completion == Time{500'000 + 4 * 200'000});
  CHECK(alone.bound_at_chunks.time == alone.report.completion);
  CHECK(shared.report.completion < alone.bound_at_chunks.time);
  CHECK(shared.bound_at_chunks.time == shared.report.completion);
  for (const Replay& one : {alone, shared}) CHECK(replay_problem(one).empty());
}

} // namespace shared_sends_bound_test
