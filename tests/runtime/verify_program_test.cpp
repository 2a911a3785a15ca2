// What verify_program must object to: programs made by hand are right, and each change to them is
// the fault that it should be.

#include "runtime/checking/verify_program.hpp"

#include "algorithms/list.hpp"
#include "runtime/lowering/lowering.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/random_run.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace verify_program_test {

using namespace tutti;
using namespace tutti::runtime;
using Kind = ProgramFault::Kind;

namespace {

constexpr Place input(std::uint32_t unit) { return {Buffer::input, unit}; }
constexpr Place output(std::uint32_t unit) { return {Buffer::output, unit}; }
constexpr Place scratch(std::uint32_t unit) { return {Buffer::scratch, unit}; }

Step send(Place source, std::optional<StepAt> after = {}) {
  return {StepKind::send, source, {}, 1, after};
}
Step receive(Place target, std::optional<StepAt> after = {}) {
  return {StepKind::receive, {}, target, 1, after};
}
Step add(Place source, Place target, std::optional<StepAt> after = {}) {
  return {StepKind::receive_reduce_copy, source, target, 1, after};
}

Program program_of(std::uint32_t ranks, CollectiveSpec spec, bool in_place = false) {
  const Topology topology = tutti::samples::full(ranks);
  return empty_program(make_collective(topology, spec), ranks, 1, in_place);
}

/// Two ranks, `pieces` times two units: each sends all, then adds what it gets.
Program exchange(std::uint32_t chunks_per_shard, bool in_place = false) {
  Program program =
      program_of(2, {CollectiveKind::all_reduce, Bytes{64}, {}, 0, chunks_per_shard}, in_place);
  for (std::uint32_t r = 0; r < 2; ++r) {
    Block block{1 - r, 1 - r, 0, {}};
    for (std::uint32_t u = 0; u < 2 * chunks_per_shard; ++u) block.steps.push_back(send(input(u)));
    for (std::uint32_t u = 0; u < 2 * chunks_per_shard; ++u)
      block.steps.push_back(add(input(u), output(u)));
    program.ranks[r].blocks = {block};
  }
  return program;
}

/// Broadcast of two units along 0 -> 1 -> 2; rank 1 receives and sends in different blocks.
Program chain() {
  Program program = program_of(3, {CollectiveKind::broadcast, Bytes{64}, {}, 0, 2});
  program.ranks[0].blocks = {{1, {}, 0, {send(input(0)), send(input(1))}},
                             {{}, {}, 0, {{StepKind::copy, input(0), output(0), 2, std::nullopt}}}};
  program.ranks[1].blocks = {
      {{}, 0, 0, {receive(output(0)), receive(output(1))}},
      {2, {}, 0, {send(output(0), StepAt{0, 0}), send(output(1), StepAt{0, 1})}}};
  program.ranks[2].blocks = {{{}, 1, 0, {receive(output(0)), receive(output(1))}}};
  return program;
}

/// Correct programs are "correct".
std::string fault_of(const Program& program, std::uint32_t slots = 1) {
  const ProgramVerdict verdict = verify_program(program, slots);
  return verdict.fault ? verdict.fault->text : "correct";
}

std::optional<Kind> kind_of(const Program& program, std::uint32_t slots = 1) {
  const ProgramVerdict verdict = verify_program(program, slots);
  if (!verdict.fault) return std::nullopt;
  return verdict.fault->kind;
}

} // namespace

TEST_CASE("hand-made programs are correct") {
  CHECK(fault_of(chain()) == "correct");
  CHECK(verify_program(chain()).steps == 9);
  CHECK(fault_of(exchange(1), 2) == "correct");
}

TEST_CASE("slots decide whether sends before receives hang") {
  CHECK(kind_of(exchange(1), 1) == Kind::deadlock);
  CHECK(fault_of(exchange(1), 1) ==
        "rank 0, block 0, step 1 (s) waits for rank 1, block 0, step 1 (s) waits for "
        "rank 0, block 0, step 1 (s)");
  CHECK(fault_of(exchange(2), 4) == "correct");
  CHECK(kind_of(exchange(2), 3) == Kind::deadlock);
  CHECK(fault_of(exchange(2), 0) == "correct");
}

