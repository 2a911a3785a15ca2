// What is written reads back the same, and what MSCCL's runtimes can't run is refused with advice.

#include "runtime/checking/verify_program.hpp"
#include "runtime/formats/msccl/form.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/msccl_samples.hpp"
#include "tests/runtime/random_program.hpp"
#include "topologies/list.hpp"

#include <array>

namespace msccl_writer_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

constexpr Place in{Buffer::input, 0}, out{Buffer::output, 0}, aside{Buffer::scratch, 0};

Collective over(std::uint32_t ranks, CollectiveKind kind, std::uint32_t chunks_per_shard,
                std::uint32_t root = 0) {
  return make_collective(make_topology("ring:" + std::to_string(ranks)),
                         {kind, Bytes{1 << 20}, {}, root, chunks_per_shard});
}

/// Rank 0 sends all of its buffer to rank 1 in one step.
Program one_message(std::uint32_t units) {
  Program program = empty_program(over(2, CollectiveKind::broadcast, units), 2, 1, false);
  program.name = "one";
  program.ranks[0].blocks = {{1, {}, 0, {{StepKind::send, in, {}, units, {}}}},
                             {{}, {}, 0, {{StepKind::copy, in, out, units, {}}}}};
  program.ranks[1].blocks = {{{}, 0, 0, {{StepKind::receive, {}, out, units, {}}}}};
  return program;
}

std::string refusal(const Program& program, const MscclOptions& options = {}) {
  return message_of([&] { static_cast<void>(msccl_xml(program, options)); });
}

} // namespace

