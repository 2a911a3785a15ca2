// What follows from the order of a list alone: times, against those of the event queue, and proofs,
// against the sets of contributions; on random lists of single hops, right ones and spoilt ones.
#include "sim/engines/in_order.hpp"

#include "sim/collective_builder.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "sim/verify_compact.hpp"
#include "sim/verify_in_order.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::in_order_test {

namespace {

/// A few NPUs with uneven links, some of them parallel, some without latency.
Topology random_network(Random& random) {
  const auto npus = static_cast<std::uint32_t>(2 + random.below(4));
  TopologyParts parts = samples::npus("random", npus);
  for (std::uint32_t from = 0; from < npus; ++from)
    for (std::uint64_t links = 1 + random.below(3); links > 0; --links) {
      const auto to = static_cast<std::uint32_t>((from + 1 + random.below(npus - 1)) % npus);
      Link link = samples::link(from, to);
      link.bandwidth.bytes_per_second *= static_cast<std::int64_t>(1 + random.below(3));
      link.latency.ps = static_cast<std::int64_t>(random.below(3)) * 1000;
      parts.add_link(link);
    }
  return Topology(std::move(parts));
}

struct How {
  bool reduces = true;               ///< half of the chunks
  bool plain = false;                ///< nobody copies a part of a sum, or what is there
  bool blocks = false;               ///< some are performed together with the one before
  std::uint64_t spoilt = UINT64_MAX; ///< of so many that the rules forbid one is there
};

struct RandomList {
  Collective collective;
  Schedule list;
};

/// Transfers that the rules allow, but for some, in sizes that differ. Wanted is what came about.
RandomList random_list(const Topology& topology, Random& random, const How& how) {
  using Bits = std::uint64_t; // one per contributor
  struct Held {
    Chunk chunk;
    std::vector<NodeId> sources;
    std::vector<Bits> at; // by node
    Bits all = 0;
  };
  std::vector<Held> chunks(1 + random.below(4));
  for (Held& held : chunks) {
    held.chunk.size = Bytes{static_cast<std::int64_t>(1 + random.below(3)) * 1000};
    held.chunk.reduces = how.reduces && random.below(2) == 0;
    held.at.resize(topology.node_count());
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
      if (n == 0 || random.below(2) == 0) {
        held.sources.push_back(NodeId{n});
        held.at[n] = held.chunk.reduces ? Bits{1} << n : 1;
        held.all |= held.at[n];
      }
  }
  Schedule list(topology.link_count());
  for (int tries = 0; tries < 60; ++tries) {
    const auto c = static_cast<std::uint32_t>(random.below(chunks.size()));
    Held& held = chunks[c];
    const LinkId id{static_cast<std::uint32_t>(random.below(topology.link_count()))};
    const Bits from = held.at[topology.link(id).from.value];
    Bits& to = held.at[topology.link(id).to.value];
    const Op op = (how.plain ? from != held.all : random.below(2) == 0) ? Op::reduce : Op::copy;
    const bool fits = op == Op::reduce ? (to & from) == 0 : (to & ~from) == 0;
    if ((from == 0 || !fits || (how.plain && to == held.all)) && random.below(how.spoilt) != 0)
      continue;
    Transfer transfer{ChunkId{c}, PathId{id.value}, op};
    // With one of another chunk, so that nothing is read that it writes.
    if (how.blocks && !list.empty() && random.below(4) == 0) {
      const Transfer before = list[list.size() - 1];
      transfer.together = before.chunk.value != c && !before.together;
    }
    list.push(transfer);
    to |= from;
  }
  CustomCollectiveBuilder builder(topology);
  for (Held& held : chunks) {
    std::vector<NodeId> wanting;
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
      if (held.at[n] == held.all) wanting.push_back(NodeId{n});
    if (wanting.empty()) wanting.push_back(NodeId{0});
    held.chunk.sources = builder.add_set(held.sources);
    held.chunk.destinations = builder.add_set(wanting);
    builder.add_chunk(held.chunk);
  }
  return {builder.build(), std::move(list)};
}

/// Sums up a random tree each, in a random order, and down another one.
RandomList random_sums(const Topology& topology, Random& random) {
  const std::uint32_t npus = topology.npu_count();
  CustomCollectiveBuilder builder(topology);
  std::vector<NodeId> all;
  for (std::uint32_t n = 0; n < npus; ++n) all.emplace_back(n);
  const SetId everyone = builder.add_set(all);
  struct Tree {
    std::vector<bool> reached;
    std::vector<LinkId> links; // from the root outwards
  };
  const auto tree = [&](std::uint32_t root, bool outwards) {
    Tree made{std::vector<bool>(npus), {}};
    made.reached[root] = true;
    for (std::size_t tries = 0; made.links.size() + 1 < npus && tries < 10'000 * npus; ++tries) {
      const LinkId id{static_cast<std::uint32_t>(random.below(topology.link_count()))};
      const Link& link = topology.link(id);
      const std::uint32_t near = (outwards ? link.from : link.to).value,
                          far = (outwards ? link.to : link.from).value;
      if (!made.reached[near] || made.reached[far]) continue;
      made.reached[far] = true;
      made.links.push_back(id);
    }
    REQUIRE(made.links.size() + 1 == npus);
    return made;
  };
  std::vector<std::vector<LinkId>> up, down;
  for (std::uint32_t c = 0; c < 1 + random.below(8); ++c) {
    const auto root = static_cast<std::uint32_t>(random.below(npus));
    up.push_back(tree(root, false).links);
    std::ranges::reverse(up.back()); // leaves first
    down.push_back(random.below(4) > 0 ? tree(root, true).links : std::vector<LinkId>{});
    const Bytes size{static_cast<std::int64_t>(1 + random.below(3)) * 1000};
    builder.add_chunk({size, everyone, builder.add_set({NodeId{root}}), true});
  }
  Schedule list(topology.link_count());
  for (const bool is_up : {true, false}) {
    std::vector<std::uint32_t> order; // each chunk as often as it moves
    for (std::uint32_t c = 0; c < up.size(); ++c)
      order.insert(order.end(), (is_up ? up : down)[c].size(), c);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::vector<std::size_t> next(up.size());
    for (const std::uint32_t c : order)
      list.push(ChunkId{c}, (is_up ? up : down)[c][next[c]++], is_up ? Op::reduce : Op::copy);
  }
  return {builder.build(), std::move(list)};
}

void check_same(const Report& one, const Report& other) {
  CHECK(one.completion == other.completion);
  CHECK(one.chunk_done == other.chunk_done);
  CHECK(one.link_transfers == other.link_transfers);
  CHECK(one.deliveries == other.deliveries);
  REQUIRE(one.links.size() == other.links.size());
  for (std::size_t l = 0; l < one.links.size(); ++l) {
    CHECK(one.links[l].bytes == other.links[l].bytes);
    CHECK(one.links[l].busy == other.links[l].busy);
    CHECK(one.links[l].transfers == other.links[l].transfers);
  }
}

} // namespace

