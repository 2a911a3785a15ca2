// Random schedules with partial sums, redundant copies, ways of several hops, transfers together
// and a hub that stores and copies.

#include "runtime/checking/verify_program.hpp"
#include "runtime/lowering/lowering.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/random_run.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace lowering_random_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

constexpr std::uint32_t npus = 4, nodes = 5; // the last one is the hub

Topology network() {
  TopologyParts parts = tutti::samples::npus("random", npus);
  parts.add_node({"hub", NodeKind::memory, {true, true, false}, {}});
  for (std::uint32_t a = 0; a < nodes; ++a)
    for (std::uint32_t b = a + 1; b < nodes; ++b) parts.add_duplex(tutti::samples::link(a, b));
  return Topology(std::move(parts));
}

/// Makes a schedule by chance; what is complete somewhere in the end may be wanted there.
class RandomSchedule {
public:
  RandomSchedule(const Topology& topology, std::uint64_t seed)
      : topology_(topology), random_(seed), schedule(topology.link_count()) {
    for (std::uint32_t c = 0; c < 3; ++c) add_chunk();
    for (int block = 0; block < 14; ++block) add_block();
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
      std::vector<NodeId> wanted;
      for (std::uint32_t n = 0; n < npus; ++n)
        if (held_[c][n] == all_[c] && random_.below(4) != 0) wanted.push_back(NodeId{n});
      collective.chunks[c].destinations = static_cast<SetId>(collective.sets.size());
      collective.sets.push_back(wanted);
    }
    std::vector<NodeId> group;
    for (std::uint32_t n = 0; n < npus; ++n) group.push_back(NodeId{n});
    collective.parts = {{CollectiveKind::custom, Bytes{64 * 3}, group, 0, 1, ChunkId{0}, 3}};
  }

private:
  using Holdings = std::array<std::uint32_t, nodes>; // contributions as bits

  void add_chunk() {
    const bool reduces = random_.below(2) == 0;
    Holdings held{};
    std::vector<NodeId> holders;
    for (std::uint32_t n = 0; n < npus; ++n)
      if (random_.below(2) == 0 || (n == npus - 1 && holders.empty())) {
        holders.push_back(NodeId{n});
        held[n] = reduces ? 1U << n : 1U;
      }
    std::uint32_t all = 0;
    for (const std::uint32_t bits : held) all |= bits;
    collective.chunks.push_back(
        {Bytes{64}, static_cast<SetId>(collective.sets.size()), 0, reduces});
    collective.sets.push_back(holders);
    held_.push_back(held);
    all_.push_back(all);
  }

  void add_block() {
    const std::vector<Holdings> before = held_;
    const std::uint64_t transfers = random_.below(3) == 0 ? 5 : 1;
    bool together = false;
    for (std::uint64_t i = 0; i < transfers; ++i) {
      const auto chunk = static_cast<std::uint32_t>(random_.below(held_.size()));
      const auto from = static_cast<std::uint32_t>(random_.below(nodes));
      const auto to = static_cast<std::uint32_t>(random_.below(nodes));
      const std::uint32_t brings = before[chunk][from];
      std::uint32_t& there = held_[chunk][to];
      if (from == to || brings == 0) continue;
      const bool adds = (there & brings) == 0 && (to < npus || there == 0);
      const bool replaces = (there & ~brings) == 0;
      if (!adds && !replaces) continue;
      const bool reduce = adds && (!replaces || random_.below(2) == 0);
      there = reduce ? there | brings : brings;
      schedule.push({ChunkId{chunk}, way(from, to), reduce ? Op::reduce : Op::copy, together});
      together = true;
    }
  }

  PathId way(std::uint32_t from, std::uint32_t to) {
    const auto by = static_cast<std::uint32_t>(random_.below(nodes));
    if (by == from || by == to) return PathId{link(from, to).value};
    return schedule.paths().intern(std::array{link(from, by), link(by, to)});
  }

  [[nodiscard]] LinkId link(std::uint32_t from, std::uint32_t to) const {
    const auto out = topology_.out_links(NodeId{from});
    return *std::ranges::find(out, NodeId{to}, [&](LinkId l) { return topology_.link(l).to; });
  }

  const Topology& topology_;
  Random random_;
  std::vector<Holdings> held_;
  std::vector<std::uint32_t> all_;

public:
  Collective collective;
  Schedule schedule;
};

} // namespace

TEST_CASE("random schedules lower to correct programs, whatever the options") {
  const Topology topology = network();
  std::size_t correct = 0, fused = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const RandomSchedule random(topology, seed);
    REQUIRE(verify(topology, random.collective, random.schedule).correct());
    for (std::uint32_t bits = 0; bits < 16; ++bits) {
      const LoweringOptions options{"random", 1 + (bits & 1U),  (bits & 2U) != 0 ? 1U : 32U,
                                    false,    (bits & 4U) != 0, (bits & 8U) != 0};
      INFO("seed " << seed << ", options " << bits);
      try {
        const Program program = lower(topology, random.collective, random.schedule, options);
        const ProgramVerdict verdict = verify_program(program);
        INFO((verdict.fault ? verdict.fault->text : ""));
        REQUIRE(verdict.correct());
        REQUIRE(RandomRun(program, seed, 1).run() == RunEnd::right);
        ++correct;
        for (const RankProgram& rank : program.ranks)
          for (const Block& block : rank.blocks)
            for (const Step& step : block.steps)
              fused += receives(step.kind) && sends(step.kind) ? 1 : 0;
      } catch (const InputError&) { // the hub passes on what has changed meanwhile
        ++refused;
      }
    }
  }
  CHECK(correct > 4 * refused);
  CHECK(fused > 500);
}