TEST_CASE("a program is written with all that executors ask for") {
  CHECK(msccl_xml(one_message(2), {"LL128", 0, 1024, {}}) ==
        msccl_samples::expanded(
            R"(<algo name="one" proto="LL128" TWO coll="broadcast" inplace="0" WINDOW>
  <gpu id="0" i_chunks="2" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="-1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="-1" cnt="2" ALONE />
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="2" ALONE />
    </tb>
  </gpu>
  <gpu id="1" i_chunks="0" o_chunks="2" s_chunks="0">
    <tb id="0" send="-1" recv="0" chan="0">
      <step s="0" type="r" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="0" cnt="2" ALONE />
    </tb>
  </gpu>
</algo>
)"));
}

TEST_CASE("what is written is read back as it was") {
  const std::array kinds{CollectiveKind::all_gather, CollectiveKind::all_to_all,
                         CollectiveKind::broadcast, CollectiveKind::all_reduce,
                         CollectiveKind::reduce_scatter};
  for (const CollectiveKind kind : kinds)
    for (std::uint32_t seed = 0; seed < 30; ++seed) {
      INFO(to_text(kind) << " " << seed);
      const std::uint32_t ranks = 2 + seed % 4;
      const Program program =
          random_program(over(ranks, kind, 1 + seed % 3, seed % ranks), ranks, 1 + seed % 2, seed);
      MscclOptions options;
      options.max_bytes = 1000 + seed;
      const MscclFile file =
          read_msccl(msccl_xml(program, options), "f", program.collective.size());
      CHECK(file.warnings.empty());
      CHECK(file.max_bytes == 1000 + seed);
      CHECK(file.program.name == program.name);
      CHECK(file.program.ranks == program.ranks);
      const CollectivePart& part = file.program.collective.parts.front();
      CHECK(part.kind == kind);
      CHECK(part.size == program.collective.size());
      if (has_root(kind)) CHECK(part.root == seed % ranks);
      CHECK(part.chunks_per_shard == (1 + seed % 3) * (1 + seed % 2));
      CHECK(msccl_xml(file.program, options) == msccl_xml(program, options));
    }
}

TEST_CASE("gather and scatter count a shard in a loop, as their calls do") {
  Program gather = empty_program(over(2, CollectiveKind::gather, 2, 1), 2, 1, false);
  gather.ranks[0].blocks = {{1, {}, 0, {{StepKind::send, in, {}, 2, {}}}}};
  gather.ranks[1].blocks = {
      {{},
       0,
       0,
       {{StepKind::receive, {}, out, 2, {}}, {StepKind::copy, in, {Buffer::output, 2}, 2, {}}}}};
  const std::string text = msccl_xml(gather);
  CHECK_THAT(text, ContainsSubstring("nchunksperloop=\"2\""));
  const MscclFile file = read_msccl(text, "f", Bytes{1 << 20});
  CHECK(file.program.collective.parts.front().root == 1);
  CHECK(file.program.ranks == gather.ranks);
}

TEST_CASE("waits are where runtimes see them") {
  Program program = one_message(1);
  RankProgram& rank = program.ranks[0];
  rank.scratch = 2;
  const Place other{Buffer::scratch, 1};
  rank.blocks = {
      {{}, {}, 0, {{StepKind::copy, in, aside, 1, {}}, {StepKind::wait, {}, {}, 0, StepAt{1, 0}}}},
      {{}, {}, 0, {{StepKind::copy, in, other, 1, {}}}},
      // Waits for a wait (so for what it waits for, and the step before it), and doesn't itself.
      {1, {}, 0, {{StepKind::wait, {}, {}, 0, StepAt{0, 1}}, {StepKind::send, in, {}, 1, {}}}},
      {{}, {}, 0, {{StepKind::copy, in, out, 1, StepAt{2, 1}}}},
  };
  REQUIRE(verify_program(program).correct());
  const std::vector<Block> blocks = msccl_form(program, 71).ranks[0].blocks;
  CHECK(blocks[0].steps.size() == 1); // a wait at the end holds nobody up
  CHECK(blocks[2].steps == std::vector<Step>{{StepKind::wait, {}, {}, 0, StepAt{0, 0}},
                                             {StepKind::send, in, {}, 1, StepAt{1, 0}}});
  CHECK(blocks[3].steps.front().after == StepAt{2, 1});
  const MscclFile file = read_msccl(msccl_xml(program), "f", Bytes{1 << 20});
  CHECK(file.warnings.empty());
  CHECK(file.program.ranks[0].blocks == blocks);
}

TEST_CASE("long steps are cut at both ends alike") {
  const Program form = msccl_form(one_message(200), 71);
  const auto counts = [](const Block& block) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> made;
    for (const Step& step : block.steps)
      made.emplace_back(reads_source(step.kind) ? step.source.unit : step.target.unit, step.count);
    return made;
  };
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted{{0, 71}, {71, 71}, {142, 58}};
  CHECK(counts(form.ranks[0].blocks[0]) == wanted);
  CHECK(counts(form.ranks[1].blocks[0]) == wanted);
  CHECK(verify_program(form).correct());
  CHECK(read_msccl(msccl_xml(one_message(200)), "f", Bytes{1 << 20}).program.ranks == form.ranks);

  // Who waits for a step waits for all its parts.
  Program waits = one_message(200);
  waits.ranks[0].blocks[1].steps[0].after = StepAt{0, 0};
  CHECK(msccl_form(waits, 71).ranks[0].blocks[1].steps[0].after == StepAt{0, 2});
}

TEST_CASE("parts that would wait for each other are refused") {
  Program exchange = empty_program(over(2, CollectiveKind::all_gather, 200), 2, 1, false);
  for (std::uint32_t r = 0; r < 2; ++r) {
    const Place own{Buffer::output, 200 * r}, others{Buffer::output, 200 * (1 - r)};
    exchange.ranks[r].blocks = {
        {1 - r,
         1 - r,
         0,
         {{StepKind::send, in, {}, 200, {}}, {StepKind::receive, {}, others, 200, {}}}},
        {{}, {}, 0, {{StepKind::copy, in, own, 200, {}}}}};
  }
  REQUIRE(verify_program(exchange).correct());
  CHECK_THAT(refusal(exchange), ContainsSubstring("with steps of the size that MSCCL's runtimes"));
}