TEST_CASE("a pass over the list says what the event queue says") {
  Random random(1);
  int passes = 0, by_node = 0;
  for (int i = 0; i < 400; ++i) {
    const Topology topology = random_network(random);
    const auto [collective, list] = random_list(
        topology, random, {.reduces = i % 2 == 0, .plain = i % 4 == 1, .blocks = i % 4 > 1});
    TimeModel model;
    if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
    RunOptions options, by_events;
    options.record_deliveries = random.below(2) == 0;
    const auto pass = replay_in_order(topology, collective, list, model, options);
    if (!pass) continue;
    ++passes;
    by_events = options;
    by_events.may_halt = true; // which the pass doesn't know
    REQUIRE_FALSE(replay_in_order(topology, collective, list, model, by_events));
    const Report events = run_native(topology, collective, list, model, by_events);
    REQUIRE(events.stuck.empty());
    check_same(*pass, events);
    if (const auto compact = compacted(topology, collective, list)) {
      ++by_node;
      Report copies = run_native_compact(topology, collective, *compact, model);
      copies.deliveries = events.deliveries;
      check_same(copies, events);
    }
  }
  CHECK(passes > 200);
  CHECK(by_node > 10);
}

TEST_CASE("compact sums take the time and have the verdict of their list") {
  Random random(5);
  const std::vector<Topology> networks{samples::ring(5), samples::uneven_mesh(3, 3),
                                       samples::full(4), samples::ring(4, true)};
  for (int i = 0; i < 300; ++i) {
    const Topology& topology = networks[random.below(networks.size())];
    const auto [collective, list] = random_sums(topology, random);
    TimeModel model;
    if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
    const auto compact = compacted(topology, collective, list);
    REQUIRE(compact);
    REQUIRE(verify(topology, collective, *compact).correct());
    RunOptions by_events;
    by_events.may_halt = true; // which neither the pass nor the compact form knows
    const Report events = run_native(topology, collective, list, model, by_events);
    check_same(run_native_compact(topology, collective, *compact, model), events);
    const Schedule again = expanded(topology, collective, *compact);
    REQUIRE(verify(topology, collective, again).correct());
    check_same(run_native(topology, collective, again, model, by_events), events);
  }
}

