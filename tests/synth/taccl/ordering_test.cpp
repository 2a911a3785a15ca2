// Orders and blocks: what is sent is there, nothing overlaps, and joining never costs time.
#include "sim/random.hpp"
#include "synth/taccl/contiguity.hpp"
#include "synth/taccl/ordering.hpp"
#include "synth/taccl/routing.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/synth/taccl/machines.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ordering_test {

using namespace tutti;

namespace {

constexpr TimeModel busy_latency{.link_busy = LinkBusy::latency_and_serialization};

/// What stages 2 and 3 start from.
struct Case {
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  Case(const Topology& network, const std::string& toml, CollectiveKind kind, Bytes size,
       std::uint32_t chunks = 1)
      : logical(logical_topology(network, parse_sketch(toml, "s"))),
        collective(make_collective(network, {kind, size, {}, 0, chunks})),
        sends(logical, collective, busy_latency, {}) {
    const RoutingProblem problem{&logical, &collective, busy_latency, {}, 0};
    const RoutingOutcome routed = route(problem, routing_symmetry(logical, collective, ""), 1, {});
    REQUIRE(routed.routes);
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
      (void)sends.add_tree(ChunkId{c}, routed.routes->trees[c]);
    if (logical.own_chunks_first) sends.put_own_chunks_first();
  }
  LogicalTopology logical;
  Collective collective;
  Sends sends;
};

/// Blocks set out when all of their chunks are there and their links are free; written from eq. 16
/// to 21, for networks of single links.
void check_blocks(const Case& c, const std::vector<std::vector<SendId>>& blocks,
                  const std::vector<std::int64_t>& starts, Time makespan) {
  std::map<std::pair<ChunkId, NodeId>, std::int64_t> there;
  for (std::uint32_t chunk = 0; chunk < c.collective.chunks.size(); ++chunk)
    for (const NodeId source : c.collective.sources(ChunkId{chunk}))
      there[{ChunkId{chunk}, source}] = 0;
  std::map<std::uint32_t, std::int64_t> free;
  std::int64_t last = 0, previous = 0;
  std::size_t sent = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const LinkId link = c.sends[blocks[b].front()].link;
    const Link& on = c.logical.topology.link(link);
    Bytes size{};
    CHECK(starts[b] >= previous);
    previous = starts[b];
    for (const SendId id : blocks[b]) {
      CHECK(c.sends[id].link == link);
      const auto held = there.find({c.sends[id].chunk, on.from});
      REQUIRE(held != there.end());
      CHECK(held->second <= starts[b]);
      size += c.collective.chunks[c.sends[id].chunk.value].size;
      ++sent;
    }
    std::int64_t latency = 0;
    Bandwidth narrowest{INT64_MAX};
    for (const std::uint32_t part : c.logical.parts_of[link.value]) {
      if (part >= c.logical.network_parts) continue;
      const NetworkPart& crossed = c.logical.parts[part];
      CHECK(free[part] <= starts[b]);
      free[part] = starts[b] + crossed.latency.ps + serialization(size, crossed.bandwidth).ps;
      latency += crossed.latency.ps;
      narrowest = std::min(narrowest, crossed.bandwidth);
    }
    const std::int64_t arrival = starts[b] + latency + serialization(size, narrowest).ps;
    for (const SendId id : blocks[b]) there[{c.sends[id].chunk, on.to}] = arrival;
    last = std::max(last, arrival);
  }
  CHECK(sent == c.sends.size());
  CHECK(last == makespan.ps);
}

