// Which messages land directly, which take slots, and which links connections are given.

#include "runtime/plans/plan.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/hand_programs.hpp"
#include "topologies/list.hpp"

#include <algorithm>

namespace plan_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

struct Message {
  PlannedStep sent, received;
};

/// Of each connection, the k-th sent with the k-th received.
std::vector<std::vector<Message>> messages_of(const Plan& plan) {
  std::vector<std::vector<Message>> all(plan.connections.size());
  std::vector<std::size_t> received(plan.connections.size());
  for (const PlannedBlock& block : plan.blocks)
    for (std::uint32_t s = 0; s < block.steps; ++s) {
      const PlannedStep& step = plan.steps[block.first_step + s];
      if (sends(step.kind)) all[block.sends].push_back({step, {}});
    }
  for (const PlannedBlock& block : plan.blocks)
    for (std::uint32_t s = 0; s < block.steps; ++s) {
      const PlannedStep& step = plan.steps[block.first_step + s];
      if (receives(step.kind)) all[block.receives][received[block.receives]++].received = step;
    }
  return all;
}

void check_landings(const Plan& plan) {
  const auto messages = messages_of(plan);
  for (std::size_t c = 0; c < messages.size(); ++c) {
    const Connection& connection = plan.connections[c];
    const Arena& arena = plan.arenas[connection.to];
    REQUIRE(messages[c].size() == connection.messages);
    std::uint32_t in_slots = 0;
    for (const Message& m : messages[c]) {
      CHECK(m.sent.landing == m.received.got);
      CHECK(m.sent.bytes == m.received.bytes);
      CHECK(m.sent.takes_slot == m.received.frees_slot);
      CHECK(m.sent.takes_slot != m.received.got_in_place);
      CHECK(m.sent.slot_messages == in_slots);
      CHECK(m.sent.landing + m.sent.bytes <= arena.size);
      CHECK((m.sent.landing >= arena.slots) == m.sent.takes_slot);
      if (m.received.got_in_place) CHECK(m.sent.landing == m.received.target);
      in_slots += m.sent.takes_slot ? 1U : 0U;
    }
    CHECK(connection.slot_messages == in_slots);
  }
}

} // namespace

TEST_CASE("what nothing touches before lands in its place") {
  const Plan gather = make_plan(ring_all_gather(4, false), 48);
  check_landings(gather);
  REQUIRE(gather.connections.size() == 4);
  for (const Connection& c : gather.connections) {
    CHECK(c.messages == 3);
    CHECK(c.slot_messages == 0);
  }
  // rrs keeps nothing: slots; rrcs writes what it doesn't read, and nothing has read it.
  const Plan reduce = make_plan(ring_all_reduce(4, false), 48);
  check_landings(reduce);
  for (const Connection& c : reduce.connections) {
    CHECK(c.messages == 6);
    CHECK(c.slot_messages == 2);
    CHECK(c.slots == 2);
  }
  // In place every part has been sent or added before it comes back.
  const Plan in_place = make_plan(ring_all_reduce(4, true), 48, {.slots = 3});
  check_landings(in_place);
  for (const Connection& c : in_place.connections) {
    CHECK(c.slot_messages == 6);
    CHECK(c.slots == 3);
  }
}

TEST_CASE("a second push to a place, or one that comes after a read, takes a slot") {
  Program program = chain_broadcast(2, 2);
  program.ranks[1].blocks[1].steps[1].target.unit = 0; // both into unit 0
  const Plan plan = make_plan(program, 16);
  const auto messages = messages_of(plan);
  CHECK(messages[0][0].received.got_in_place);
  CHECK_FALSE(messages[0][1].received.got_in_place);

  Program read_before = chain_broadcast(2, 1);
  Block& receiver = read_before.ranks[1].blocks[1];
  read_before.ranks[1].scratch = 1;
  receiver.steps.insert(receiver.steps.begin(),
                        {StepKind::copy, {Buffer::output, 0}, {Buffer::scratch, 0}, 1, {}});
  CHECK_FALSE(messages_of(make_plan(read_before, 16))[0][0].received.got_in_place);
}

TEST_CASE("slots are used in turn") {
  const Plan plan = make_plan(ring_all_reduce(6, true), 160, {.slots = 3});
  for (const std::vector<Message>& messages : messages_of(plan)) {
    REQUIRE(messages.size() == 10);
    for (std::size_t k = 0; k < messages.size(); ++k)
      for (std::size_t other = 0; other < messages.size(); ++other) {
        const std::uint64_t a = messages[k].sent.landing, b = messages[other].sent.landing;
        CHECK((a == b) == (k % 3 == other % 3));
        if (a < b) CHECK(a + 160 <= b);
      }
  }
}

