// Programs that runtimes take: the table of runtimes, and what a program is changed to so that it
// fits. What comes out is read from its XML again, by a reader that has the runtime's limits.

#include "runtime/formats/msccl/fit.hpp"

#include "runtime/formats/msccl/cut_blocks.hpp"
#include "runtime/formats/msccl/form.hpp"
#include "runtime/formats/msccl/split_reductions.hpp"
#include "runtime/formats/msccl/spread_channels.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "runtime/lowering/chunk_rolls.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/random_program.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace msccl_fit_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

using Runtimes = std::vector<const MscclRuntime*>;

Collective over(const Topology& topology, CollectiveKind kind, std::uint32_t chunks_per_shard) {
  return make_collective(topology, {kind, Bytes{1 << 22}, {}, 0, chunks_per_shard});
}

FittedProgram fitted(const std::string& runtime, const std::string& network, CollectiveKind kind,
                     std::uint32_t chunks_per_shard, const std::string& algorithm) {
  const Topology topology = make_topology(network);
  const Collective collective =
      over(topology, kind, chunks_per_shard * samples::baseline(algorithm).chunk_multiple);
  return lower_for(find_msccl_runtimes(runtime), topology, collective,
                   samples::schedule_of(algorithm, topology, collective), {});
}

bool mentions(const std::vector<std::string>& texts, const std::string& part) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

/// Whether the XML is read with no more room than the runtime has, and every kind has a kernel.
void check_taken(const Program& program, const Runtimes& runtimes) {
  MscclOptions options;
  options.collective = common_msccl_word(program.collective.parts.front().kind, runtimes);
  const std::string xml = msccl_xml(program, options);
  for (const MscclRuntime* runtime : runtimes) {
    const MscclFile file =
        read_msccl(xml, "f", program.collective.size(), nullptr, runtime->limits);
    CHECK(file.program.step_count() == program.step_count()); // its units may be finer
    for (const RankProgram& rank : file.program.ranks) {
      std::size_t elements = 1 + file.program.ranks.size() + rank.blocks.size();
      for (const Block& block : rank.blocks) {
        elements += block.steps.size();
        for (const Step& step : block.steps)
          CHECK((kinds_bit(step.kind) & runtime->limits.kinds) != 0);
      }
      CHECK(elements < 4096);
      CHECK(rank.blocks.size() <= std::min(runtime->parsed_blocks, runtime->launched_blocks));
    }
  }
}

std::size_t longest(const Program& program) {
  std::size_t most = 0;
  for (const RankProgram& rank : program.ranks)
    for (const Block& block : rank.blocks) most = std::max(most, block.steps.size());
  return most;
}

} // namespace

TEST_CASE("runtimes are found by name and version, with the least of their limits") {
  const auto names = [](const std::string& text) {
    std::string made;
    for (const MscclRuntime* one : find_msccl_runtimes(text))
      made += std::string(one->name) + "@" + std::string(one->version) + " ";
    return made;
  };
  CHECK(names("") == "msccl@2.12 rccl@2.21 executor@2.23 ");
  CHECK(names("rccl") == "rccl@2.21 ");
  CHECK(names("rccl@2.18") == "rccl@2.18 ");
  CHECK_THAT(message_of([] { static_cast<void>(find_msccl_runtimes("rccl@9")); }),
             ContainsSubstring("unknown runtime \"rccl@9\"") && ContainsSubstring("rccl@2.21"));
  const MscclLimits all = common_limits(find_msccl_runtimes("")), most;
  CHECK(all.steps == 64);
  CHECK(all.blocks == 64);
  CHECK((all.kinds & kinds_bit(StepKind::receive_reduce_copy)) == 0);
  for (const MscclRuntime& one : msccl_runtimes()) {
    INFO(one.name << " " << one.version);
    CHECK(one.limits.blocks == std::min(one.parsed_blocks, one.launched_blocks));
    CHECK(one.limits.steps <= most.steps); // the default is what some runtime takes
    CHECK(one.limits.blocks <= most.blocks);
    CHECK(one.limits.channels <= most.channels);
    CHECK_FALSE(one.source.empty());
  }
}

TEST_CASE("the words for collectives are each runtime's") {
  const Runtimes all = find_msccl_runtimes("");
  CHECK(common_msccl_word(CollectiveKind::all_reduce, all) == "allreduce");
  CHECK(common_msccl_word(CollectiveKind::reduce_scatter, find_msccl_runtimes("msccl")) ==
        "reduce_scatter");
  CHECK(common_msccl_word(CollectiveKind::reduce_scatter, find_msccl_runtimes("rccl")) ==
        "reducescatter");
  const auto refused = [&](CollectiveKind kind, const Runtimes& runtimes) {
    return message_of([&] { static_cast<void>(common_msccl_word(kind, runtimes)); });
  };
  CHECK_THAT(refused(CollectiveKind::reduce_scatter, all),
             ContainsSubstring("msccl 2.12: reduce_scatter, rccl 2.21: reducescatter"));
  CHECK_THAT(refused(CollectiveKind::gather, all),
             ContainsSubstring("msccl 2.12 doesn't know gather"));
  CHECK_THAT(refused(CollectiveKind::custom, find_msccl_runtimes("rccl")),
             ContainsSubstring("rccl 2.21 doesn't know custom"));
}

