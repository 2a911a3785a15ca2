// Hand-made states: who holds what, what is left, what is lost, who is cut off.

#include "sim/repair/residual.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/repair_samples.hpp"

#include <algorithm>

namespace repair_residual_test {

using namespace tutti;
using namespace tutti::repair_samples;
using samples::link;

namespace {

/// Link i from i to i + 1, link n - 1 + i back.
Topology line(std::uint32_t n) {
  TopologyParts parts = samples::npus("line", n);
  for (std::uint32_t i = 0; i + 1 < n; ++i) parts.add_link(link(i, i + 1));
  for (std::uint32_t i = 0; i + 1 < n; ++i) parts.add_link(link(i + 1, i));
  return Topology(std::move(parts));
}

std::vector<NodeId> held(const Residual& left, std::uint32_t chunk) {
  const auto set = left.collective.sources(ChunkId{chunk});
  return {set.begin(), set.end()};
}
std::vector<NodeId> wanted(const Residual& left, std::uint32_t chunk) {
  const auto set = left.collective.destinations(ChunkId{chunk});
  return {set.begin(), set.end()};
}
std::vector<Start> begin(const Residual& left, std::uint32_t chunk) {
  std::vector<Start> starts;
  for (std::size_t h = 0; h < held(left, chunk).size(); ++h)
    starts.push_back(left.starts.of(ChunkId{chunk}, h));
  return starts;
}
bool reduces(const Residual& left, std::uint32_t chunk) {
  return left.collective.chunks[chunk].reduces;
}

constexpr ChunkId zero{0};

} // namespace

TEST_CASE("a broadcast that has come half way is copied from all who have it") {
  const Topology topology = line(4);
  const std::vector<Segment> done{segment(topology, collective({{{0}, {0, 1, 2, 3}}}),
                                          {{0, {0}}, {0, {1}}, {0, {2}, Op::copy, false, false}})};
  const Residual left = residual(topology, done, network(topology), false);
  REQUIRE(left.chunk == std::vector<ChunkId>{zero});
  CHECK(held(left, 0) == npus({0, 1, 2}));
  CHECK(wanted(left, 0) == npus({3}));
  CHECK(left.lost.empty());
  CHECK(left.out_of_reach.empty());

  const Residual anew = residual(topology, done, network(topology), true);
  CHECK(held(anew, 0) == npus({0}));
  CHECK(wanted(anew, 0) == npus({1, 2, 3}));
  CHECK(begin(anew, 0) == std::vector{Start::input});
}

TEST_CASE("a chain of sums that breaks in the middle goes on from the longest sums") {
  const Topology topology = line(4);
  // 0 -> 1 -> 2 is done: 1 has {0,1} and 2 has {0,1,2}; they overlap, and only 2's counts.
  const std::vector<Segment> done{
      segment(topology, collective({{{0, 1, 2, 3}, {0, 3}, true}}),
              {{0, {0}, Op::reduce}, {0, {1}, Op::reduce}, {0, {2}, Op::reduce, false, false}})};
  const Residual left = residual(topology, done, network(topology), false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(reduces(left, 0));
  CHECK(held(left, 0) == npus({2, 3}));
  CHECK(wanted(left, 0) == npus({0, 3}));
  CHECK(begin(left, 0) == std::vector{Start::present, Start::present});
}

TEST_CASE("a sum that someone has complete is copied") {
  const Topology topology = line(3);
  const std::vector<Segment> done{segment(topology, collective({{{0, 1, 2}, {0, 1, 2}, true}}),
                                          {{0, {0}, Op::reduce},
                                           {0, {1}, Op::reduce},
                                           {0, {3}, Op::copy},
                                           {0, {2}, Op::copy, false, false}})};
  const Residual left = residual(topology, done, network(topology), false);
  REQUIRE(left.chunk.size() == 1);
  CHECK_FALSE(reduces(left, 0));
  CHECK(held(left, 0) == npus({1, 2}));
  CHECK(wanted(left, 0) == npus({0}));
}

TEST_CASE("where sums overlap, some NPUs go back to their inputs") {
  // 1 -> 0 and then 2 -> 1: 0 has {0,1}, 1 has {1,2}, 2 has {2}: of the sums, {0,1} and {2}.
  const Topology topology = line(3);
  const std::vector<Segment> done{segment(topology, collective({{{0, 1, 2}, {0}, true}}),
                                          {{0, {2}, Op::reduce}, {0, {3}, Op::reduce}})};
  Residual left = residual(topology, done, network(topology), false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(held(left, 0) == npus({0, 2}));
  CHECK(begin(left, 0) == std::vector{Start::present, Start::present});

  // With 2 dead, its contribution is in 1's {1,2} alone: 0 goes back to {0}, and nothing is lost.
  left = residual(topology, done, network(topology, {npu_down(0, 2)}), false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(held(left, 0) == npus({0, 1}));
  CHECK(begin(left, 0) == std::vector{Start::input, Start::present});
  CHECK(left.lost.empty());
}

TEST_CASE("what the dead gave to sums that can't be added up is given up, and stays so") {
  // First where going back to an input is enough.
  const Topology topology = samples::full(4);
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    for (const LinkId link : topology.out_links(NodeId{from}))
      if (topology.link(link).to == NodeId{to}) return link.value;
    return UINT32_MAX;
  };
  // 3 gives to 0; 2 to 3, which has {2,3} then and gives that to 1. 0 {0,3}, 1 {1,2,3}.
  std::vector<Segment> done{segment(topology, collective({{{0, 1, 2, 3}, {0}, true}}),
                                    {{0, {between(3, 0)}, Op::reduce},
                                     {0, {between(2, 3)}, Op::reduce},
                                     {0, {between(3, 1)}, Op::reduce}})};
  const NetworkState dead = network(topology, {npu_down(0, 2), npu_down(0, 3)});
  Residual left = residual(topology, done, dead, false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(held(left, 0) == npus({0, 1}));
  CHECK(begin(left, 0) == std::vector{Start::input, Start::present});
  CHECK(left.lost.empty());

  // Then where two sums each have what the other lacks, and a third's contribution is in both.
  const Topology five = samples::full(5);
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    for (const LinkId each : five.out_links(NodeId{from}))
      if (five.link(each).to == NodeId{to}) return each.value;
    return UINT32_MAX;
  };
  // 4 gives to 2 and to 3, 2 {2,4} to 0, 3 {3,4} to 1: 0 {0,2,4}, 1 {1,3,4}; 2, 3 and 4 die.
  done = {segment(five, collective({{{0, 1, 2, 3, 4}, {0}, true}}),
                  {{0, {link(4, 2)}, Op::reduce},
                   {0, {link(4, 3)}, Op::reduce},
                   {0, {link(2, 0)}, Op::reduce},
                   {0, {link(3, 1)}, Op::reduce}})};
  const NetworkState three = network(five, {npu_down(0, 2), npu_down(0, 3), npu_down(0, 4)});
  left = residual(five, done, three, false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(held(left, 0) == npus({0, 1}));
  CHECK(begin(left, 0) == std::vector{Start::present, Start::input});
  CHECK(left.lost == std::vector<ChunkAt>{{zero, NodeId{3}}});
  // 1's old value is there still, but what was given up stays so.
  Segment second = segment(five, left.collective, {{0, {link(1, 0)}, Op::reduce, false, false}});
  second.starts = left.starts;
  done.push_back(second);
  left = residual(five, done, three, false, left.lost);
  CHECK(begin(left, 0) == std::vector{Start::present, Start::present});
  CHECK(left.lost == std::vector<ChunkAt>{{zero, NodeId{3}}});
}

TEST_CASE("who has the chosen sum has the chunk once the rest is given up") {
  const Topology topology = samples::full(4);
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    for (const LinkId link : topology.out_links(NodeId{from}))
      if (topology.link(link).to == NodeId{to}) return link.value;
    return UINT32_MAX;
  };
  // 1 gives to 0; 2 to 1, which has {1,2} then; 3 to 0, which has {0,1,3}. 2 and 3 die.
  const std::vector<Segment> done{segment(topology, collective({{{0, 1, 2, 3}, {0}, true}}),
                                          {{0, {between(1, 0)}, Op::reduce},
                                           {0, {between(2, 1)}, Op::reduce},
                                           {0, {between(3, 0)}, Op::reduce}})};
  const NetworkState dead = network(topology, {npu_down(0, 2), npu_down(0, 3)});
  Residual left = residual(topology, done, dead, false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(held(left, 0) == npus({0}));
  CHECK(wanted(left, 0) == npus({0}));
  CHECK(begin(left, 0) == std::vector{Start::present});
  CHECK(left.lost == std::vector<ChunkAt>{{zero, NodeId{2}}});
  // Once it is given up, nothing is left to do.
  left = residual(topology, done, dead, false, std::vector<ChunkAt>{{zero, NodeId{2}}});
  CHECK(left.chunk.empty());
}

TEST_CASE("largest first may fail where a search finds sums that add up") {
  // Six contributors on a full graph. 0 -> 2 and 1 -> 2: 2 has {0,1,2}. 4 dies having given to 0:
  // {0,4}; 5 dies having given to 1: {1,5}. 3 has {3}. The largest, {0,1,2}, excludes both; with
  // 2's input instead of it nothing is lost.
  const Topology topology = samples::full(6);
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    for (const LinkId link : topology.out_links(NodeId{from}))
      if (topology.link(link).to == NodeId{to}) return link.value;
    return UINT32_MAX;
  };
  const Segment done = segment(topology, collective({{{0, 1, 2, 3, 4, 5}, {3}, true}}),
                               {{0, {between(0, 2)}, Op::reduce},
                                {0, {between(1, 2)}, Op::reduce},
                                {0, {between(4, 0)}, Op::reduce},
                                {0, {between(5, 1)}, Op::reduce}});
  const NetworkState dead = network(topology, {npu_down(0, 4), npu_down(0, 5)});
  const Residual left = residual(topology, std::vector{done}, dead, false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(held(left, 0) == npus({0, 1, 2, 3}));
  CHECK(begin(left, 0) ==
        std::vector{Start::present, Start::present, Start::input, Start::present});
  CHECK(left.lost.empty());
}

TEST_CASE("the contribution of a dead NPU survives where it was passed on, else it is lost") {
  const Topology topology = line(3);
  const Collective all_reduce = collective({{{0, 1, 2}, {0, 1, 2}, true}});
  const NetworkState dead = network(topology, {npu_down(0, 2)});
  std::vector<Segment> done{segment(topology, all_reduce, {{0, {3}, Op::reduce}})};
  Residual left = residual(topology, done, dead, false);
  CHECK(left.lost.empty());
  CHECK(held(left, 0) == npus({0, 1})); // {0} and {1,2}
  CHECK(wanted(left, 0) == npus({0, 1}));

  done = {segment(topology, all_reduce, {{0, {3}, Op::reduce, false, false}})};
  left = residual(topology, done, dead, false);
  CHECK(left.lost == std::vector<ChunkAt>{{zero, NodeId{2}}});
  CHECK(held(left, 0) == npus({0, 1}));

  // Data that is copied: lost with its only holder, and then wanted by nobody.
  done = {segment(topology, collective({{{2}, {0, 1, 2}}}), {})};
  left = residual(topology, done, dead, false);
  CHECK(left.lost == std::vector<ChunkAt>{{zero, NodeId{2}}});
  CHECK(left.chunk.empty());
  CHECK(left.out_of_reach.empty());
}

TEST_CASE("an exchange of which one half arrived") {
  const Topology topology = samples::ring(2);
  const Collective all_reduce = collective({{{0, 1}, {0, 1}, true}});
  const auto exchange = [&](bool there, bool back) {
    return std::vector{
        segment(topology, all_reduce,
                {{0, {0}, Op::reduce, false, there}, {0, {1}, Op::reduce, true, back}})};
  };
  Residual left = residual(topology, exchange(true, false), network(topology), false);
  REQUIRE(left.chunk.size() == 1);
  CHECK_FALSE(reduces(left, 0)); // 1 has both
  CHECK(held(left, 0) == npus({1}));
  CHECK(wanted(left, 0) == npus({0}));
  left = residual(topology, exchange(true, true), network(topology), false);
  CHECK(left.chunk.empty());
}

TEST_CASE("a network cut in two: who can't finish") {
  const Topology topology = line(4);
  const NetworkState cut = network(topology, {link_down(0, 1), link_down(0, 4)}); // 1 | 2
  // All-Gather of two chunks, of 0 and of 3: each stays on its side.
  std::vector<Segment> done{
      segment(topology, collective({{{0}, {0, 1, 2, 3}}, {{3}, {0, 1, 2, 3}}}), {})};
  Residual left = residual(topology, done, cut, false);
  REQUIRE(left.chunk.size() == 2);
  CHECK(wanted(left, 0) == npus({1}));
  CHECK(wanted(left, 1) == npus({2}));
  CHECK(left.out_of_reach == std::vector<ChunkAt>{{zero, NodeId{2}},
                                                  {zero, NodeId{3}},
                                                  {ChunkId{1}, NodeId{0}},
                                                  {ChunkId{1}, NodeId{1}}});

  // All-Reduce: contributions can't come together, so nobody finishes.
  done = {segment(topology, collective({{{0, 1, 2, 3}, {0, 1, 2, 3}, true}}), {})};
  left = residual(topology, done, cut, false);
  CHECK(left.chunk.empty());
  CHECK(left.out_of_reach.size() == 4);

  // One way only: 0, 1 -> 2, 3 still works, and so 2 and 3 finish.
  left = residual(topology, done, network(topology, {link_down(0, 4)}), false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(wanted(left, 0) == npus({2, 3}));
  CHECK(left.out_of_reach == std::vector<ChunkAt>{{zero, NodeId{0}}, {zero, NodeId{1}}});
}

TEST_CASE("sums on the right side of a cut are taken, though others are larger") {
  // 3 -> 2 -> 1 -> 0 has summed up all at 0. Then 0 is cut off. 1 has {1,2,3}; nobody else has 0's
  // contribution, but 0 passed its own to 1 in a first round, too: 1 {0,1,2,3}.
  const Topology topology = line(4);
  std::vector<Segment> done{
      segment(topology, collective({{{1, 2, 3}, {0, 1, 2, 3}, true}}),
              {{0, {5}, Op::reduce}, {0, {4}, Op::reduce, false, true}, {0, {3}, Op::copy}})};
  // 1 and 0 have it complete; 0 is cut off: 2 and 3 copy from 1, and 0 needs nothing.
  const NetworkState cut = network(topology, {link_down(0, 0), link_down(0, 3)});
  Residual left = residual(topology, done, cut, false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(wanted(left, 0) == npus({2, 3}));
  CHECK(left.out_of_reach.empty());

  // 1 -> 0 brought {1} of {1,2,3} before: {1} at 0 and 1; with 2, 3's values, 1's copy counts.
  done = {segment(topology, collective({{{1, 2, 3}, {2}, true}}),
                  {{0, {5}, Op::reduce}, {0, {3}, Op::copy}})};
  left = residual(topology, done, cut, false);
  REQUIRE(left.chunk.size() == 1);
  CHECK(held(left, 0) == npus({1, 2}));
  CHECK(left.out_of_reach.empty());
}

TEST_CASE("what a plan doesn't count lies there until it is overwritten, and inputs always") {
  const Topology topology = line(3);
  std::vector<Segment> done{segment(topology, collective({{{0, 1, 2}, {0, 1, 2}, true}}),
                                    {{0, {0}, Op::reduce}})}; // 0 {0}, 1 {0,1}, 2 {2}
  const Residual left = residual(topology, done, network(topology), false);
  REQUIRE(held(left, 0) == npus({1, 2}));
  // The second segment: 2 -> 1. Then 1 is complete; 0's value doesn't count.
  Segment second = segment(topology, left.collective, {{0, {3}, Op::reduce}});
  second.starts = left.starts;
  done.push_back(second);
  const Residual then = residual(topology, done, network(topology), false);
  CHECK(held(then, 0) == npus({1}));
  CHECK(wanted(then, 0) == npus({0, 2}));
  // With 1 dead, 0 and 2 have their inputs; 1's is gone.
  const Residual dead = residual(topology, done, network(topology, {npu_down(0, 1)}), false);
  CHECK(dead.out_of_reach == std::vector<ChunkAt>{{zero, NodeId{0}}, {zero, NodeId{2}}});
  CHECK(dead.lost == std::vector<ChunkAt>{{zero, NodeId{1}}});
  // Without the delivery the choice is the same as before.
  done.back().delivered = {false};
  const Residual again = residual(topology, done, network(topology), false);
  CHECK(held(again, 0) == npus({1, 2}));
  CHECK(wanted(again, 0) == npus({0, 1, 2}));
  // Had 1's sum {0,1} come to 0 as well, 0 is where 1's contribution is left when 1 dies.
  done[0] = segment(topology, collective({{{0, 1, 2}, {0, 1, 2}, true}}),
                    {{0, {0}, Op::reduce}, {0, {2}, Op::copy}});
  const Residual saved = residual(topology, done, network(topology, {npu_down(0, 1)}), false);
  CHECK(saved.lost.empty());
}

TEST_CASE("what lies in a switch or a memory doesn't count") {
  TopologyParts parts = samples::npus("with memory", 2);
  parts.add_node({"memory", NodeKind::memory, {true, true, false}, {}});
  parts.add_duplex(link(0, 2));
  parts.add_duplex(link(2, 1));
  const Topology topology(std::move(parts));
  const std::vector<Segment> done{
      segment(topology, collective({{{0}, {1}}}), {{0, {0}}, {0, {2}, Op::copy, false, false}})};
  const Residual left = residual(topology, done, network(topology), false);
  CHECK(held(left, 0) == npus({0}));
  // With 0 dead it is lost, although the memory had it.
  const Residual dead = residual(topology, done, network(topology, {npu_down(0, 0)}), false);
  CHECK(dead.chunk.empty());
  CHECK(dead.lost == std::vector<ChunkAt>{{zero, NodeId{0}}});
}

} // namespace repair_residual_test