TEST_CASE("reductions that runtimes would join keep their counts") {
  Program sum = empty_program(over(2, CollectiveKind::all_reduce, 1), 2, 1, true);
  sum.ranks[0].scratch = sum.ranks[1].scratch = 2;
  for (std::uint32_t r = 0; r < 2; ++r)
    sum.ranks[r].blocks = {{1 - r,
                            1 - r,
                            0,
                            {{StepKind::send, in, {}, 2, {}},
                             {StepKind::receive, {}, aside, 2, {}},
                             {StepKind::reduce, aside, out, 2, {}}}}};
  REQUIRE(verify_program(sum).correct());
  const auto announced = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("hasdep=\"1\"", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  CHECK(announced(msccl_xml(sum)) == 0);
  for (std::uint32_t r = 0; r < 2; ++r) { // the same, in two steps of which the first has more
    std::vector<Step>& steps = sum.ranks[r].blocks[0].steps;
    steps.push_back(steps.back());
    steps.back().count = 1;
  }
  CHECK(announced(msccl_xml(sum)) == 2);
}

TEST_CASE("what MSCCL can't run is refused, with what would help") {
  const Topology four = make_topology("ring:4");
  const std::array both{make_collective(four, {}), make_collective(four, {})};
  CHECK_THAT(refusal(empty_program(merge(both), 4, 1, false)),
             ContainsSubstring("MSCCL runs one collective at a time"));
  CollectiveSpec some;
  some.group = {NodeId{0}, NodeId{2}};
  CHECK_THAT(refusal(empty_program(make_collective(four, some), 4, 1, false)),
             ContainsSubstring("over all ranks in their order"));
  some.group = {NodeId{1}, NodeId{0}, NodeId{2}, NodeId{3}};
  CHECK_THAT(refusal(empty_program(make_collective(four, some), 4, 1, false)),
             ContainsSubstring("over all ranks in their order"));
  CHECK_THAT(refusal(one_message(1), {"simple", 0, 1, {}}), ContainsSubstring("known: Simple"));
  CHECK_THAT(refusal(one_message(1), {"LL", 2, 1, {}}), ContainsSubstring("never be used"));
  Program special = one_message(1);
  special.name = "2D";
  CHECK_THAT(refusal(special), ContainsSubstring("name it otherwise"));
}

TEST_CASE("limits are named where a program is beyond them") {
  const auto with = [](std::uint32_t MscclLimits::*limit, std::uint32_t value) {
    MscclOptions options;
    options.limits.*limit = value;
    return options;
  };
  const Program four = one_message(4);
  CHECK(refusal(four, with(&MscclLimits::steps, 3)).empty());
  CHECK(refusal(one_message(200), with(&MscclLimits::steps, 2)) ==
        "gpu 0, block 0: 3 steps, and MSCCL's runtimes have 2 at most (fewer chunks or fewer "
        "instances would help)");
  CHECK_THAT(refusal(four, with(&MscclLimits::blocks, 1)),
             ContainsSubstring("gpu 0: 2 blocks, and MSCCL's runtimes have 1 at most"));
  CHECK_THAT(refusal(four, with(&MscclLimits::channels, 0)), ContainsSubstring("1 channels"));
  CHECK_THAT(refusal(four, with(&MscclLimits::peers, 0)), ContainsSubstring("1 peers to send to"));
  CHECK_THAT(refusal(one_message(100), with(&MscclLimits::place, 70)),
             ContainsSubstring("71 as the index of a unit"));
  Program waits = four;
  waits.ranks[0].blocks[0].steps[0].after = StepAt{1, 0};
  CHECK(refusal(waits, with(&MscclLimits::waited_block, 1)).empty());
  CHECK_THAT(refusal(waits, with(&MscclLimits::waited_block, 0)),
             ContainsSubstring("as a block that is waited for"));
}

} // namespace msccl_writer_test