TEST_CASE("programs of baselines fit, or are refused with the number", "[heavy]") {
  std::size_t taken = 0, refused = 0;
  for (const char* network : {"ring:5", "mesh2d:2x3", "hypercube:3", "fully_connected:6",
                              "switch:4", "fully_connected:40"}) {
    const Topology topology = make_topology(network);
    for (const CollectiveKind kind : basic_collectives())
      for (const char* algorithm : {"ring1", "direct", "dbt"})
        for (const std::uint32_t chunks_per_shard : {1U, 12U}) {
          if (topology.npu_count() > 8 &&
              (chunks_per_shard > 1 || std::string(algorithm) != "direct"))
            continue;
          const AlgorithmRow& row = samples::baseline(algorithm);
          if (std::ranges::find(row.collectives, kind) == row.collectives.end()) continue;
          const Collective collective = over(topology, kind, chunks_per_shard * row.chunk_multiple);
          const Outcome outcome = synthesize(row, topology, collective, {});
          if (!outcome.schedule) continue;
          for (const std::string runtime : {"", "msccl", "rccl@2.18", "executor"}) {
            INFO(network << " " << to_text(kind) << " " << algorithm << " " << chunks_per_shard
                         << " " << runtime);
            const Runtimes runtimes = find_msccl_runtimes(runtime);
            const FittedProgram made =
                lower_for(runtimes, topology, collective, *outcome.schedule, {});
            CHECK_FALSE(made.fault);
            if (made.refusals.empty()) {
              ++taken;
              CHECK(verify_program(made.program).correct());
              check_taken(made.program, runtimes);
            } else {
              ++refused;
            }
          }
        }
  }
  CHECK(taken > refused);
  CHECK(refused > 0);
}

TEST_CASE("adjacent chunks move together, as few as suffice") {
  const FittedProgram plain = fitted("msccl", "ring:8", CollectiveKind::all_gather, 24, "ring1");
  CHECK(plain.changes.empty());
  const FittedProgram rolled =
      fitted("rccl@2.17", "ring:8", CollectiveKind::all_gather, 24, "ring1");
  CHECK(rolled.refusals.empty());
  CHECK(mentions(rolled.changes, "adjacent chunks move together, 3 at most"));
  CHECK(longest(plain.program) > 64);
  CHECK(longest(rolled.program) <= 64);
  CHECK(rolled.program.unit_count() == plain.program.unit_count());
}

TEST_CASE("whoever leads waits for what any waits for that it stands for") {
  const Topology ring = make_topology("ring:3,directions=1");
  CollectiveSpec spec;
  spec.kind = CollectiveKind::broadcast;
  spec.size = Bytes{4000};
  spec.chunks_per_shard = 4;
  const Collective collective = make_collective(ring, spec);
  Schedule schedule(ring.link_count());
  for (const std::uint32_t link : {0U, 1U})
    for (std::uint32_t c = 0; c < 4; ++c) schedule.push(ChunkId{c}, LinkId{link}, Op::copy);
  schedule.add_dependency(3, {1, Milestone::left});    // chunk 3 goes with 2, and 1 with 0
  schedule.add_dependency(5, {4, Milestone::left});    // of one step by now
  schedule.add_dependency(6, {2, Milestone::arrived}); // these two are the same
  schedule.add_dependency(7, {3, Milestone::arrived});
  const Schedule made = transfers_of_leaders(schedule, chunk_rolls(collective, schedule, 2));
  REQUIRE(made.size() == 4);
  const auto named = [&](std::size_t i) {
    const auto all = made.dependencies(i);
    return std::vector<Dependency>(all.begin(), all.end());
  };
  CHECK(named(0).empty());
  CHECK(named(1) == std::vector{Dependency{0, Milestone::left}});
  CHECK(named(2).empty());
  CHECK(named(3) == std::vector{Dependency{1, Milestone::arrived}});
}

TEST_CASE("what can't be rolled goes on in further blocks") {
  const FittedProgram ring = fitted("executor", "ring:48", CollectiveKind::all_reduce, 1, "ring1");
  CHECK(ring.refusals.empty());
  CHECK(mentions(ring.changes, "blocks of more than 64 steps go on in others"));
  CHECK(longest(ring.program) <= 64);
}

