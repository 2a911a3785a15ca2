// Imported programs mean what they did: rings take the times of rings, random programs give the
// results of their collectives, and our own schedules come back through the XML unchanged in time.

#include "algorithms/list.hpp"
#include "runtime/checking/verify_program.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "runtime/lowering/lowering.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/msccl_samples.hpp"
#include "tests/runtime/random_program.hpp"
#include "topologies/list.hpp"

#include <set>

namespace foreign_schedule_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

constexpr Bytes whole{3'000'000};

ForeignSchedule replayable(const Topology& topology, std::string_view text, Bytes size = whole) {
  const ForeignSchedule made = schedule_of(topology, read_msccl(text, "f.xml", size).program);
  const Verdict verdict = verify(topology, made.collective, made.schedule);
  INFO((verdict.fault ? verdict.fault->text : std::string()));
  CHECK(verdict.correct());
  CHECK(verdict.redundant == 0);
  return made;
}

std::int64_t picoseconds(const Topology& topology, const ForeignSchedule& made) {
  return run_native(topology, made.collective, made.schedule, {}).completion.ps;
}

struct NamedAlgorithm {
  std::string name;
  Outcome (*algorithm)(const Topology&, const Collective&, const SynthesisOptions&);
};

std::size_t count_of(const Schedule& schedule, Op op) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i) count += schedule[i].op == op ? 1 : 0;
  return count;
}

} // namespace

