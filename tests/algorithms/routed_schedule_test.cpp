// Routes of flows once all of them are known.
#include "algorithms/routed_schedule.hpp"

#include "sim/verify.hpp"
#include "tests/catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace routed_schedule_test {

using namespace tutti;

namespace {

// a may reach c by either switch, b by s1 alone; both send to c.
Topology two_ways() {
  TopologyParts parts;
  parts.name = "two ways";
  for (const char* name : {"a", "b", "c"}) parts.add_node({name, NodeKind::npu, {}, {}});
  for (const char* name : {"s1", "s2"})
    parts.add_node({name, NodeKind::switching, {false, false, false}, {}});
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{1'000}, Bandwidth{1'000'000'000}});
  };
  for (const auto& [from, to] : {std::pair{0U, 3U}, {0U, 4U}, {1U, 3U}, {3U, 2U}, {4U, 2U}})
    add(from, to);
  return Topology(std::move(parts));
}

/// Transfers by link, after a and b have each sent their shard to c.
std::vector<int> loads(const Topology& topology, Routing routing) {
  const Collective gather =
      make_collective(topology, {CollectiveKind::gather, Bytes{3000}, {}, 2, 1});
  SynthesisOptions options;
  options.routing = routing;
  RoutedSchedule schedule(topology, gather, options);
  for (const Rank from : {0U, 1U}) schedule.send(from, 2, from, Op::copy);
  const Outcome outcome = std::move(schedule).outcome();
  CHECK(verify(topology, gather, *outcome.schedule).correct());
  std::vector<int> loads(topology.link_count());
  for (std::size_t t = 0; t < outcome.schedule->size(); ++t)
    for (const LinkId link : outcome.schedule->paths().links(outcome.schedule->path_of(t)))
      ++loads[link.value];
  return loads;
}

} // namespace

TEST_CASE("a flow makes way for a later one that has no choice") {
  const Topology topology = two_ways();
  // By names a takes s1; b can't but follow; then a goes by s2.
  CHECK(loads(topology, Routing::shortest) == std::vector{0, 1, 1, 1, 1});
  CHECK(loads(topology, Routing::single) == std::vector{1, 0, 1, 2, 0});
}

} // namespace routed_schedule_test