/// Sends point to what is beside them: a Case stays where it is made.
std::deque<Case> cases() {
  std::deque<Case> all;
  all.emplace_back(make_topology("dgx1"), "", CollectiveKind::all_gather, Bytes{800'000}, 2);
  all.emplace_back(samples::four_npu_machines(2),
                   "machines = 2\n[[inside.switches]]\nnpus = [0, 1, 2, 3]\n[between]\n"
                   "connections = { 1 = [0], 3 = [2] }\nleaves_through = { 1 = [0, 1], 3 = [2, 3] }"
                   "\nown_chunks_first = true\n",
                   CollectiveKind::all_gather, Bytes{80'000}, 2);
  all.emplace_back(samples::four_npu_machines(2),
                   "machines = 2\n[between]\nconnections = { 1 = [0] }\n",
                   CollectiveKind::all_to_all, Bytes{64'000});
  all.emplace_back(samples::four_npu_machines(3),
                   "machines = 3\n[between]\nconnections = \"direct\"\n",
                   CollectiveKind::all_to_all, Bytes{144'000'000});
  return all;
}

} // namespace

TEST_CASE("taccl ordering: what is sent is there, and nothing overlaps") {
  for (const Case& c : cases()) {
    INFO(c.logical.topology.name() << ' ' << c.collective.name());
    const std::vector<OrderedSends> all = orderings(c.sends, {});
    CHECK(all.size() == 4);
    for (const OrderedSends& ordered : all) {
      INFO(ordered.rule);
      std::vector<SendId> order = ordered.order;
      std::ranges::stable_sort(order, {}, [&](SendId id) { return ordered.starts[id]; });
      std::vector<std::vector<SendId>> blocks;
      std::vector<std::int64_t> starts;
      for (const SendId id : order) {
        blocks.push_back({id});
        starts.push_back(ordered.starts[id]);
      }
      check_blocks(c, blocks, starts, ordered.makespan);
      CHECK(ordered.makespan >= ordering_bound(c.sends));
    }
    CHECK(std::ranges::is_sorted(all, {}, &OrderedSends::makespan));
  }
}

TEST_CASE("taccl ordering: the longest path goes first") {
  // Two chunks over 0 -> 1, one of which goes on to 2 and 3: that one is first.
  const Topology line = samples::ring(4, true);
  const LogicalTopology logical = logical_topology(line, parse_sketch("", "s"));
  const Collective collective =
      make_collective(line, {CollectiveKind::scatter, Bytes{40'000}, {}, 0, 1});
  Sends sends(logical, collective, busy_latency, {});
  (void)sends.add_tree(ChunkId{1}, std::vector{LinkId{0}});
  const auto far = sends.add_tree(ChunkId{3}, std::vector{LinkId{0}, LinkId{1}, LinkId{2}});
  for (const OrderedSends& ordered : orderings(sends, {})) {
    CHECK(ordered.starts[far[0]] == 0);
    CHECK(ordered.makespan == Time{3 * (500'000 + 10'000 * 20)});
  }
  CHECK(ordering_bound(sends) == Time{3 * (500'000 + 10'000 * 20)});
}

TEST_CASE("taccl ordering: a sender's own chunks go first") {
  const Case c(samples::four_npu_machines(2),
               "machines = 2\n[[inside.switches]]\nnpus = [0, 1, 2, 3]\n[between]\n"
               "connections = { 1 = [0], 3 = [2] }\nleaves_through = { 1 = [0, 1], 3 = [2, 3] }\n"
               "own_chunks_first = true\n",
               CollectiveKind::all_gather, Bytes{8'000'000}, 4);
  for (const OrderedSends& ordered : orderings(c.sends, {})) {
    std::map<LinkId, bool> has_relayed;
    for (const SendId id : ordered.order) {
      if (!c.logical.connections[c.sends[id].link.value].between_machines) continue;
      const NodeId sender = c.logical.topology.link(c.sends[id].link).from;
      const bool is_own = c.collective.sources(c.sends[id].chunk).front() == sender;
      if (is_own) CHECK_FALSE(has_relayed[c.sends[id].link]);
      if (!is_own) has_relayed[c.sends[id].link] = true;
    }
  }
}

TEST_CASE("taccl contiguity: never slower than without, and right") {
  for (const Case& c : cases()) {
    INFO(c.logical.topology.name() << ' ' << c.collective.name());
    for (const OrderedSends& ordered : orderings(c.sends, {})) {
      const ContiguousSends joined = contiguous(c.sends, ordered, true, {});
      check_blocks(c, joined.blocks, joined.starts, joined.makespan);
      CHECK(joined.makespan <= ordered.makespan);
      CHECK(joined.makespan >= contiguity_bound(c.sends));
      const ContiguousSends alone = contiguous(c.sends, ordered, false, {});
      CHECK(alone.makespan == ordered.makespan);
      CHECK(alone.blocks.size() == c.sends.size());
    }
  }
}

TEST_CASE("taccl contiguity: small chunks share a send, large ones don't wait for each other") {
  const auto joined = [](Bytes size) {
    const Case c(samples::four_npu_machines(2),
                 "machines = 2\n[[inside.switches]]\nnpus = [0, 1, 2, 3]\n[between]\n"
                 "connections = { 1 = [0] }\n",
                 CollectiveKind::all_gather, size);
    const std::vector<OrderedSends> ordered = orderings(c.sends, {});
    const ContiguousSends blocks = contiguous(c.sends, ordered.front(), true, {});
    CHECK(blocks.is_optimal);
    return std::pair(blocks.makespan, ordered.front().makespan);
  };
  const auto [small, small_alone] = joined(Bytes{8 * 100});
  CHECK(small < small_alone);
  const auto [large, large_alone] = joined(Bytes{std::int64_t{8} * 10'000'000});
  CHECK(large <= large_alone);
  CHECK(large.ps * 1000 > large_alone.ps * 999); // nothing to gain there
}

TEST_CASE("taccl contiguity: two chunks by hand") {
  // Both wait at 0 for the link to 4: alpha 1 us and 0.1 us of data each.
  const Topology network = samples::four_npu_machines(2);
  const LogicalTopology logical = logical_topology(
      network, parse_sketch("machines = 2\n[between]\nconnections = { 0 = [0] }\n", "s"));
  const Collective collective =
      make_collective(network, {CollectiveKind::broadcast, Bytes{2'000}, {}, 0, 2});
  Sends sends(logical, collective, busy_latency, {});
  LinkId across;
  for (const LinkId link : logical.topology.out_links(NodeId{0}))
    if (logical.topology.link(link).to == NodeId{4}) across = link;
  for (const ChunkId chunk : {ChunkId{0}, ChunkId{1}})
    (void)sends.add_tree(chunk, std::vector{across});
  const OrderedSends ordered = orderings(sends, {}).front();
  // Links of 0.5 us latency: the second sets out 0.5 + 0.1 us after the first.
  CHECK(ordered.makespan == Time{600'000 + 1'100'000});
  const ContiguousSends joined = contiguous(sends, ordered, true, {});
  CHECK(joined.is_optimal);
  CHECK(joined.makespan == Time{1'000'000 + 200'000});
  REQUIRE(joined.blocks.size() == 1);
  CHECK(contiguity_bound(sends) == Time{1'100'000});
}

} // namespace ordering_test