TEST_CASE("a cycle of dependencies is a deadlock that names its steps") {
  Program program = chain();
  program.ranks[1].blocks[0].steps[0].after = StepAt{1, 1};
  CHECK(fault_of(program) == "rank 1, block 0, step 0 (r) waits for rank 1, block 1, step 0 (s) "
                             "waits for rank 1, block 0, step 0 (r)");
  CHECK(kind_of(program, 0) == Kind::deadlock);
}

TEST_CASE("every dependency that is left out is a race") {
  for (const std::size_t step : {0U, 1U}) {
    Program program = chain();
    program.ranks[1].blocks[1].steps[step].after.reset();
    CHECK(kind_of(program) == Kind::race);
  }
  Program program = chain();
  program.ranks[1].blocks[1].steps[0].after = StepAt{0, 1};
  program.ranks[1].blocks[1].steps[1].after.reset();
  CHECK(fault_of(program) == "correct");
  program.ranks[1].blocks[1].steps[0].after.reset();
  CHECK(fault_of(program) ==
        "rank 1, block 1, step 0 (s) reads output 0, which rank 1, block 0, step 0 (r) writes, and "
        "nothing orders them");
}

TEST_CASE("messages order what different blocks do") {
  // Rank 1 adds to what it gets and sends the sum back: over what rank 0 sent, in place.
  Program program = program_of(2, {CollectiveKind::all_reduce, Bytes{64}, {}, 0, 1}, true);
  for (const std::uint32_t unit : {0U, 1U}) {
    program.ranks[0].blocks.push_back({1, {}, unit, {send(input(unit))}});
    program.ranks[0].blocks.push_back({{}, 1, unit, {receive(output(unit))}});
    program.ranks[1].blocks.push_back(
        {0, 0, unit, {add(input(unit), output(unit)), send(output(unit))}});
  }
  CHECK(fault_of(program) == "correct");
  // An exchange instead: rank 1 sends its own before it receives.
  program.ranks[0].blocks[1].steps = {add(input(0), output(0))};
  program.ranks[1].blocks[0].steps = {send(input(0)), add(input(0), output(0))};
  CHECK(kind_of(program) == Kind::race);
  program.ranks[0].blocks[1].steps[0].after = StepAt{0, 0};
  CHECK(fault_of(program) == "correct");
}

TEST_CASE("sends and receives must match") {
  Program program = chain();
  program.ranks[0].blocks[0].steps.pop_back();
  CHECK(kind_of(program) == Kind::unmatched);
  CHECK(fault_of(program) == "rank 1, block 0, step 1 (r): what it receives is never sent");
  program = chain();
  program.ranks[2].blocks.clear();
  CHECK(fault_of(program) == "rank 1, block 1, step 0 (s): what it sends is never received");
  program = chain();
  program.ranks[2].blocks[0].channel = 1;
  CHECK(kind_of(program) == Kind::unmatched);
  program = chain();
  program.ranks[2].blocks[0].steps = {{StepKind::receive, {}, output(0), 2, std::nullopt},
                                      receive(output(1))};
  CHECK(kind_of(program) == Kind::mismatched);
  CHECK(fault_of(program) ==
        "rank 1, block 1, step 0 (s) sends 1 units, rank 2, block 0, step 0 (r) receives 2");
}

TEST_CASE("wrong units and wrong order give wrong results") {
  Program program = chain();
  std::swap(program.ranks[2].blocks[0].steps[0], program.ranks[2].blocks[0].steps[1]);
  CHECK(kind_of(program) == Kind::wrong_result);
  CHECK(fault_of(program) == "rank 2: output 0 (chunk 0) holds unit 0 of chunk 1");
  program = chain();
  program.ranks[0].blocks[0].steps[1].source = input(0);
  CHECK(kind_of(program) == Kind::wrong_result);
  program = chain();
  program.ranks[2].blocks[0].steps[1].target = output(0);
  CHECK(fault_of(program) == "rank 2: output 0 (chunk 0) holds unit 0 of chunk 1");
  program = chain();
  program.ranks[0].blocks.pop_back();
  CHECK(fault_of(program) == "rank 0: output 0 (chunk 0) holds nothing");
  program = exchange(1);
  program.ranks[0].blocks[0].steps[2] = receive(output(0));
  CHECK(fault_of(program, 2) == "rank 0: output 0 (chunk 0) lacks the contribution of rank 0");
  program = exchange(1);
  program.ranks[0].blocks[0].steps[2] = add(input(1), output(0));
  CHECK(fault_of(program, 2) == "rank 0: output 0 (chunk 0) holds a sum of different chunks");
}