TEST_CASE("63 peers need two channels, and shared blocks where few run at once") {
  const FittedProgram wide =
      fitted("msccl", "fully_connected:64", CollectiveKind::all_gather, 1, "direct");
  CHECK(wide.refusals.empty());
  CHECK(mentions(wide.changes, "peers are on 2 channels"));
  const FittedProgram few =
      fitted("rccl", "fully_connected:64", CollectiveKind::all_gather, 1, "direct");
  CHECK(few.refusals.empty());
  CHECK(mentions(few.changes, "blocks that receive send, too"));
  const FittedProgram none =
      fitted("rccl", "fully_connected:72", CollectiveKind::all_gather, 1, "direct");
  REQUIRE(none.refusals.size() == 1);
  CHECK_THAT(none.refusals.front(), ContainsSubstring("rccl 2.21: gpu 0: ") &&
                                        ContainsSubstring("blocks, and rccl 2.21 has 64 at most"));
}

TEST_CASE("random programs stay right when blocks are cut, reductions split, peers spread") {
  const Topology five = make_topology("ring:5");
  int spreads = 0;
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_reduce,
                                    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      INFO(to_text(kind) << " " << seed);
      const Program program =
          random_program(over(five, kind, 1 + static_cast<std::uint32_t>(seed % 3)), 5, 1, seed);
      REQUIRE(verify_program(program, msccl_slots).correct());
      const Program split = split_reductions(program);
      CHECK(verify_program(split, msccl_slots).correct());
      for (const RankProgram& rank : split.ranks)
        for (const Block& block : rank.blocks)
          for (const Step& step : block.steps) CHECK(step.kind != StepKind::receive_reduce_copy);
      MscclLimits limits;
      limits.steps = 3 + static_cast<std::uint32_t>(seed % 5);
      limits.peers = 1;
      const Program form = msccl_form(split, limits.count);
      const Program cut = cut_long_blocks(form, limits);
      CHECK(verify_program(cut, msccl_slots).correct());
      CHECK(cut.step_count() >= form.step_count());
      const Program spread = spread_channels(cut, limits);
      CHECK(verify_program(spread, msccl_slots).correct());
      if (spread.channel_count() == cut.channel_count()) continue; // one block has two peers
      ++spreads;
      for (const RankProgram& rank : spread.ranks) {
        std::set<std::uint32_t> sending, receiving; // channels
        for (const Block& block : rank.blocks) {
          if (block.sends_to) CHECK(sending.insert(block.channel).second);
          if (block.receives_from) CHECK(receiving.insert(block.channel).second);
        }
      }
    }
  CHECK(spreads > 0);
}

TEST_CASE("long blocks of one connection are cut, at both ends alike") {
  const Topology line = make_topology("ring:4");
  for (std::uint32_t steps = 4; steps < 9; ++steps) {
    const Collective collective = over(line, CollectiveKind::all_gather, 16);
    LoweringOptions options;
    options.fuse = false;
    const Program form = msccl_form(
        lower(line, collective, samples::schedule_of("ring1", line, collective), options), 71);
    MscclLimits limits;
    limits.steps = steps;
    const Program cut = cut_long_blocks(form, limits);
    CHECK(longest(form) > steps);
    CHECK(longest(cut) <= steps);
    CHECK(verify_program(cut).correct());
  }
}

TEST_CASE("warnings where a call never gets the program, or one gets it by mistake") {
  const Runtimes all = find_msccl_runtimes("");
  const Topology three = make_topology("ring:3");
  const auto warnings = [&](CollectiveKind kind, std::int64_t size, const MscclOptions& options) {
    const Collective collective = make_collective(three, {kind, Bytes{size}, {}, 1, 1});
    return msccl_selection_warnings(empty_program(collective, 3, 1, false), Bytes{size}, options,
                                    all);
  };
  CHECK(warnings(CollectiveKind::all_gather, 2400, {}).empty());
  CHECK(mentions(warnings(CollectiveKind::all_gather, 1000, {}), "are never given to the program"));
  CHECK(mentions(warnings(CollectiveKind::all_gather, 2406, {}), "at most 2 bytes"));
  MscclOptions small;
  small.max_bytes = 1200;
  CHECK(mentions(warnings(CollectiveKind::all_gather, 2400, small), "which is for 0 to 1200"));
  small.max_bytes = 2400; // msccl leaves the last out
  CHECK(mentions(warnings(CollectiveKind::all_gather, 2400, small), "(without the last)"));
  CHECK(
      mentions(warnings(CollectiveKind::broadcast, 2400, {}), "no runtime looks at a call's root"));
}

} // namespace msccl_fit_test