TEST_CASE("foreign rings take the times of rings") {
  // A chunk of 1 MB takes 1 ms and 1 us on.
  const Topology ring = make_topology("ring:3,bandwidth=1GB/s,latency=1us");
  const ForeignSchedule gather = replayable(ring, msccl_samples::ring_all_gather);
  CHECK(gather.schedule.size() == 6);
  CHECK(count_of(gather.schedule, Op::copy) == 6);
  CHECK(picoseconds(ring, gather) == 2 * 1'001'000'000);

  const ForeignSchedule reduce = replayable(ring, msccl_samples::ring_all_reduce);
  CHECK(reduce.schedule.size() == 12);
  CHECK(count_of(reduce.schedule, Op::reduce) == 6);
  CHECK(picoseconds(ring, reduce) == 4LL * 1'001'000'000);
  CHECK(reduce.collective.parts.front().kind == CollectiveKind::all_reduce);
}

TEST_CASE("what a rank combines by itself is a reduction at the arrival") {
  const Topology full = make_topology("fully_connected:3,bandwidth=1GB/s,latency=1us");
  const ForeignSchedule pairs = replayable(full, msccl_samples::pairs_all_reduce);
  CHECK(pairs.schedule.size() == 12);
  CHECK(count_of(pairs.schedule, Op::reduce) == 6);
  CHECK(picoseconds(full, pairs) == 2 * 1'001'000'000);
}

TEST_CASE("an exchange of partial sums is together") {
  const Topology pair = make_topology("ring:2,bandwidth=1GB/s,latency=1us");
  const ForeignSchedule made = replayable(pair, msccl_samples::exchange, Bytes{2'000'000});
  REQUIRE(made.schedule.size() == 4); // one chunk of the file is two of a two-rank all_reduce
  std::size_t together = 0;
  for (std::size_t i = 0; i < 4; ++i) together += made.schedule[i].together ? 1 : 0;
  CHECK(together == 2);
  CHECK(count_of(made.schedule, Op::reduce) == 4);
  CHECK(picoseconds(pair, made) == 2'001'000'000);
}

TEST_CASE("without a link the shortest way is taken, through what lies between") {
  const Topology line = make_topology("mesh2d:3x1,bandwidth=1GB/s,latency=1us");
  const ForeignSchedule made = replayable(line, msccl_samples::ring_all_gather);
  std::size_t two_hops = 0;
  for (std::size_t i = 0; i < made.schedule.size(); ++i)
    two_hops += made.schedule.paths().links(made.schedule.path_of(i)).size() == 2 ? 1 : 0;
  CHECK(two_hops == 2); // 2 -> 0, twice
  const Topology star = make_topology("switch:3,bandwidth=1GB/s,latency=1us");
  CHECK(replayable(star, msccl_samples::ring_all_gather).schedule.size() == 6);
}

TEST_CASE("the least latency decides between ways of as many links, then the ids") {
  TopologyParts parts;
  for (const char* name : {"a", "b"}) parts.add_node({name, NodeKind::npu, {}, {}});
  for (const char* name : {"s", "t", "u"}) parts.add_node({name, NodeKind::switching, {}, {}});
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::int64_t ps) {
    return parts.add_link({NodeId{from}, NodeId{to}, Time{ps}, Bandwidth{1'000'000'000}, -1});
  };
  add(0, 2, 5), add(2, 1, 5);
  const LinkId first = add(0, 3, 1), second = add(3, 1, 6); // 7 in all, as the next
  add(0, 4, 6), add(4, 1, 1);
  const LinkId back = add(1, 0, 1), parallel = add(1, 0, 9);
  parts.name = "ways";
  const Topology ways(parts);
  const Program program = read_msccl(msccl_samples::exchange, "f", Bytes{2'000'000}).program;
  const ForeignSchedule made = schedule_of(ways, program);
  std::set<std::vector<LinkId>> found;
  for (std::size_t i = 0; i < made.schedule.size(); ++i) {
    const auto links = made.schedule.paths().links(made.schedule.path_of(i));
    found.insert({links.begin(), links.end()});
  }
  CHECK(found == std::set<std::vector<LinkId>>{{first, second}, {back}});

  // Another channel takes the parallel link.
  std::string text(msccl_samples::exchange);
  for (std::size_t at; (at = text.find("chan=\"0\"")) != std::string::npos;) text[at + 6] = '1';
  const ForeignSchedule other = schedule_of(ways, read_msccl(text, "f", whole).program);
  bool taken = false;
  for (std::size_t i = 0; i < other.schedule.size(); ++i)
    taken = taken || other.schedule.path_of(i) == PathId{parallel.value};
  CHECK(taken);
}

TEST_CASE("what a schedule can't say is refused") {
  const Topology ring = make_topology("ring:3");
  const Program gather = read_msccl(msccl_samples::ring_all_gather, "f", whole).program;
  CHECK_THAT(message_of([&] { static_cast<void>(schedule_of(make_topology("ring:4"), gather)); }),
             ContainsSubstring("a program for 3 ranks, but"));
  CHECK_THAT(message_of([&] {
               static_cast<void>(schedule_of(without(ring, {},
                                                     std::vector{LinkId{0}, LinkId{1}, LinkId{2},
                                                                 LinkId{3}, LinkId{4}, LinkId{5}}),
                                             gather));
             }),
             ContainsSubstring("no way from npu"));

  // Rank 1 passes rank 0's part on by itself, and its own afterwards: two partial sums at one rank.
  const Collective reduce =
      make_collective(make_topology("ring:3"), {CollectiveKind::reduce, Bytes{12}, {}, 2, 1});
  Program apart = empty_program(reduce, 3, 1, false);
  apart.ranks[1].scratch = 1;
  const Place in{Buffer::input, 0}, out{Buffer::output, 0}, scratch{Buffer::scratch, 0};
  apart.ranks[0].blocks = {{1, {}, 0, {{StepKind::send, in, {}, 1, {}}}}};
  apart.ranks[1].blocks = {
      {2,
       0,
       0,
       {{StepKind::receive_copy_send, {}, scratch, 1, {}}, {StepKind::send, in, {}, 1, {}}}}};
  apart.ranks[2].blocks = {{{},
                            1,
                            0,
                            {{StepKind::receive_reduce_copy, in, out, 1, {}},
                             {StepKind::receive_reduce_copy, out, out, 1, {}}}}};
  REQUIRE(verify_program(apart).correct());
  CHECK_THAT(message_of([&] { static_cast<void>(schedule_of(ring, apart)); }),
             ContainsSubstring("a schedule can't express that"));
}

TEST_CASE("a value that is kept aside is no part of what is sent meanwhile") {
  // Rank 0 gets rank 1's contribution before it sends its own to rank 2, and adds it afterwards.
  const Collective sum =
      make_collective(make_topology("ring:3"), {CollectiveKind::reduce, Bytes{12}, {}, 2, 1});
  Program program = empty_program(sum, 3, 1, false);
  const Place in{Buffer::input, 0}, out{Buffer::output, 0};
  program.ranks[1].scratch = program.ranks[2].scratch = 1;
  const Place aside{Buffer::scratch, 0};
  program.ranks[0].blocks = {{2, {}, 0, {{StepKind::send, in, {}, 1, {}}}}};
  program.ranks[1].blocks = {{2, {}, 0, {{StepKind::send, in, {}, 1, {}}}}};
  program.ranks[2].blocks = {{{}, 0, 0, {{StepKind::receive, {}, aside, 1, {}}}},
                             {{},
                              1,
                              0,
                              {{StepKind::receive_reduce_copy, in, out, 1, {}},
                               {StepKind::reduce, aside, out, 1, StepAt{0, 0}}}}};
  REQUIRE(verify_program(program).correct());
  const Topology full = make_topology("fully_connected:3");
  const ForeignSchedule made = schedule_of(full, program);
  CHECK(verify(full, made.collective, made.schedule).correct());
  CHECK(count_of(made.schedule, Op::reduce) == 2);
}

TEST_CASE("random programs become schedules that do what they do") {
  const Topology full = make_topology("fully_connected:5");
  for (const CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::all_to_all, CollectiveKind::broadcast,
        CollectiveKind::all_reduce, CollectiveKind::reduce_scatter})
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const Program program = random_program(
          make_collective(full,
                          {kind, Bytes{1 << 20}, {}, 0, 1 + static_cast<std::uint32_t>(seed % 2)}),
          5, 1 + static_cast<std::uint32_t>(seed % 3), seed);
      INFO(to_text(kind) << " " << seed);
      const ProgramVerdict sound = verify_program(program);
      INFO((sound.fault ? sound.fault->text : std::string()));
      REQUIRE(sound.correct());
      const ForeignSchedule made = schedule_of(full, program);
      std::size_t units = 0;
      for (const RankProgram& rank : program.ranks)
        for (const Block& block : rank.blocks)
          for (const Step& step : block.steps) units += sends(step.kind) ? step.count : 0;
      CHECK(made.schedule.size() == units);
      const Verdict verdict = verify(full, made.collective, made.schedule);
      INFO((verdict.fault ? verdict.fault->text : std::string()));
      CHECK(verdict.correct());
      CHECK(made.collective.size() == program.collective.size());
    }
}

TEST_CASE("our own schedules come back through MSCCL's XML with the times that they had") {
  const Topology topology = make_topology("ring:8,bandwidth=1GB/s,latency=1us");
  for (const CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
    const Collective collective = make_collective(topology, {kind, Bytes{8'000'000}, {}, 0, 1});
    for (const NamedAlgorithm& row :
         {NamedAlgorithm{"ring", ring_unidirectional}, NamedAlgorithm{"direct", direct}}) {
      INFO(row.name << " " << to_text(kind));
      const Schedule ours = *row.algorithm(topology, collective, {}).schedule;
      for (const bool in_place : {false, true}) {
        LoweringOptions options;
        options.in_place = in_place;
        options.name = row.name;
        const std::string text = msccl_xml(lower(topology, collective, ours, options));
        const ForeignSchedule made = replayable(topology, text, collective.size());
        if (row.name == "ring")
          CHECK(picoseconds(topology, made) ==
                run_native(topology, collective, ours, {}).completion.ps);
      }
    }
  }
}

} // namespace foreign_schedule_test