TEST_CASE("reads of nothing, writes to the input and double counts are found") {
  Program program = chain();
  program.ranks[1].scratch = 1;
  program.ranks[1].blocks[1].steps[1].source = scratch(0);
  CHECK(kind_of(program) == Kind::unset);
  CHECK(fault_of(program) == "rank 1, block 1, step 1 (s): reads scratch 0, which holds nothing");

  program = exchange(1);
  program.ranks[1].blocks[0].steps[3].target = input(1);
  CHECK(kind_of(program, 2) == Kind::overwritten_input);

  program = exchange(1);
  for (std::uint32_t r = 0; r < 2; ++r)
    for (const Step& step : {send(output(0)), add(output(0), output(0))})
      program.ranks[r].blocks[0].steps.push_back(step);
  CHECK(kind_of(program, 2) == Kind::twice);
  CHECK(fault_of(program, 2) == "rank 0, block 0, step 5 (rrc): adds the contribution of rank 0 to "
                                "chunk 0 twice");
}

TEST_CASE("malformed programs are told in words") {
  const auto fault = [](const auto& change) {
    Program program = chain();
    change(program);
    CHECK(kind_of(program) == Kind::malformed);
    return fault_of(program);
  };
  CHECK(fault([](Program& p) { p.ranks[1].blocks[0].steps[1].target = output(2); }) ==
        "rank 1, block 0, step 1 (r): output 2 to 2 is outside the buffer of 2 units");
  CHECK(fault([](Program& p) { p.ranks[1].blocks[1].sends_to = 3; }) ==
        "rank 1, block 1: there is no peer 3");
  CHECK(fault([](Program& p) { p.ranks[1].blocks[1].sends_to = 1; }) ==
        "rank 1, block 1: there is no peer 1");
  CHECK(fault([](Program& p) { p.ranks[0].blocks[1].sends_to = 1; }) ==
        "rank 0: blocks 0 and 1 both send to rank 1 on channel 0");
  CHECK(fault([](Program& p) {
          p.ranks[2].blocks.push_back({{}, 1, 0, {}});
        }) == "rank 2: blocks 0 and 1 both receive from rank 1 on channel 0");
  CHECK(fault([](Program& p) {
          p.ranks[2].blocks[0].steps[0].kind = StepKind::receive_copy_send;
        }) == "rank 2, block 0, step 0 (rcs): its block sends to nobody");
  CHECK(fault([](Program& p) { p.ranks[0].blocks[0].steps[0] = receive(output(0)); }) ==
        "rank 0, block 0, step 0 (r): its block receives from nobody");
  CHECK(fault([](Program& p) { p.ranks[0].blocks[0].steps[0].count = 0; }) ==
        "rank 0, block 0, step 0 (s): it moves no units");
  CHECK(fault([](Program& p) {
          p.ranks[1].blocks[1].steps[0].after = StepAt{0, 2};
        }) ==
        "rank 1, block 1, step 0 (s): it waits for step 2 of block 0, which isn't one of another "
        "block");
  CHECK(fault([](Program& p) {
          p.ranks[1].blocks[1].steps[1].after = StepAt{1, 0};
        }) ==
        "rank 1, block 1, step 1 (s): it waits for step 0 of block 1, which isn't one of another "
        "block");
  CHECK(fault([](Program& p) { p.inputs[0].pop_back(); }) ==
        "rank 0: its input isn't what it holds, by chunk");
  CHECK(fault([](Program& p) { p.ranks[2].output = 3; }) ==
        "rank 2: its output isn't what it wants, by chunk");
  CHECK(fault([](Program& p) { p.chunk_units.pop_back(); }) ==
        "units are given for 1 chunks, the collective has 2");
  CHECK(fault([](Program& p) {
          p.ranks[1].scratch = 3;
          p.ranks[1].blocks[1].steps.push_back(
              {StepKind::copy, scratch(0), scratch(1), 2, std::nullopt});
        }) == "rank 1, block 1, step 2 (cpy): its source and target overlap, shifted");
}

