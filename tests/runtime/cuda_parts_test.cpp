// The parts of the CUDA executor that need no GPU, one by one.
#include "algorithms/list.hpp"
#include "runtime/cuda/move.hpp"
#include "runtime/cuda/take_links.hpp"
#include "runtime/executor.hpp"
#include "runtime/lowering/lowering.hpp"
#include "runtime/plans/issue_order.hpp"
#include "runtime/plans/traffic.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/host_machine.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace cuda_parts_test {

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
  Crossing send(std::uint64_t now, std::uint64_t bytes) {
    LinkMachine machine{now};
    const auto size = static_cast<double>(bytes);
    const Crossing first = pass_link(links_[0], take_link(machine, run_, 0, now, size), 0, size);
    Crossing last =
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

/// Accesses to memory by the size of what they load or store, and how many go where none may.
struct Accesses {
  std::array<std::uint64_t, sizeof(Vector) + 1> loads{}, stores{};
  std::uint64_t wrong = 0;
};

/// Memory that counts accesses; loads belong into some parts of it, stores into others.
class CountingMemory {
public:
  CountingMemory(Accesses& accesses, std::span<const std::span<const std::byte>> read,
                 std::span<const std::span<const std::byte>> written)
      : accesses_(accesses), read_(read), written_(written) {}

  template <typename Word> Word load(const std::byte* at) const {
    ++accesses_.loads[sizeof(Word)];
    if (!is_in(read_, at, sizeof(Word))) ++accesses_.wrong;
    Word word;
    std::memcpy(&word, at, sizeof(Word));
    return word;
  }
  template <typename Word> void store(std::byte* at, Word word) const {
    ++accesses_.stores[sizeof(Word)];
    if (!is_in(written_, at, sizeof(Word))) ++accesses_.wrong;
    std::memcpy(at, &word, sizeof(Word));
  }

private:
  static bool is_in(std::span<const std::span<const std::byte>> parts, const std::byte* at,
                    std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(at) % bytes == 0 &&
           std::ranges::any_of(parts, [&](std::span<const std::byte> part) {
             return at >= part.data() && at + bytes <= part.data() + part.size();
           });
  }

  Accesses& accesses_;
  std::span<const std::span<const std::byte>> read_, written_;
};

/// Notes every byte that is loaded or stored.
struct RecordingMemory {
  std::set<const std::byte*>&loaded, &stored;
  template <typename Word> Word load(const std::byte* at) const {
    for (std::size_t i = 0; i < sizeof(Word); ++i) loaded.insert(at + i);
    return PlainMemory().load<Word>(at);
  }
  template <typename Word> void store(std::byte* at, Word word) const {
    for (std::size_t i = 0; i < sizeof(Word); ++i) stored.insert(at + i);
    PlainMemory().store(at, word);
  }
};

/// Where a step's operands are, in bytes after a multiple of 16.
struct Misaligned {
  std::size_t first = 0, second = 0, target = 0, out = 0;
};

/// One step of each kind of operands, by several threads in turn: against a plain loop, and with as
/// many accesses of each size as the rule at the head of move.hpp gives.
template <typename T, Combine combine> class MoveCheck {
public:
  /// The bytes at `at` that are whole words of the widest size that all `addresses` allow.
  static std::array<std::uint64_t, 17> expected_accesses(std::span<const std::size_t> addresses,
                                                         std::size_t size) {
    std::size_t word = sizeof(T);
    for (const std::size_t wider : {4U, 8U, 16U})
      if (wider > word && std::ranges::all_of(addresses, [&](std::size_t at) {
            return at % wider == addresses[0] % wider;
          }))
        word = wider;
    std::array<std::uint64_t, 17> accesses{};
    for (std::size_t at = 0; at < size; at += sizeof(T)) {
      const std::size_t begin = (addresses[0] + at) / word * word;
      const bool whole = begin >= addresses[0] && begin + word <= addresses[0] + size;
      if (!whole)
        ++accesses[sizeof(T)];
      else if (begin == addresses[0] + at)
        ++accesses[word];
    }
    return accesses;
  }

  /// Whether all is well. `combines`, `keeps`, `sends`: which operands there are.
  static bool passes(const Misaligned& at, std::size_t count, std::uint32_t threads, bool combines,
                     bool keeps, bool sends) {
    const std::size_t size = count * sizeof(T), room = (size / 16 + 4) * 16;
    std::vector<Vector> memory(4 * room / sizeof(Vector));
    const std::span bytes(reinterpret_cast<std::byte*>(memory.data()), 4 * room);
    std::ranges::fill(bytes, std::byte{0xA5});
    const auto part = [&](std::size_t number, std::size_t offset) {
      return bytes.subspan(number * room + 16 + offset, size);
    };
    const std::span first = part(0, at.first), second = part(1, at.second);
    const std::span target = part(2, at.target), out = part(3, at.out);
    std::vector<T> a(count), b(count), expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = static_cast<T>(i * 7 % 256);
      b[i] = static_cast<T>((i * 53 + 200) % 256);
      expected[i] = !combines                 ? a[i]
                    : combine == Combine::max ? std::max(a[i], b[i])
                                              : static_cast<T>(a[i] + b[i]);
    }
    std::ranges::copy(std::as_bytes(std::span(a)), first.begin());
    std::ranges::copy(std::as_bytes(std::span(b)), second.begin());
    std::vector<std::byte> after(bytes.begin(), bytes.end());

    std::vector<std::span<const std::byte>> read{first}, written;
    std::vector<std::size_t> addresses{16 + at.first};
    if (combines) read.push_back(second), addresses.push_back(16 + at.second);
    if (keeps) written.push_back(target), addresses.push_back(16 + at.target);
    if (sends) written.push_back(out), addresses.push_back(16 + at.out);
    const Operands data{first.data(), combines ? second.data() : nullptr,
                        keeps ? target.data() : nullptr, sends ? out.data() : nullptr, size};
    Accesses found;
    const CountingMemory counting(found, read, written);
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      move<T, combine>(data, thread, threads, counting);

    for (const std::span<const std::byte> result : written)
      std::ranges::copy(std::as_bytes(std::span(expected)),
                        after.begin() + (result.data() - bytes.data()));
    std::array<std::uint64_t, 17> loads{}, stores{};
    if (!written.empty()) loads = stores = expected_accesses(addresses, size);
    for (std::uint64_t& n : loads) n *= read.size();
    for (std::uint64_t& n : stores) n *= written.size();
    return std::ranges::equal(bytes, after) && found.wrong == 0 && found.loads == loads &&
           found.stores == stores;
  }

  static std::string failures(std::uint64_t seed) {
    std::string all;
    const auto check = [&](const Misaligned& at, std::size_t count, std::uint32_t threads,
                           std::uint32_t operands) {
      if (!passes(at, count, threads, (operands & 1U) != 0, (operands & 2U) != 0,
                  (operands & 4U) != 0))
        all += fmt::format("at {} {} {} {}, {} elements, {} threads, operands {}\n", at.first,
                           at.second, at.target, at.out, count, threads, operands);
    };
    // All places of the source and distances of the rest from it; all lengths of up to five words.
    for (std::size_t first = 0; first < 16; first += sizeof(T))
      for (std::size_t apart = 0; apart < 16; apart += sizeof(T))
        for (std::size_t count = 0; count * sizeof(T) <= 80; ++count)
          check({first, (first + apart) % 16, first, (first + apart) % 16}, count, 3, 7);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    for (int i = 0; i < 300; ++i) {
      const std::size_t word = std::max<std::size_t>(sizeof(T), std::size_t{1} << below(5));
      const std::size_t base = below(16 / sizeof(T)) * sizeof(T);
      const auto place = [&] { return (base + below(16 / word) * word) % 16; };
      const Misaligned at{place(), place(), place(), place()};
      check(at, below(1200), static_cast<std::uint32_t>(1 + below(40)),
            static_cast<std::uint32_t>(below(8)));
    }
    return all;
  }
};

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