TEST_CASE("threads that share the nodes of a compact replay find the same times") {
  Random random(7);
  const std::vector<Topology> networks{samples::uneven_mesh(50, 60), samples::mesh(64, 40)};
  for (int i = 0; i < 6; ++i) {
    const Topology& topology = networks[static_cast<std::size_t>(i % 2)];
    const RandomList made = random_sums(topology, random);
    const Collective& collective = made.collective;
    TimeModel model;
    if (i % 3 == 0) model.link_busy = LinkBusy::latency_and_serialization;
    auto compact = compacted(topology, collective, made.list);
    REQUIRE(compact);
    const Report alone = run_native_compact(topology, collective, *compact, model);
    for (const unsigned threads : {2U, 3U, 2U, 8U})
      check_same(run_native_compact(topology, collective, *compact, model, {}, threads), alone);
    const Watch ends = [](const WorkProgress&) { return true; };
    CHECK_THROWS_AS(run_native_compact(topology, collective, *compact, model, ends, 2), Stopped);
    // A copy that never comes ends all threads, with the words of one.
    std::size_t link = 0;
    while (compact->copies.on(LinkId{static_cast<std::uint32_t>(link)}) == 0) ++link;
    ++compact->copies.begin[link];
    const auto words = [&](unsigned threads) {
      return message_of(
          [&] { (void)run_native_compact(topology, collective, *compact, model, {}, threads); });
    };
    CHECK(words(2) == words(1));
  }
}

TEST_CASE("more parts of one sum than are counted beside its time are replayed from the list") {
  for (const std::uint32_t parts : {255U, 256U, 300U}) {
    TopologyParts star = samples::npus("star", parts + 1);
    for (std::uint32_t n = 1; n <= parts; ++n) star.add_link(samples::link(n, 0));
    const Topology topology(std::move(star));
    const Collective collective =
        make_collective(topology, {CollectiveKind::reduce, Bytes{4000}, {}, 0, 4});
    Schedule list(topology.link_count());
    for (std::uint32_t c = 0; c < 4; ++c)
      for (std::uint32_t l = 0; l < parts; ++l) list.push(ChunkId{c}, LinkId{l}, Op::reduce);
    const auto compact = compacted(topology, collective, list);
    REQUIRE(compact);
    REQUIRE(verify(topology, collective, *compact).correct());
    RunOptions by_events;
    by_events.may_halt = true;
    INFO(parts);
    check_same(run_native_compact(topology, collective, *compact, {}),
               run_native(topology, collective, list, {}, by_events));
  }
}

TEST_CASE("what is proven in the order of the list is right, and nothing redundant") {
  Random random(2);
  int proven = 0, faults = 0, wrong = 0;
  for (int i = 0; i < 3000; ++i) {
    const Topology topology = random_network(random);
    How how{.plain = i % 4 > 0};
    if (i % 2 == 0) how.spoilt = 100;
    auto [collective, list] = random_list(topology, random, how);
    if (list.size() < 2) continue;
    const bool is_proven = is_proven_in_order(topology, collective, list, {});
    const Verdict quick = verify(topology, collective, list);
    list.add_dependency(list.size() - 1, {0, Milestone::arrived}); // which no proof knows
    REQUIRE_FALSE(is_proven_in_order(topology, collective, list, {}));
    const Verdict slow = verify(topology, collective, list);
    proven += is_proven ? 1 : 0;
    faults += slow.fault ? 1 : 0;
    if (is_proven && (slow.fault || slow.redundant > 0)) ++wrong;
    CHECK(quick.redundant == slow.redundant);
    REQUIRE(quick.fault.has_value() == slow.fault.has_value());
    if (quick.fault) CHECK(quick.fault->text == slow.fault->text);
  }
  CHECK(wrong == 0);
  CHECK(proven > 500);
  CHECK(faults > 300);
}

} // namespace tutti::in_order_test
