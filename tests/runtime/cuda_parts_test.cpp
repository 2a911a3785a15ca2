// The parts of the CUDA executor that need no GPU, one by one.
#include "algorithms/list.hpp"
#include "runtime/cuda/move.hpp"
#include "runtime/cuda/take_links.hpp"
#include "runtime/executor.hpp"
#include "runtime/expected_output.hpp"
#include "runtime/issue_order.hpp"
#include "runtime/lowering.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/host_machine.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::runtime;

namespace {

/// A clock that stands still, and links that one block takes.
struct LinkMachine {
  std::uint64_t time = 0;
  [[nodiscard]] std::uint64_t now() const { return time; }
  std::uint64_t claim(std::uint64_t* clock, std::uint64_t from, std::uint64_t span) {
    const std::uint64_t start = std::max(*clock, from);
    *clock = start + span;
    return start;
  }
};

/// Two links one after another, 2 ns and 1 ns a byte, latencies of 10 and 20 ns, in one group of
/// 3 ns a byte where `grouped`.
class TwoLinks {
public:
  TwoLinks(bool stores, bool grouped) {
    links_ = {{10e-9, 2e-9, stores, 0, grouped ? 1U : 0U}, {20e-9, 1e-9, true, 0, 0}};
    groups_ = {{3e-9}};
    run_.links = links_.data();
    run_.groups = groups_.data();
    run_.link_groups = link_groups_.data();
    run_.link_free = link_free_.data();
    run_.group_free = &group_free_;
  }
  /// Over both; `taken`: the first.
  Passage send(std::uint64_t now, std::uint64_t bytes) {
    LinkMachine machine{now};
    const auto size = static_cast<double>(bytes);
    const Passage first = pass_link(links_[0], take_link(machine, run_, 0, now, size), 0, size);
    Passage last =
        pass_link(links_[1], take_link(machine, run_, 1, first.head, size), first.due, size);
    last.taken = first.taken;
    return last;
  }

private:
  std::vector<std::uint32_t> link_groups_{0};
  std::vector<EmulatedLink> links_;
  std::vector<EmulatedGroup> groups_;
  std::vector<std::uint64_t> link_free_{0, 0};
  std::uint64_t group_free_ = 0;
  RunView run_;
};

/// Times are rounded up on each link.
bool is_about(std::uint64_t found, std::uint64_t expected) {
  return found >= expected && found <= expected + 6;
}

/// move() of every offset and length, by several threads in turn, against a plain loop.
template <typename T, Combine combine> void check_moves(std::size_t step) {
  constexpr std::size_t room = 640;
  std::vector<Vector> memory(4 * room / sizeof(Vector));
  auto* bytes = reinterpret_cast<std::byte*>(memory.data());
  for (const std::size_t count : {0U, 1U, 5U, 16U, 33U, 130U})
    for (const std::size_t offset : {0UL, step, 2 * step, 16UL})
      for (const bool reduces : {false, true}) {
        const std::size_t size = count * sizeof(T);
        if (size + offset > room) continue;
        std::vector<T> a(count), b(count), expected(count), found(count);
        for (std::size_t i = 0; i < count; ++i) {
          a[i] = static_cast<T>(i * 7 + 3);
          b[i] = static_cast<T>(i * 5 + 250);
          expected[i] = !reduces                  ? a[i]
                        : combine == Combine::max ? std::max(a[i], b[i])
                                                  : static_cast<T>(a[i] + b[i]);
        }
        std::fill_n(bytes, 4 * room, std::byte{0xA5});
        std::byte *first = bytes + offset, *second = bytes + room + offset,
                  *out = bytes + 2 * room + 16;
        if (size > 0) {
          std::memcpy(first, a.data(), size);
          std::memcpy(second, b.data(), size);
        }
        // The target is the second operand, as where a rank reduces into its own.
        for (std::uint32_t thread = 0; thread < 3; ++thread)
          move<T, combine>({first, reduces ? second : nullptr, second, out, size}, thread, 3);
        for (const std::byte* at : {second, out}) {
          if (size > 0) std::memcpy(found.data(), at, size);
          CHECK(found == expected);
          CHECK(at[size] == std::byte{0xA5});
          CHECK(at[-1] == std::byte{0xA5});
        }
      }
}

Program ring_all_reduce(std::uint32_t instances) {
  const Topology topology = make_topology("ring:4");
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_reduce, Bytes{1 << 12}, {}, 0, 2});
  const auto row = std::ranges::find(baseline_algorithms(), "ring", &AlgorithmRow::name);
  LoweringOptions options;
  options.instances = instances;
  return lower(topology, collective, *synthesize(*row, topology, collective, {}).schedule, options);
}

} // namespace

TEST_CASE("data moves by words and by elements, from any offset") {
  check_moves<float, Combine::sum>(4);
  check_moves<double, Combine::max>(8);
  check_moves<std::int32_t, Combine::sum>(4);
  check_moves<std::uint8_t, Combine::sum>(1);
  check_moves<std::uint8_t, Combine::max>(4);
}