TEMPLATE_TEST_CASE("data moves by the widest words that its addresses allow", "", float, double,
                   std::int32_t, std::uint8_t) {
  for (const std::uint64_t seed : {1U, 2U}) {
    CHECK(MoveCheck<TestType, Combine::sum>::failures(seed) == "");
    CHECK(MoveCheck<TestType, Combine::max>::failures(seed) == "");
  }
}

TEST_CASE("a step that combines into its own operand is moved in place") {
  std::vector<std::int32_t> own(1000), other(1000), expected(1000);
  for (int i = 0; i < 1000; ++i) {
    own[static_cast<std::size_t>(i)] = i;
    other[static_cast<std::size_t>(i)] = 7 * i;
    expected[static_cast<std::size_t>(i)] = 8 * i;
  }
  auto* target = reinterpret_cast<std::byte*>(own.data());
  const auto* source = reinterpret_cast<const std::byte*>(other.data());
  for (std::uint32_t thread = 0; thread < 3; ++thread)
    move<std::int32_t, Combine::sum>({target, source, target, nullptr, 4000}, thread, 3);
  CHECK(own == expected);
}

TEST_CASE("four bytes at once combine as each by itself, whatever is beside it") {
  std::uint64_t wrong = 0;
  for (std::uint32_t a = 0; a < 256; ++a)
    for (std::uint32_t b = 0; b < 256; ++b)
      for (std::uint32_t lane = 0; lane < 4; ++lane)
        for (const std::uint32_t beside : {0x00000000U, 0xffffffffU, 0x7f80017fU}) {
          const std::uint32_t shift = 8 * lane, mask = 0xffU << shift;
          const std::uint32_t left = (beside & ~mask) | (a << shift);
          const std::uint32_t right = (~beside & ~mask) | (b << shift);
          const auto lane_of = [&](std::uint32_t word) { return (word & mask) >> shift; };
          if (lane_of(combined_bytes<Combine::max>(left, right)) != std::max(a, b)) ++wrong;
          if (lane_of(combined_bytes<Combine::sum>(left, right)) != (a + b) % 256) ++wrong;
        }
  CHECK(wrong == 0);
}

