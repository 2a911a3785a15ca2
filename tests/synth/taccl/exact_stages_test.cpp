// The three stages solved exactly, one after another, against what taccl makes.
#include "sim/engines/engine.hpp"
#include "synth/taccl/contiguity.hpp"
#include "synth/taccl/ordering.hpp"
#include "synth/taccl/routing.hpp"
#include "synth/taccl/synthesis.hpp"
#include "tests/catch.hpp"
#include "tests/synth/taccl/exhaustive_routes.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace exact_stages_test {

using namespace tutti;

namespace {

constexpr TimeModel busy_latency{.link_busy = LinkBusy::latency_and_serialization};

/// What the paper's order makes of these trees, which no solver of stage 3 can change: within one
/// machine no chunks are joined.
Time in_the_papers_order(const LogicalTopology& logical, const Topology& network,
                         const Collective& collective,
                         const std::vector<std::vector<LinkId>>& trees) {
  Sends sends(logical, collective, busy_latency, {});
  for (std::uint32_t c = 0; c < trees.size(); ++c) (void)sends.add_tree(ChunkId{c}, trees[c]);
  for (const OrderedSends& ordered : orderings(sends, {})) {
    if (ordered.rule != "path first") continue;
    Schedule schedule(network.link_count());
    std::vector<SendId> order = ordered.order;
    std::ranges::stable_sort(order, {}, [&](SendId id) { return ordered.starts[id]; });
    for (const SendId id : order)
      schedule.push(sends[id].chunk, logical.paths[sends[id].link.value].front(), Op::copy);
    return run_native(network, collective, schedule, busy_latency).completion;
  }
  FAIL("no such rule");
  return {};
}

} // namespace

TEST_CASE("taccl: no slower than the three stages solved exactly") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Topology network = samples::random_network(seed, 3);
    const Sketch sketch = parse_sketch("", "s");
    const LogicalTopology logical = logical_topology(network, sketch);
    for (const Bytes size : {Bytes{3'000}, Bytes{300'000}}) {
      INFO("seed " << seed << ", " << size.count << " bytes");
      const Collective collective =
          make_collective(network, {CollectiveKind::all_gather, size, {}, 0, 1});
      const RoutingProblem problem{&logical, &collective, busy_latency, {}, 0};
      // Of all optimal routings the first that enumeration meets, as a solver has one of them.
      Time least{INT64_MAX};
      std::vector<std::vector<LinkId>> first;
      samples::for_each_routing(network, [&](const std::vector<std::vector<LinkId>>& trees) {
        const Time time = evaluated(problem, trees).time;
        if (time < least) least = time, first = trees;
      });
      const Time exact = in_the_papers_order(logical, network, collective, first);
      SynthesisOptions options;
      options.model = busy_latency;
      const SketchAnswer answer =
          synthesize_by_sketch(network, collective, sketch, {}, options, {});
      REQUIRE(answer.schedule);
      CHECK(answer.routing == least);
      CHECK(answer.replayed <= exact);
    }
  }
}

} // namespace exact_stages_test
