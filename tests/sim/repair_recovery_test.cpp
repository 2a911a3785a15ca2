// Hand-derived times. hop = D + a: 1 MB at 50 GB/s takes D = 20 us, and a = 0.5 us to arrive.
// Both engines must give them, to the picosecond.

#include "sim/error.hpp"
#include "sim/repair/recovery.hpp"
#include "sim/repair/survivors.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/sim/repair_samples.hpp"

#include <optional>
#include <string>
#include <vector>

namespace repair_recovery_test {

using namespace tutti;
using namespace tutti::repair_samples;

namespace {

constexpr std::int64_t us = 1'000'000, hop = 20'500'000; // ps

Outcome plan_by_tacos(const Topology& network, const Collective& rest) {
  return synthesize(synthesizers().front(), network, rest, {});
}

/// By both engines, which must agree. Answers are in force `delay` after an event.
Recovery recovered(const Topology& topology, const Segment& plan,
                   const std::vector<NetworkEvent>& events, Policy policy, std::int64_t delay = 0,
                   const Planner& planner = plan_by_tacos, std::span<const Time> starts = {}) {
  const Reaction reaction{policy,       Time{delay / 4}, Time{delay - delay / 4}, planner, {},
                          beaten_bound, starts};
  const Recovery native = recover(find_engine("native"), topology, plan.collective, plan.schedule,
                                  {}, events, reaction);
  const Recovery simgrid = recover(find_engine("simgrid"), topology, plan.collective, plan.schedule,
                                   {}, events, reaction);
  CHECK(native.problem == "");
  CHECK(simgrid.problem == "");
  CHECK(native.completion == simgrid.completion);
  CHECK(native.missing == simgrid.missing);
  CHECK(native.segments.size() == simgrid.segments.size());
  return native;
}

/// A ring of four both ways: link i from i to i + 1, link 4 + i back. One chunk, from 0 by 1 and 2
/// to 3.
Segment broadcast_around(const Topology& ring) {
  return segment(ring, collective({{{0}, {0, 1, 2, 3}}}), {{0, {0}}, {0, {1}}, {0, {2}}});
}
/// The sum of all to 3, the same way.
Segment sum_around(const Topology& ring) {
  return segment(ring, collective({{{0, 1, 2, 3}, {3}, true}}),
                 {{0, {0}, Op::reduce}, {0, {1}, Op::reduce}, {0, {2}, Op::reduce}});
}

constexpr ChunkId zero{0};

} // namespace

TEST_CASE("a link on the way fails for good: what each policy makes of it") {
  const Topology ring = samples::ring(4);
  const Segment plan = broadcast_around(ring);
  const std::vector<NetworkEvent> events{link_down(10 * us, 1)};

  const Recovery nothing = recovered(ring, plan, events, Policy::report);
  CHECK_FALSE(nothing.complete());
  CHECK(nothing.completion == Time{hop}); // 1 has it
  CHECK(nothing.missing == std::vector<ChunkAt>{{zero, NodeId{2}}, {zero, NodeId{3}}});
  REQUIRE(nothing.stuck.size() == 2);
  CHECK(nothing.stuck[0].transfer == 1);
  CHECK(nothing.stuck[0].why == StuckTransfer::Why::link_down);
  CHECK(nothing.wanted == Bytes{3'000'000});
  REQUIRE(nothing.progress.size() == 1);
  CHECK(nothing.progress[0].in_place == Bytes{1'000'000});
  CHECK(missing_text(ring, plan.collective, nothing, 1) ==
        std::vector<std::string>{"npu2 lacks 1 of 1 chunks, none came", "and 1 more NPUs"});

  // 1 -> 0 -> 3 -> 2 instead of 1 -> 2, and then 2 -> 3.
  const Recovery around = recovered(ring, plan, events, Policy::reroute);
  CHECK(around.complete());
  CHECK(around.completion == Time{5 * hop});
  REQUIRE(around.decisions.size() == 1);
  CHECK(around.decisions[0].what == "1 path rerouted");

  // What is on the way to 1 arrives at 1 hop; then 0 -> 3 -> 2.
  const Recovery anew = recovered(ring, plan, events, Policy::resynthesize);
  CHECK(anew.complete());
  CHECK(anew.completion == Time{3 * hop});
  REQUIRE(anew.decisions.size() == 1);
  CHECK(anew.decisions[0].at == Time{10 * us});
  CHECK(anew.decisions[0].begin == Time{hop});
  CHECK(anew.decisions[0].causes == std::vector<Time>{Time{10 * us}});
  CHECK(anew.decisions[0].in_force);
  CHECK(anew.in_vain == Bytes{});

  // The same, but 1 gets it once more.
  const Recovery over = recovered(ring, plan, events, Policy::restart);
  CHECK(over.complete());
  CHECK(over.completion == Time{3 * hop});
  CHECK(over.in_vain == Bytes{1'000'000});
}

TEST_CASE("a chain of sums breaks: the sum in flight arrives and counts once") {
  const Topology ring = samples::ring(4);
  // In force at 10 us; 0's contribution is at 1 at 1 hop. Then 2 -> 3, and 1 -> 0 -> 3.
  const Recovery anew =
      recovered(ring, sum_around(ring), {link_down(5 * us, 1)}, Policy::resynthesize, 5 * us);
  CHECK(anew.complete());
  CHECK(anew.completion == Time{3 * hop});
  REQUIRE(anew.segments.size() == 2);
  CHECK(anew.segments[1].begin == Time{hop});
  const auto holders = anew.segments[1].collective.sources(zero);
  CHECK(std::vector<NodeId>(holders.begin(), holders.end()) == npus({1, 2, 3}));
}

TEST_CASE("the contribution of the dead counts where it was passed on in time") {
  const Topology ring = samples::ring(4);
  const Segment plan = sum_around(ring);
  for (const Policy policy : all_policies) {
    // It has left 0 by 20 us, and 1 has it at 20.5 us.
    const Recovery late = recovered(ring, plan, {npu_down(30 * us, 0)}, policy);
    CHECK(late.complete());
    CHECK(late.lost.empty());
    CHECK(late.completion == Time{3 * hop});
  }
  const std::vector<NetworkEvent> early{npu_down(10 * us, 0)};
  const Recovery nothing = recovered(ring, plan, early, Policy::report);
  CHECK(nothing.missing == std::vector<ChunkAt>{{zero, NodeId{3}}});
  CHECK(nothing.lost == std::vector<ChunkAt>{{zero, NodeId{0}}});
  // At 10 us nothing else is under way: 1 -> 2 -> 3.
  for (const Policy policy : {Policy::resynthesize, Policy::restart}) {
    const Recovery anew = recovered(ring, plan, early, policy);
    CHECK(anew.complete());
    CHECK(anew.lost == std::vector<ChunkAt>{{zero, NodeId{0}}});
    CHECK(anew.completion == Time{10 * us + 2 * hop});
  }
}

TEST_CASE("what has come to an NPU counts, though it waited for sends that are given up") {
  // 1 has to send its own to 2 before it takes 0's; 1 > 2 fails first. 0's is there at 1 hop and is
  // taken in when the plan is given up, at 41 us; only 2's is still to come then.
  const Topology ring = samples::ring(4);
  const Segment plan = segment(ring, collective({{{0, 1, 2}, {1}, true}}),
                               {{0, {1}, Op::reduce}, {0, {5}, Op::copy}, {0, {0}, Op::reduce}});
  const std::vector<NetworkEvent> events{link_down(1 * us, 1), npu_down(30 * us, 0)};
  const Recovery anew = recovered(ring, plan, events, Policy::resynthesize, 40 * us);
  CHECK(anew.complete());
  CHECK(anew.lost.empty());
  CHECK(anew.completion == Time{41 * us + hop});
  REQUIRE(anew.segments.size() == 2);
  CHECK(anew.segments[0].waiting == std::vector<std::uint32_t>{2});
  CHECK(anew.segments[1].takes_in == std::vector<Arrival>{{0, 2}});
  CHECK(anew.segments[1].begin == Time{41 * us});
  CHECK(anew.last_came[1] == Time{41 * us + hop});
  // Where nobody answers it waits on: 1 lacks it, but it isn't lost.
  const Recovery nothing = recovered(ring, plan, events, Policy::report);
  CHECK(nothing.lost.empty());
  CHECK(nothing.missing == std::vector<ChunkAt>{{zero, NodeId{1}}});
  CHECK(nothing.segments[0].waiting == std::vector<std::uint32_t>{2});
  // Not where 1 is dead when that happens.
  const Recovery dead = recovered(ring, plan, {link_down(1 * us, 1), npu_down(30 * us, 1)},
                                  Policy::resynthesize, 40 * us);
  CHECK(dead.ending == Ending::no_destination);
}

TEST_CASE("what waits at an NPU can be of use where its own value isn't") {
  // 1 has {0,1,2} and waits for 3's, which is at 0, too, and waits there: 0 has to send its own to
  // 4 before. Then 2 and 3 die. 0's own and 3's added up would overlap with 1's sum; 3's alone is
  // what 1 lacks.
  TopologyParts parts = samples::npus("five", 5);
  for (const auto& [from, to] : {std::pair{0U, 1U}, {2U, 1U}, {0U, 4U}, {3U, 0U}, {3U, 1U}})
    parts.add_link(samples::link(from, to));
  for (const std::uint32_t link : {2U, 4U}) parts.links[link].bandwidth = Bandwidth{1'000'000'000};
  const Topology five(std::move(parts));
  const Segment plan = segment(five, collective({{{0, 1, 2, 3}, {1}, true}}),
                               {{0, {0}, Op::reduce},
                                {0, {1}, Op::reduce},
                                {0, {2}},
                                {0, {3}, Op::reduce},
                                {0, {4}, Op::reduce}});
  const Recovery anew =
      recovered(five, plan, {link_down(30 * us, 2), npu_down(30 * us, 2), npu_down(30 * us, 3)},
                Policy::resynthesize);
  CHECK(anew.complete());
  CHECK(anew.lost.empty());
  CHECK(anew.completion == Time{30 * us + hop});
  REQUIRE(anew.segments.size() == 2);
  CHECK(anew.segments[1].starts.of(zero, 0) == Start::nothing);
  CHECK(anew.segments[1].takes_in == std::vector<Arrival>{{0, 3}});
}

TEST_CASE("a route that breaks behind a transfer and then before it is left after all") {
  // From 0 by 1 to 2; 0 > 1 breaks while it crosses 1 > 2, and then that. From 0 by 3 instead.
  const Topology ring = samples::ring(4);
  const Segment plan = segment(ring, collective({{{0}, {2}}}), {{0, {0, 1}}});
  const std::vector<NetworkEvent> events{link_down(25 * us, 0), link_down(30 * us, 1)};
  const Recovery around = recovered(ring, plan, events, Policy::reroute);
  CHECK(around.complete());
  CHECK(around.completion == Time{30 * us + 2 * hop});
  CHECK(around.decisions.size() == 2);
}

TEST_CASE("what happens after the end has no effect") {
  const Topology ring = samples::ring(4);
  const std::vector<NetworkEvent> events{link_down(3 * hop + 1, 1), npu_down(4 * hop, 3)};
  for (const Policy policy : all_policies) {
    const Recovery recovery = recovered(ring, broadcast_around(ring), events, policy, 5 * us);
    CHECK(recovery.complete());
    CHECK(recovery.completion == Time{3 * hop});
    CHECK(recovery.lost.empty());
    CHECK(recovery.segments.size() == 1);
    CHECK(recovery.decisions.empty());
  }
  // The link has done its part, and the answer would come long after the end.
  const Recovery done =
      recovered(ring, broadcast_around(ring), {link_down(hop + 1, 0)}, Policy::reroute, 100 * hop);
  CHECK(done.completion == Time{3 * hop});
  CHECK(done.decisions.empty());
}

TEST_CASE("a link that comes up again, and answers that come too late") {
  const Topology ring = samples::ring(4);
  const Segment plan = broadcast_around(ring);
  const std::vector<NetworkEvent> flap{link_down(10 * us, 1), link_up(30 * us, 1)};
  // 1 has it at 1 hop and sends from 30 us on.
  CHECK(recovered(ring, plan, flap, Policy::report).completion == Time{30 * us + 2 * hop});
  const Recovery late = recovered(ring, plan, flap, Policy::resynthesize, 100 * us);
  CHECK(late.completion == Time{30 * us + 2 * hop});
  CHECK(late.segments.size() == 1);
  // In force at 15 us: over 3, as the link is down as far as is known. At 35 us it is known to be
  // up again: 0 -> 3 has set out and arrives at 2 hops; from then on 1 -> 2 and 3 -> 2 are equal.
  const Recovery quick = recovered(ring, plan, flap, Policy::resynthesize, 5 * us);
  CHECK(quick.completion == Time{3 * hop});
  REQUIRE(quick.decisions.size() == 2);
  CHECK(quick.decisions[0].in_force);
  CHECK_FALSE(quick.decisions[1].in_force);
  // Nothing is stuck when a restart would be in force at 35 us.
  CHECK(recovered(ring, plan, flap, Policy::restart, 25 * us).segments.size() == 1);
}

TEST_CASE("what is on the way over a route that was given up is taken back where that breaks") {
  const Topology ring = samples::ring(4);
  const Segment plan = segment(ring, collective({{{1}, {2}}}), {{0, {1}}});
  // At 5 us it sets out over 0 and 3, at 8 us its own way is back. At 10 us 0 -> 3 breaks before
  // it.
  const std::vector<NetworkEvent> events{link_down(5 * us, 1), link_up(8 * us, 1),
                                         link_down(10 * us, 7)};
  const Recovery recovery = recovered(ring, plan, events, Policy::reroute);
  CHECK(recovery.complete());
  CHECK(recovery.completion == Time{10 * us + hop});
}

TEST_CASE("events before an answer has taken effect are answered together") {
  const Topology ring = samples::ring(4);
  // The first answer (10 us) waits for 0 -> 1 until 20.5 us; the second comes in between.
  const std::vector<NetworkEvent> events{link_down(10 * us, 1), link_rate(12 * us, 5, 50),
                                         link_rate(15 * us, 2, 50)};
  const Recovery recovery =
      recovered(ring, broadcast_around(ring), events, Policy::resynthesize, 0);
  CHECK(recovery.complete());
  REQUIRE(recovery.decisions.size() == 2);
  CHECK(recovery.decisions[1].causes == std::vector<Time>{Time{12 * us}, Time{15 * us}});
  CHECK(recovery.decisions[1].at == Time{hop});
}

TEST_CASE("a plan that is at least as fast goes on") {
  const Topology ring = samples::ring(4);
  // A link that isn't used gets slower.
  const Segment both_ways =
      segment(ring, collective({{{0}, {0, 1, 2, 3}}}), {{0, {0}}, {0, {7}}, {0, {1}}});
  const Recovery recovery =
      recovered(ring, both_ways, {link_rate(10 * us, 5, 50)}, Policy::resynthesize);
  CHECK(recovery.completion == Time{2 * hop});
  REQUIRE(recovery.decisions.size() == 1);
  CHECK_FALSE(recovery.decisions[0].in_force);
}

TEST_CASE("an exchange half of which is cut off") {
  const Topology pair = samples::ring(2);
  const Segment plan = segment(pair, collective({{{0, 1}, {0, 1}, true}}),
                               {{0, {0}, Op::reduce}, {0, {1}, Op::reduce, true}});
  const std::vector<NetworkEvent> for_good{link_down(10 * us, 1)};
  const std::vector<NetworkEvent> for_long{link_down(10 * us, 1), link_up(100 * us, 1)};
  for (const Policy policy : {Policy::report, Policy::reroute}) {
    // 1 can't add what has come while its own sum hasn't left. Half of that is across when the link
    // fails, the rest follows.
    CHECK(recovered(pair, plan, for_good, policy).missing ==
          std::vector<ChunkAt>{{zero, NodeId{0}}, {zero, NodeId{1}}});
    CHECK(recovered(pair, plan, for_long, policy).completion == Time{110'500'000});
  }
  for (const Policy policy : {Policy::resynthesize, Policy::restart}) {
    // 0 gives its own to 1 alone; 1 to 0 must wait for the link.
    CHECK(recovered(pair, plan, for_good, policy).missing ==
          std::vector<ChunkAt>{{zero, NodeId{0}}});
  }
  // 0's own is at 1 at 1 hop and has to be taken in there: that is the answer, without a plan.
  const Recovery half = recovered(pair, plan, for_good, Policy::resynthesize);
  CHECK(half.completion == Time{hop});
  REQUIRE(half.decisions.size() == 1);
  CHECK(half.decisions[0].in_force);
  CHECK(half.decisions[0].what == "given up without a new plan: what has come is let in");
  REQUIRE(half.segments.size() == 2);
  CHECK(half.segments[0].waiting == std::vector<std::uint32_t>{0});
  CHECK(half.segments[1].takes_in == std::vector<Arrival>{{0, 0}});
  CHECK(half.segments[1].schedule.empty());
  CHECK(half.last_came[1] == Time{hop});
  // The sum comes back to 0, or all is done once more: there and back.
  CHECK(recovered(pair, plan, for_long, Policy::resynthesize).completion == Time{100 * us + hop});
  CHECK(recovered(pair, plan, for_long, Policy::restart).completion == Time{100 * us + 2 * hop});
}

TEST_CASE("a cut network: each side gets what can get there, and the rest after the repair") {
  // 0 - 1 - 2 - 3, links i to the right and 3 + i to the left.
  TopologyParts parts = samples::npus("line", 4);
  for (std::uint32_t i = 0; i < 3; ++i) parts.add_link(samples::link(i, i + 1));
  for (std::uint32_t i = 0; i < 3; ++i) parts.add_link(samples::link(i + 1, i));
  const Topology line(std::move(parts));
  // 1's chunk first to 2 (and there the way is cut), then to 0.
  const Segment plan =
      segment(line, collective({{{1}, {0, 1, 2, 3}}}), {{0, {1}}, {0, {3}}, {0, {2}}});
  const std::vector<NetworkEvent> cut{link_down(10 * us, 1), link_down(10 * us, 4)};
  const Recovery never = recovered(line, plan, cut, Policy::resynthesize);
  CHECK(never.missing == std::vector<ChunkAt>{{zero, NodeId{2}}, {zero, NodeId{3}}});
  const std::vector<NetworkEvent> repaired{cut[0], cut[1], link_up(200 * us, 1)};
  const Recovery then = recovered(line, plan, repaired, Policy::resynthesize);
  CHECK(then.complete());
  // The old plan's transfer stands half across, and needs no repeating.
  CHECK(then.completion == Time{200 * us + 10'500'000 + hop});
}

TEST_CASE(
    "what a planner isn't made for another plans; what is proven impossible nobody is asked") {
  const Topology ring = samples::ring(4);
  const Segment plan = sum_around(ring);
  const std::vector<NetworkEvent> events{link_down(5 * us, 1)};
  const auto with = [&](Outcome first, bool has_fallback = true) {
    std::size_t asked = 0;
    Reaction reaction{Policy::resynthesize,
                      {},
                      Time{5 * us},
                      [&](const Topology&, const Collective&) { return first; }};
    if (has_fallback)
      reaction.fallback = [&](const Topology& network, const Collective& rest) {
        ++asked;
        return plan_by_tacos(network, rest);
      };
    Recovery made =
        recover(find_engine("native"), ring, plan.collective, plan.schedule, {}, events, reaction);
    CHECK(made.problem == "");
    REQUIRE(made.decisions.size() == 1);
    CHECK(made.decisions[0].by_fallback == (asked > 0));
    return made;
  };
  Outcome cut_short = unsupported("no time");
  cut_short.status = Status::timed_out;
  for (const Outcome& first : {unsupported("not for sums"), infeasible("not in 2 epochs")}) {
    const Recovery made = with(first);
    CHECK(made.complete());
    CHECK(made.completion == Time{3 * hop});
    CHECK(made.decisions[0].by_fallback);
  }
  for (const Recovery& made : {with(cut_short), with(unsupported("no time"), false)}) {
    CHECK_FALSE(made.complete());
    CHECK_FALSE(made.decisions[0].by_fallback);
    CHECK(made.decisions[0].what == "no plan: no time");
  }
}

TEST_CASE("an All-Reduce keeps its name among those alive where its chunks divide") {
  const Topology full = samples::ring(4);
  for (const std::uint32_t chunks_per_shard : {1U, 2U, 3U, 6U}) {
    const Collective whole =
        make_collective(full, {CollectiveKind::all_reduce, Bytes{24'001}, {}, 0, chunks_per_shard});
    NetworkState network(full);
    network.apply(npu_down(0, 2));
    const std::optional<SurvivingCollective> same = among_survivors(whole, network);
    CHECK(same.has_value() == (chunks_per_shard % 3 == 0)); // of 4 shards, in 3
    if (!same) continue;
    REQUIRE(same->collective.parts.size() == 1);
    const CollectivePart& part = same->collective.parts.front();
    CHECK(part.kind == CollectiveKind::all_reduce);
    CHECK(part.size == Bytes{24'001});
    CHECK(part.group == npus({0, 1, 3}));
    CHECK(part.chunk_count == 3 * part.chunks_per_shard);
    REQUIRE(same->chunk.size() == whole.chunks.size());
    for (std::uint32_t c = 0; c < whole.chunks.size(); ++c) {
      CHECK(same->chunk[c] == ChunkId{c});
      CHECK(same->collective.chunks[c].size == whole.chunks[c].size);
      for (const auto& ends :
           {same->collective.sources(ChunkId{c}), same->collective.destinations(ChunkId{c})})
        CHECK(std::vector<NodeId>(ends.begin(), ends.end()) == npus({0, 1, 3}));
    }
  }
}

TEST_CASE("a restart keeps the collective's name, so that every algorithm can do it") {
  const Topology full = samples::full(4);
  const auto by_ring = [](const Topology& network, const Collective& rest) {
    return synthesize(samples::baseline("ring"), network, rest, {});
  };
  CollectiveSpec spec;
  spec.size = Bytes{8'000'000};
  spec.chunks_per_shard = 2;
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all, CollectiveKind::broadcast}) {
    spec.kind = kind;
    INFO(to_text(kind));
    Segment plan = segment(full, make_collective(full, spec), {});
    plan.schedule = samples::schedule_of("ring", full, plan.collective);
    const Recovery failed =
        recovered(full, plan, {link_down(10 * us, 0)}, Policy::restart, 0, by_ring);
    CHECK(failed.complete());
    REQUIRE(failed.segments.size() == 2);
    CHECK(failed.segments[1].collective.parts[0].kind == kind);
    CHECK(failed.segments[1].collective.fingerprint() == plan.collective.fingerprint());

    const Recovery died =
        recovered(full, plan, {npu_down(10 * us, 2)}, Policy::restart, 0, by_ring);
    if (kind == CollectiveKind::all_reduce) { // its buffer would be cut in other ways
      CHECK_FALSE(died.complete());
      continue;
    }
    CHECK(died.complete());
    REQUIRE(died.segments.size() == 2);
    CHECK(died.segments[1].collective.parts[0].kind == kind);
    CHECK(died.segments[1].collective.parts[0].group == npus({0, 1, 3}));
  }
}

TEST_CASE("an NPU outside the cover still has its input when the sum that had it dies") {
  // A full graph of five: 0 gives to 1 and 1 to 2; then the link from 2 to the root fails, and the
  // rest is planned from 2's sum {0,1,2}, of 0 and 1 nothing. 2 dies before it has sent that.
  const Topology full = samples::full(5);
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    for (const LinkId link : full.out_links(NodeId{from}))
      if (full.link(link).to == NodeId{to}) return link.value;
    return UINT32_MAX;
  };
  const Segment plan = segment(full, collective({{{0, 1, 2, 3, 4}, {4}, true}}),
                               {{0, {between(0, 1)}, Op::reduce},
                                {0, {between(1, 2)}, Op::reduce},
                                {0, {between(2, 3)}, Op::reduce},
                                {0, {between(3, 4)}, Op::reduce}});
  const std::vector<NetworkEvent> events{link_down(2 * hop + 1, between(2, 3)),
                                         npu_down(2 * hop + 10 * us, 2)};
  const std::vector<ChunkAt> of_two{{zero, NodeId{2}}};
  const Recovery anew = recovered(full, plan, events, Policy::resynthesize);
  CHECK(anew.complete());
  CHECK(anew.lost == of_two);
  REQUIRE(anew.segments.size() == 3);
  const auto holders = anew.segments[2].collective.sources(zero);
  CHECK(std::ranges::find(holders, NodeId{0}) == holders.end()); // its input is in what 1 has
  CHECK(std::ranges::find(holders, NodeId{1}) != holders.end());
}

TEST_CASE("what has no destination or nothing to bring is not complete") {
  const Topology ring = samples::ring(4);
  for (const Policy policy : all_policies) {
    INFO(to_text(policy));
    // The root of a reduction: early, and when sums are on the way.
    for (const std::int64_t at : {us, hop + us, 2 * hop + us}) {
      const Recovery rootless = recovered(ring, sum_around(ring), {npu_down(at, 3)}, policy);
      CHECK(rootless.ending == Ending::no_destination);
      CHECK_FALSE(rootless.complete());
      CHECK(rootless.missing.empty());
      CHECK(rootless.completion == Time{});
    }
    // It had its sum by then: its death changes nothing, ...
    CHECK(recovered(ring, sum_around(ring), {npu_down(4 * hop, 3)}, policy).complete());
    // ... not even where that sum lacks what died before.
    const Recovery without =
        recovered(ring, sum_around(ring), {npu_down(10 * us, 0), npu_down(20 * hop, 3)}, policy);
    CHECK(without.ending == (policy == Policy::report || policy == Policy::reroute
                                 ? Ending::no_destination
                                 : Ending::complete));
    // The source of a broadcast, and all but the source.
    CHECK(recovered(ring, broadcast_around(ring), {npu_down(us, 0)}, policy).ending ==
          Ending::nothing_left);
    CHECK(recovered(ring, broadcast_around(ring),
                    {npu_down(us, 1), npu_down(2 * us, 2), npu_down(3 * us, 3)}, policy)
              .ending == Ending::no_destination);
    // Of a sum that everyone wants only 0 is left, which has its part of it.
    Segment all = sum_around(ring);
    all.collective = collective({{{0, 1, 2, 3}, {0}, true}});
    all.schedule = segment(ring, all.collective,
                           {{0, {5}, Op::reduce}, {0, {4}, Op::reduce}, {0, {7}, Op::reduce}})
                       .schedule;
    CHECK(
        recovered(ring, all, {npu_down(us, 1), npu_down(us, 2), npu_down(us, 3)}, policy).ending ==
        Ending::nothing_left);
  }
}

TEST_CASE("who joins late: a plan that is given up, and one made anew") {
  const Topology ring = samples::ring(4);
  const auto with = [&](const Segment& plan, const std::vector<NetworkEvent>& events, Policy policy,
                        const std::vector<std::int64_t>& starts) {
    std::vector<Time> times;
    for (const std::int64_t ps : starts) times.push_back(Time{ps});
    return recovered(ring, plan, events, policy, 0, plan_by_tacos, times);
  };
  const Segment broadcast = broadcast_around(ring);
  // It waits at 1 from 1 hop on.
  CHECK(with(broadcast, {}, Policy::report, {0, 50 * us, 0, 0}).completion ==
        Time{50 * us + 2 * hop});

  // What is on the way to 1 arrives at 1 hop and waits there; then 0 -> 3 -> 2, and 1 takes in what
  // it has when it joins: before the end, or as the last.
  const std::vector<NetworkEvent> cut{link_down(10 * us, 1)};
  for (const std::int64_t start : {50 * us, 100 * us}) {
    const Recovery anew = with(broadcast, cut, Policy::resynthesize, {0, start, 0, 0});
    CHECK(anew.complete());
    REQUIRE(anew.segments.size() == 2);
    CHECK(anew.segments[0].waiting == std::vector<std::uint32_t>{0});
    CHECK(anew.segments[1].takes_in == std::vector<Arrival>{{0, 0}});
    CHECK(anew.segments[1].begin == Time{hop}); // nobody waits for it
    CHECK(anew.last_came[1] == Time{start});
    CHECK(anew.completion == Time{std::max(start, 3 * hop)});
    CHECK(anew.in_vain == Bytes{});
  }
  // 0 > 3 has it at 2 hops, and 3 sends it on when it joins.
  CHECK(with(broadcast, cut, Policy::resynthesize, {0, 0, 0, 100 * us}).completion ==
        Time{100 * us + hop});
  // 1 -> 0 -> 3 -> 2 instead of 1 -> 2, from when 1 joins.
  CHECK(with(broadcast, cut, Policy::reroute, {0, 50 * us, 0, 0}).completion ==
        Time{50 * us + 4 * hop});
  // It starts over at 1 hop: what waits at 1 is sent once more.
  const Recovery over = with(broadcast, cut, Policy::restart, {0, 50 * us, 0, 0});
  CHECK(over.completion == Time{3 * hop});
  CHECK(over.in_vain == Bytes{});
}

TEST_CASE("who dies before its start never joins") {
  const Topology ring = samples::ring(4);
  std::vector<Time> starts(4);
  starts[3] = Time{100 * us};
  const std::vector<NetworkEvent> death{npu_down(50 * us, 3)};
  const Recovery without =
      recovered(ring, broadcast_around(ring), death, Policy::report, 0, plan_by_tacos, starts);
  CHECK(without.complete());
  CHECK(without.completion == Time{2 * hop});
  REQUIRE(without.stuck.size() == 1);
  CHECK(without.stuck[0].why == StuckTransfer::Why::link_down);
  // It has come, waits and is lost.
  const Recovery lost = recovered(ring, broadcast_around(ring), {npu_down(70 * us, 3)},
                                  Policy::report, 0, plan_by_tacos, starts);
  CHECK(lost.completion == Time{2 * hop});
  REQUIRE(lost.stuck.size() == 1);
  CHECK(lost.stuck[0].why == StuckTransfer::Why::lost);

  // Its contribution was never sent.
  starts = {Time{100 * us}, Time{}, Time{}, Time{}};
  const std::vector<NetworkEvent> sender{npu_down(50 * us, 0)};
  const std::vector<ChunkAt> its{{zero, NodeId{0}}};
  const Recovery nothing =
      recovered(ring, sum_around(ring), sender, Policy::report, 0, plan_by_tacos, starts);
  CHECK(nothing.missing == std::vector<ChunkAt>{{zero, NodeId{3}}});
  CHECK(nothing.lost == its);
  const Recovery anew =
      recovered(ring, sum_around(ring), sender, Policy::resynthesize, 0, plan_by_tacos, starts);
  CHECK(anew.complete());
  CHECK(anew.lost == its);
  CHECK(anew.completion == Time{50 * us + 2 * hop});
}

TEST_CASE("a member with nothing to do is waited for while it lives") {
  const Topology ring = samples::ring(4);
  const Segment plan = segment(ring, collective({{{0, 1}, {2}}}), {{0, {1}}});
  const std::vector<Time> starts{Time{70 * us}, Time{}, Time{}, Time{200 * us}}; // 3 is no member
  const auto with = [&](const std::vector<NetworkEvent>& events) {
    return recovered(ring, plan, events, Policy::report, 0, plan_by_tacos, starts);
  };
  RunOptions options;
  options.starts = starts;
  for (const EngineRow& engine : engines())
    CHECK(engine.run(ring, plan.collective, plan.schedule, {}, options).completion ==
          Time{70 * us});
  const Recovery late = with({link_down(60 * us, 5), link_down(80 * us, 6)});
  CHECK(late.completion == Time{70 * us});
  CHECK(late.progress.back().at == Time{hop});
  CHECK(late.events_counted == 1);
  CHECK(with({npu_down(30 * us, 0)}).completion == Time{hop});
  CHECK(with({npu_down(71 * us, 0)}).completion == Time{70 * us});
}

TEST_CASE("names of policies") {
  for (const Policy policy : all_policies) CHECK(policy_words.parse(to_text(policy)) == policy);
  CHECK(message_of([] { (void)policy_words.parse("retry"); }).find("reroute") != std::string::npos);
}

} // namespace repair_recovery_test