TEST_CASE("one by one: all messages take the one slot, and land where they did") {
  const Plan plan = make_plan(ring_all_gather(4, false), 16, {.one_by_one = true});
  for (const Connection& c : plan.connections) {
    CHECK(c.slots == 1);
    CHECK(c.slot_messages == c.messages);
  }
  for (const std::vector<Message>& messages : messages_of(plan))
    for (const Message& m : messages) {
      CHECK(m.sent.takes_slot);
      CHECK(m.received.got_in_place);
    }
}

TEST_CASE("in place, input and output are one memory") {
  for (const Arena& arena : make_plan(ring_all_reduce(4, true), 16).arenas)
    CHECK(arena.input == arena.output);
  const Plan gather = make_plan(ring_all_gather(4, true), 16);
  for (std::uint32_t r = 0; r < 4; ++r)
    CHECK(gather.arenas[r].input == gather.arenas[r].output + 16 * std::uint64_t{r});
  const Plan apart = make_plan(ring_all_gather(4, false), 16);
  for (const Arena& arena : apart.arenas) {
    CHECK(arena.output >= arena.input + 16);
    CHECK(arena.scratch >= arena.output + 64);
  }
}

TEST_CASE("units of a size") {
  const Program gather = ring_all_gather(4, false);
  CHECK(unit_bytes_for(gather, Bytes{64}, ElementType::float32) == 16);
  const Topology ring = make_topology("ring:4");
  const Collective exchange =
      make_collective(ring, {CollectiveKind::all_to_all, Bytes{1 << 20}, {}, 0, 1});
  // each member's buffer of 64 bytes has 4 parts
  CHECK(unit_bytes_for(empty_program(exchange, 4, 1, false), Bytes{64}, ElementType::uint8) == 16);
  CHECK_THAT(message_of([&] { (void)unit_bytes_for(gather, Bytes{1000}, ElementType::float64); }),
             ContainsSubstring("next size that does is 1024 bytes"));
  CHECK_THAT(message_of([&] { (void)unit_bytes_for(gather, Bytes{0}, ElementType::uint8); }),
             ContainsSubstring("next size that does is 4 bytes"));
  CHECK_THROWS_AS(make_plan(gather, 16, {.slots = 0}), InputError);
}

TEST_CASE("connections take their link, or the shortest way") {
  const Topology line = line_network(4, Time{5'000'000}, Bandwidth{2'000'000'000});
  const Plan plan = make_plan(ring_all_gather(4, true), 16, {.emulated = &line});
  REQUIRE(plan.links.size() == 6);
  CHECK(plan.links[0].latency_seconds == Approx(5e-6));
  CHECK(plan.links[0].seconds_per_byte == Approx(5e-10));
  for (const Connection& c : plan.connections) {
    const std::span<const std::uint32_t> way =
        std::span(plan.path_links).subspan(c.first_link, c.links);
    if (c.from == 3)
      CHECK(std::vector(way.begin(), way.end()) == std::vector<std::uint32_t>{5, 3, 1});
    else
      CHECK(std::vector(way.begin(), way.end()) == std::vector<std::uint32_t>{2 * c.from});
  }
  const Topology small = line_network(3, Time{0}, Bandwidth{1});
  CHECK_THROWS_AS(make_plan(ring_all_gather(4, true), 16, {.emulated = &small}), InputError);
}

TEST_CASE("parallel links are given to channels in order, a shared group slows its links") {
  TopologyParts parts;
  parts.add_node({"a", NodeKind::npu, {}, {}});
  parts.add_node({"b", NodeKind::npu, {}, {}});
  for (int i = 0; i < 2; ++i) parts.add_link({NodeId{0}, NodeId{1}, Time{0}, Bandwidth{100}, -1});
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, Bandwidth{50}});
  const Topology network(std::move(parts));
  Program program = chain_broadcast(2, 4);
  const Block sender = program.ranks[0].blocks[0], receiver = program.ranks[1].blocks[1];
  program.ranks[0].blocks.clear();
  program.ranks[1].blocks.clear();
  for (std::uint32_t channel = 0; channel < 4; ++channel) {
    for (const auto& [rank, block] : {std::pair(0U, &sender), std::pair(1U, &receiver)}) {
      Block one = *block;
      one.channel = channel;
      one.steps = {block->steps[channel]};
      program.ranks[rank].blocks.push_back(one);
    }
  }
  const Plan plan = make_plan(program, 16, {.emulated = &network});
  REQUIRE(plan.connections.size() == 4);
  for (std::uint32_t c = 0; c < 4; ++c)
    CHECK(plan.path_links[plan.connections[c].first_link] == c % 2);
  CHECK(plan.links[1].seconds_per_byte == Approx(1.0 / 50));
  REQUIRE(plan.groups.size() == 1);
  CHECK(plan.groups[0].seconds_per_byte == Approx(1.0 / 50));
  CHECK(plan.links[1].groups == 1);
}

} // namespace plan_test