TEST_CASE("int32 sums wrap around") {
  CHECK(combined<std::int32_t, Combine::sum>(INT32_MAX, 1) == INT32_MIN);
}

TEST_CASE("a message takes its links hop by hop where their ends store") {
  TwoLinks links(true, false);
  const Crossing first = links.send(1000, 100); // 200 on the first, there 10 later; 100; 20 later
  CHECK(is_about(first.taken, 1200));
  CHECK(is_about(first.due, 1000 + 200 + 10 + 100 + 20));
  const Crossing second = links.send(1050, 100); // behind the first: from 1200
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

TEST_CASE("a plan's traffic is what its steps load and store, each place once") {
  const Topology topology = make_topology("ring:4");
  std::uint32_t run = 0;
  for (const AlgorithmRow& row : baseline_algorithms())
    for (const CollectiveKind kind : named_collectives()) {
      if (std::ranges::find(row.collectives, kind) == row.collectives.end()) continue;
      const Collective collective = make_collective(
          topology, {kind, Bytes{1 << 12}, {}, has_root(kind) ? 1U : 0U, row.chunk_multiple});
      const Outcome outcome = synthesize(row, topology, collective, {});
      if (!outcome.schedule) continue;
      const Program program = lower(topology, collective, *outcome.schedule);
      PlanOptions options;
      options.slots = 1 + run % 3;
      const Plan plan = make_plan(program, 20, options);
      const HostMemory memory(program, plan, ElementType::int32);
      std::set<const std::byte*> loaded, stored;
      for (const PlannedBlock& block : plan.blocks)
        for (std::uint32_t i = 0; i < block.steps; ++i) {
          const PlannedStep& step = plan.steps[block.first_step + i];
          std::byte* there =
              sends(step.kind) ? memory.arena(plan.connections[block.sends].to) : nullptr;
          move<std::int32_t, Combine::sum>(step_operands(step, memory.arena(block.rank), there), 0,
                                           1, RecordingMemory{loaded, stored});
        }
      INFO(row.name << " for " << collective.name());
      CHECK(traffic_of(plan).memory == loaded.size() + stored.size());
      ++run;
    }
  CHECK(run >= 20);
}

TEST_CASE("senders that share a source have the memory read it once") {
  const Topology topology = make_topology("fully_connected:8");
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_gather, Bytes{1 << 12}, {}, 0, 1});
  const auto row = std::ranges::find(baseline_algorithms(), "direct", &AlgorithmRow::name);
  const Plan plan = make_plan(
      lower(topology, collective, *synthesize(*row, topology, collective, {}).schedule), 64);
  const PlanTraffic traffic = traffic_of(plan);
  CHECK(traffic.sent == 8 * 7 * 64);
  CHECK(traffic.memory == 8 * 64 + 8 * 8 * 64);
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
          check_output(expected, rank, ElementType::int32, Combine::sum, output);
      CHECK(check.wrong == 0);
      CHECK(check.checked == elements);
    }
  }
}

} // namespace cuda_parts_test