namespace {

struct Repeated {
  Collective collective;
  Schedule schedule;
};

/// Each chunk as several adjacent ones, all of which the schedule treats alike; `joins()` says
/// whether one shares its send with the one before.
template <typename Joins>
Repeated repeated(const Topology& topology, const RandomSchedule& random, std::uint32_t times,
                  const Joins& joins) {
  Repeated made{random.collective, Schedule(topology.link_count())};
  made.collective.chunks.clear();
  for (const Chunk& chunk : random.collective.chunks)
    made.collective.chunks.insert(made.collective.chunks.end(), times, chunk);
  CollectivePart& part = made.collective.parts.front();
  part.chunk_count *= times;
  part.size.count *= times;
  made.schedule.paths() = random.schedule.paths();
  for (std::size_t begin = 0, end = 0; begin < random.schedule.size(); begin = end) {
    for (end = begin + 1; end < random.schedule.size() && random.schedule[end].together;) ++end;
    for (std::uint32_t copy = 0; copy < times; ++copy)
      for (std::size_t t = begin; t < end; ++t) {
        Transfer transfer = random.schedule[t];
        transfer.chunk.value = transfer.chunk.value * times + copy;
        transfer.contiguous = end == begin + 1 && copy > 0 && joins();
        made.schedule.push(transfer);
      }
  }
  return made;
}

} // namespace

TEST_CASE("chunks that are treated alike may move together, in any number") {
  const Topology topology = network();
  std::size_t fewer = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RandomSchedule random(topology, seed);
    const Repeated made = repeated(topology, random, 5, [] { return false; });
    REQUIRE(verify(topology, made.collective, made.schedule).correct());
    std::vector<std::size_t> steps;
    for (const std::uint32_t together : {1U, 2U, 4U, 5U, 0U}) {
      INFO("seed " << seed << ", " << together << " together");
      LoweringOptions options;
      options.rolled_chunks = together;
      try {
        const Program program = lower(topology, made.collective, made.schedule, options);
        const ProgramVerdict verdict = verify_program(program);
        INFO((verdict.fault ? verdict.fault->text : ""));
        REQUIRE(verdict.correct());
        REQUIRE(RandomRun(program, seed, 1).run() == RunEnd::right);
        steps.push_back(program.step_count());
      } catch (const InputError&) { // the hub passes on what has changed meanwhile
      }
    }
    CHECK(std::ranges::is_sorted(steps, std::greater()));
    if (steps.size() < 5) continue;
    CHECK(steps.back() == steps[3]); // all five
    if (steps.back() < steps.front()) ++fewer;
  }
  CHECK(fewer > 50);
}

TEST_CASE("what shares a send moves in one step, where it lies side by side") {
  const Topology topology = network();
  std::size_t fewer = 0, larger = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomSchedule random(topology, seed);
    Random joins(seed);
    const Repeated made = repeated(topology, random, 4, [&] { return joins.below(3) != 0; });
    const Repeated apart = repeated(topology, random, 4, [] { return false; });
    const Verdict correct = verify(topology, made.collective, made.schedule);
    INFO((correct.fault ? correct.fault->text : ""));
    REQUIRE(correct.correct());
    for (std::uint32_t bits = 0; bits < 16; ++bits) {
      LoweringOptions options;
      options.instances = 1 + (bits & 1U);
      options.most_channels = (bits & 2U) != 0 ? 1 : 32;
      options.share_blocks = (bits & 4U) != 0;
      options.rolled_chunks = (bits & 8U) != 0 ? 2 : 1;
      INFO("seed " << seed << ", options " << bits);
      try {
        const Program program = lower(topology, made.collective, made.schedule, options);
        const ProgramVerdict verdict = verify_program(program);
        INFO((verdict.fault ? verdict.fault->text : ""));
        REQUIRE(verdict.correct());
        REQUIRE(RandomRun(program, seed, 1).run() == RunEnd::right);
        if (bits != 0) continue;
        options.fuse = false;
        const Program alone = lower(topology, made.collective, apart.schedule, options);
        CHECK(program.step_count() <= alone.step_count());
        fewer += program.step_count() < alone.step_count() ? 1 : 0;
        for (const RankProgram& rank : program.ranks)
          for (const Block& block : rank.blocks)
            for (const Step& step : block.steps)
              larger += step.kind == StepKind::receive_reduce_copy && step.count > 1 ? 1 : 0;
      } catch (const InputError&) { // the hub passes on what has changed meanwhile
      }
    }
  }
  CHECK(fewer > 100);
  CHECK(larger > 20);
}

} // namespace lowering_random_test
