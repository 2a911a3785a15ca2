#include "experiments/runner.hpp"

#include "experiments/registry.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>

using namespace tutti;

namespace {

Case case_of(const Topology& topology, const AlgorithmRow& algorithm) {
  Case c;
  c.topology_label = "sample";
  c.topology = &topology;
  c.collective = {{"all_gather"}, {4000}};
  c.algorithm = algorithm;
  c.engine = &find_engine("native");
  return c;
}

Case case_of(const Topology& topology, const char* algorithm) {
  return case_of(topology, find_algorithm(algorithm));
}

constexpr CollectiveKind only_all_gather[]{CollectiveKind::all_gather};

// Nothing is sent: the postcondition fails.
Outcome idle(const Topology& topology, const Collective&, const SynthesisOptions&) {
  return {Status::feasible, Schedule(topology.link_count()), "", "", {}};
}

// Direct, and then its first transfer once more.
Outcome twice(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  Outcome outcome = find_algorithm("direct").run(topology, collective, options);
  outcome.schedule->push((*outcome.schedule)[0]);
  return outcome;
}

Report at_once(const Topology& topology, const Collective& collective, const Schedule& schedule,
               const TimeModel& model, const RunOptions& options) {
  Report report = run_native(topology, collective, schedule, model, options);
  report.completion = {1};
  return report;
}

} // namespace

TEST_CASE("an evaluation of Ring on a 4-ring") {
  // ring1: 3 steps, each 0.5 us + 1000 B / 50 GB/s = 0.52 us. The chunk of npu0 needs two hops to
  // npu2, so 2 x 0.52 us is a bound. Each of the four links one way round is busy for 3 x 0.02 of
  // 1.56 us.
  const Topology topology = samples::ring(4);
  const Evaluation e = evaluate(case_of(topology, "ring1"));
  REQUIRE(e.replays.size() == 1);
  CHECK(e.verified);
  CHECK(e.problem.empty());
  CHECK(e.transfers == 12);
  CHECK(e.chunks == 4);
  CHECK(e.redundant == 0);
  CHECK(e.replays[0].report.completion == Time{1'560'000});
  CHECK(e.replays[0].bound == Time{1'040'000});
  CHECK(e.replays[0].gap() == Approx(1.5));
  CHECK(e.replays[0].algbw == Approx(4000 / 1.56e-6));
  CHECK(e.replays[0].busbw == Approx(3000 / 1.56e-6));
  CHECK(e.replays[0].max_utilisation() == Approx(0.06 / 1.56));
  CHECK(e.replays[0].mean_utilisation() == Approx(0.06 / 1.56 / 2));
  CHECK(e.hottest_link == "npu0>npu1 +3");
}

TEST_CASE("the number of chunks that is best is found") {
  // A line npu0 - npu1 - npu2: a Broadcast of n bytes in k chunks takes
  // 2 alpha + (k + 1) n / k / B; the more the better, up to the 64 that are tried.
  TopologyParts parts = samples::npus("line", 3);
  parts.add_duplex(samples::link(0, 1));
  parts.add_duplex(samples::link(1, 2));
  const Topology line(std::move(parts));
  Case c = case_of(line, "tacos");
  c.collective = {{"broadcast"}, {6'400'000}};
  c.chunks = 1;
  CHECK(evaluate(c).replays.at(0).report.completion == Time{1'000'000 + 2 * 128'000'000});
  c.chunks.reset();
  const Evaluation best = evaluate(c);
  CHECK(best.chunks == 64);
  CHECK(best.replays.at(0).report.completion == Time{1'000'000 + 65 * 2'000'000});
}

TEST_CASE("a defect of an algorithm or an engine is a problem in words") {
  const Topology topology = samples::ring(4);
  const AlgorithmRow idle_row{"idle", idle, only_all_gather, 1, "any", "none"};
  const AlgorithmRow twice_row{"twice", twice, only_all_gather, 1, "any", "none"};
  const Evaluation nothing = evaluate(case_of(topology, idle_row));
  CHECK_THAT(nothing.problem, ContainsSubstring("fault: "));
  CHECK(nothing.replays.empty());
  CHECK_FALSE(nothing.verified);
  CHECK(evaluate(case_of(topology, twice_row)).problem == "redundant copies: 1");

  Case c = case_of(topology, "ring1");
  const EngineRow hasty{"hasty", at_once, false, ""};
  c.engine = &hasty;
  CHECK_THAT(evaluate(c).problem,
             ContainsSubstring("native fifo says 1ps, below the lower bound 1040ns (") &&
                 ContainsSubstring("a defect of Tutti"));
}