TEST_CASE("int32 sums wrap around") {
  CHECK(combined<std::int32_t, Combine::sum>(INT32_MAX, 1) == INT32_MIN);
}

TEST_CASE("a message takes its links hop by hop where their ends store") {
  TwoLinks links(true, false);
  const Passage first = links.send(1000, 100); // 200 on the first, there 10 later; 100; 20 later
  CHECK(is_about(first.taken, 1200));
  CHECK(is_about(first.due, 1000 + 200 + 10 + 100 + 20));
  const Passage second = links.send(1050, 100); // behind the first: from 1200
  CHECK(is_about(second.taken, 1400));
  CHECK(is_about(second.due, 1400 + 10 + 100 + 20));
}

TEST_CASE("a message's head goes on at once where a link's end doesn't store") {
  TwoLinks links(false, false);
  // The faster second link ends no sooner than the last byte comes: 200 + 10.
  CHECK(is_about(links.send(0, 100).due, 200 + 10 + 20));
}

TEST_CASE("links of a group share what it has") {
  TwoLinks links(true, true);
  CHECK(is_about(links.send(0, 100).taken, 200));
  CHECK(is_about(links.send(0, 100).taken, 300 + 200)); // the group has taken the first by 300
  CHECK(is_about(links.send(0, 100).taken, 600 + 200));
}

TEST_CASE("steps issued in order, without waiting, do the same as the program") {
  for (const std::uint32_t slots : {1U, 4U}) {
    const Program program = ring_all_reduce(2);
    PlanOptions options;
    options.slots = slots;
    const Plan plan = make_plan(program, 64, options);
    HostMemory memory(program, plan, ElementType::float32);
    const std::vector<IssuedStep> order = issue_order(plan);
    CHECK(order.size() == plan.steps.size());
    std::vector<bool> over(plan.steps.size());
    for (const IssuedStep& issued : order) {
      for (const std::uint32_t other : {issued.after, issued.sent, issued.emptied})
        CHECK((other == nobody || over[other]));
      const PlannedBlock& block = plan.blocks[issued.block];
      const PlannedStep& step = plan.steps[issued.step];
      CHECK((issued.sent != nobody) == receives(step.kind));
      std::byte* there =
          sends(step.kind) ? memory.arena(plan.connections[block.sends].to) : nullptr;
      move<float, Combine::sum>(step_operands(step, memory.arena(block.rank), there), 0, 1);
      over[issued.step] = true;
    }
    CHECK(memory.check(Combine::sum).wrong == 0);
  }
}

TEST_CASE("steps that can't be issued in any order are named") {
  Program program = ring_all_reduce(1);
  std::vector<Block>& blocks = program.ranks[3].blocks;
  const auto block =
      std::ranges::find_if(blocks, [](const Block& b) { return b.sends_to && b.steps.size() > 1; });
  REQUIRE(block != blocks.end());
  const auto number = static_cast<std::uint32_t>(block - blocks.begin());
  const auto first_send =
      std::ranges::find_if(block->steps, [](const Step& s) { return sends(s.kind); });
  REQUIRE(first_send != block->steps.end());
  first_send->after = StepAt{number, static_cast<std::uint32_t>(block->steps.size() - 1)}; // later
  const Plan plan = make_plan(program, 64);
  CHECK_THROWS_AS(issue_order(plan), HungRun);
  const auto at = std::to_string(first_send - block->steps.begin());
  CHECK_THROWS_WITH(issue_order(plan), ContainsSubstring("rank 3, block " + std::to_string(number) +
                                                         ", step " + at + " (s"));
}

TEST_CASE("what a kernel expects of an output is what check_output() does") {
  const Topology topology = make_topology("ring:5");
  for (const CollectiveKind kind : named_collectives()) {
    const Collective collective =
        make_collective(topology, {kind, Bytes{1 << 12}, {}, has_root(kind) ? 3U : 0U, 2});
    const Program program = empty_program(collective, 5, 3, false);
    for (std::uint32_t rank = 0; rank < 5; ++rank) {
      const Expected expected = expected_output(program, rank, ElementType::int32, 20);
      std::vector<std::byte> output(program.ranks[rank].output * std::size_t{20});
      std::uint64_t elements = 0;
      for (const ExpectedChunk& chunk : expected.chunks) {
        const auto from =
            std::span(expected.contributors).subspan(chunk.first_contributor, chunk.contributors);
        for (std::uint64_t e = 0; e < chunk.elements; ++e) {
          std::int32_t sum = 0;
          for (const std::uint32_t npu : from)
            sum += static_cast<std::int32_t>(input_value(ChunkId{chunk.chunk}, npu, e));
          std::memcpy(output.data() + chunk.first_byte + e * 4, &sum, 4);
        }
        elements += chunk.elements;
      }
      const DataCheck check =
          check_output(program, rank, ElementType::int32, Combine::sum, 20, output);
      CHECK(check.wrong == 0);
      CHECK(check.checked == elements);
    }
  }
}