namespace {

Step& any_step(Program& program, Random& random) {
  while (true) {
    RankProgram& rank = program.ranks[random.below(program.ranks.size())];
    if (rank.blocks.empty()) continue;
    Block& block = rank.blocks[random.below(rank.blocks.size())];
    if (!block.steps.empty()) return block.steps[random.below(block.steps.size())];
  }
}

void swap_neighbours(Program& program, Random& random) {
  RankProgram& rank = program.ranks[random.below(program.ranks.size())];
  if (rank.blocks.empty()) return;
  std::vector<Step>& steps = rank.blocks[random.below(rank.blocks.size())].steps;
  if (steps.size() < 2) return;
  const std::size_t first = random.below(steps.size() - 1);
  std::swap(steps[first], steps[first + 1]);
}

/// A small change that leaves most programs well-formed.
void spoil(Program& program, Random& random) {
  Step& step = any_step(program, random);
  switch (random.below(7)) {
  case 0: step.after.reset(); break;
  case 1: swap_neighbours(program, random); break;
  case 2: step.target.unit ^= 1; break;
  case 3: step.source.unit ^= 1; break;
  case 4:
    if (step.kind == StepKind::receive_reduce_copy) step.kind = StepKind::receive;
    if (step.kind == StepKind::receive_reduce_send) step.kind = StepKind::receive_reduce_copy_send;
    break;
  case 5: step.source.buffer = Buffer::output; break;
  default:
    step.after = StepAt{static_cast<std::uint32_t>(random.below(3)),
                        static_cast<std::uint32_t>(random.below(8))};
  }
}

std::vector<Program> small_programs() {
  std::vector<Program> programs;
  for (const char* text : {"ring:3", "mesh2d:2x2", "ring:4,directions=1"})
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                      CollectiveKind::broadcast, CollectiveKind::all_to_all})
      for (const AlgorithmRow& row : baseline_algorithms()) {
        if (row.name != "ring" && row.name != "direct" && row.name != "multitree") continue;
        const Topology topology = make_topology(text);
        const Collective collective = make_collective(topology, {kind, Bytes{4096}, {}, 0, 2});
        const Outcome outcome = synthesize(row, topology, collective, {});
        if (!outcome.schedule) continue;
        for (const bool share : {false, true})
          programs.push_back(
              lower(topology, collective, *outcome.schedule,
                    {"x", 1, 32, can_be_in_place(collective) && !share, true, share}));
      }
  return programs;
}

} // namespace

TEST_CASE("runs in random order agree with the verdict", "[heavy]") {
  Random random(7);
  std::map<std::optional<Kind>, int> verdicts;
  int races_seen = 0;
  for (const Program& good : small_programs())
    for (int variant = 0; variant < 40; ++variant) {
      Program program = good;
      for (int change = 0; change < variant % 3; ++change) spoil(program, random);
      const std::uint32_t slots = 1 + static_cast<std::uint32_t>(random.below(2));
      const std::optional<Kind> kind = kind_of(program, slots);
      ++verdicts[kind];
      if (kind &&
          (*kind == Kind::malformed || *kind == Kind::unmatched || *kind == Kind::mismatched))
        continue;
      bool wrong = false;
      for (int run = 0; run < 6; ++run) {
        const RunEnd end = RandomRun(program, random.next(), slots).run();
        INFO(fault_of(program, slots));
        REQUIRE((end == RunEnd::hung) == (kind == Kind::deadlock));
        if (!kind) REQUIRE(end == RunEnd::right);
        if (kind == Kind::wrong_result) REQUIRE(end == RunEnd::wrong);
        wrong = wrong || end == RunEnd::wrong;
      }
      if (kind == Kind::race && wrong) ++races_seen;
    }
  for (const std::optional<Kind> kind :
       {std::optional<Kind>{}, std::optional{Kind::deadlock}, std::optional{Kind::race},
        std::optional{Kind::wrong_result}, std::optional{Kind::unset}})
    CHECK(verdicts[kind] >= 3);
  CHECK(races_seen > verdicts[Kind::race] / 10);
}

} // namespace verify_program_test