TEST_CASE("results come in the order of the cases, however many jobs there are") {
  const Topology small = samples::ring(3), large = samples::ring(8);
  std::vector<Case> cases;
  for (const char* name : {"tacos", "ring", "direct"})
    for (const Topology* topology : {&large, &small}) cases.push_back(case_of(*topology, name));
  std::vector<std::size_t> done;
  const auto one = run_cases(cases, 1, [&](std::size_t n, std::size_t) { done.push_back(n); });
  const auto many = run_cases(cases, 4);
  CHECK(done == std::vector<std::size_t>{1, 2, 3, 4, 5, 6});
  REQUIRE(one.size() == cases.size());
  REQUIRE(many.size() == cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CHECK(one[i].algorithm == cases[i].algorithm.name);
    CHECK(one[i].npus == cases[i].topology->npu_count());
    const Evaluation here = evaluate(cases[i]);
    for (const Evaluation& e : {one[i], many[i]}) {
      REQUIRE(e.replays.size() == 1);
      CHECK(e.replays[0].report.completion == here.replays[0].report.completion);
      CHECK(e.replays[0].bound == here.replays[0].bound);
      CHECK(e.replays[0].busbw == here.replays[0].busbw);
      CHECK(e.replays[0].mean_utilisation() == here.replays[0].mean_utilisation());
      CHECK(e.hottest_link == here.hottest_link);
      CHECK(e.transfers == here.transfers);
    }
  }
}

TEST_CASE("a process that dies costs its own row only") {
  const Topology topology = samples::ring(4);
  const std::vector<Case> cases{case_of(topology, "ring"), case_of(topology, "direct"),
                                case_of(topology, "tacos"), case_of(topology, "rhd")};
  const auto results = run_cases(cases, 2, {}, [](const Case& c) {
    if (c.algorithm.name == "ring") std::raise(SIGKILL);
    if (c.algorithm.name == "direct") std::_Exit(3);
    if (c.algorithm.name == "tacos") throw std::logic_error("lost count");
    return evaluate(c);
  });
  CHECK(results[0].problem == "the process was killed by signal 9 (Killed)");
  CHECK(results[0].algorithm == "ring");
  CHECK(results[0].topology == "sample");
  CHECK(results[1].problem == "the process ended with code 3");
  CHECK(results[2].problem == "lost count");
  CHECK(results[3].problem.empty());
  CHECK(results[3].verified);
}

TEST_CASE("bad input met by a job is an InputError of the whole run, and stops it") {
  const Topology topology = samples::ring(4);
  std::vector<Case> cases(5, case_of(topology, "ring"));
  cases[1].options.settings["colour"] = "red";
  std::size_t ended = 0;
  CHECK(message_of([&] {
          (void)run_cases(cases, 1, [&](std::size_t done, std::size_t) { ended = done; });
        }) == "unknown setting \"colour\" (ring has none)");
  CHECK(ended == 2);
}

TEST_CASE("what can't work shows before anything runs") {
  const Topology topology = samples::ring(4);
  std::vector<Case> cases{case_of(topology, "ring"), case_of(topology, "ring")};
  CHECK_NOTHROW(require_sound(cases));
  cases[1].disciplines = {Discipline::fifo, Discipline::fluid};
  CHECK(message_of([&] { require_sound(cases); }) ==
        "engine native knows no fluid sharing (engines that do: simgrid)");
  cases[1].disciplines = {Discipline::fifo};
  cases[1].collective.size = {3};
  CHECK_THAT(message_of([&] { require_sound(cases); }), ContainsSubstring("at least one byte"));

  TopologyParts parts = samples::npus("broken", 2);
  parts.add_link(samples::link(0, 1));
  const Topology broken(std::move(parts));
  const std::vector<Case> cut{case_of(broken, "ring")};
  CHECK_THAT(message_of([&] { require_sound(cut); }),
             ContainsSubstring("npu0 can't be reached from npu1"));
}
