#include "experiments/driver/studies/frontiers/evaluation.hpp"

#include "sim/collective.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/frontier_samples.hpp"
#include "tests/message_of.hpp"

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace frontier_evaluation_test {

using namespace tutti;

namespace {

Report late(const Topology& topology, const Collective& collective, const Schedule& schedule,
            const TimeModel& model, const RunOptions& options) {
  Report report = run_native(topology, collective, schedule, model, options);
  report.completion = report.completion + Time{1};
  return report;
}

Report at_once(const Topology& topology, const Collective& collective, const Schedule& schedule,
               const TimeModel& model, const RunOptions& options) {
  Report report = run_native(topology, collective, schedule, model, options);
  report.completion = {1};
  return report;
}

} // namespace

TEST_CASE("every point is verified, bounded and replayed on both engines") {
  const Topology line = samples::line();
  const FrontierEvaluation e = evaluate_points(samples::line_case(line), samples::pipelines());
  CHECK(e.problem.empty());
  CHECK(e.label == "Line");
  CHECK(e.npus == 3);
  CHECK(e.engines == std::vector<std::string>{"native", "simgrid"});
  REQUIRE(e.points.size() == 3);
  for (std::size_t p = 0; p < 3; ++p) {
    const FrontierPoint& point = e.frontier.points[p];
    CHECK(e.points[p].verified);
    CHECK(e.points[p].transfers == 2 * point.chunks_per_shard);
    REQUIRE(e.points[p].at.size() == 4);
    for (const SizedPoint& at : e.points[p].at) {
      const Time expected{point.steps * (500'000 + at.size.count / point.chunks_per_shard * 20)};
      CHECK(at.model == expected);
      CHECK(at.completions == std::vector<Time>{expected, expected});
      CHECK(at.replay.report.completion == expected);
      CHECK(at.replay.bound_at_chunks.time <= expected);
    }
  }
}

TEST_CASE("crossover sizes are those of the cost model where it holds exactly") {
  const Topology line = samples::line();
  const FrontierEvaluation e = evaluate_points(samples::line_case(line), samples::pipelines());
  REQUIRE(e.best.size() == 3);
  CHECK(e.best[0] == BestFrom{{4'000}, 0});
  // What doesn't divide by 4 is a byte or two off.
  CHECK(e.best[1].which == 1);
  CHECK(e.best[1].size.count - 50'000 <= 4);
  CHECK(e.best[1].size.count > 50'000);
  CHECK(e.best[2].which == 2);
  CHECK(e.best[2].size.count - 200'000 <= 8);
  CHECK(e.best[2].size.count > 200'000);
}

TEST_CASE("what can't be cut so finely has no time, and is verified all the same") {
  const Topology line = samples::line();
  FrontierCase c = samples::line_case(line);
  c.sizes = {{1}, {2}, {3}};
  const FrontierEvaluation e = evaluate_points(c, samples::pipelines());
  CHECK(e.problem.empty());
  CHECK(e.points[0].at.size() == 3);
  CHECK(e.points[1].at.size() == 2); // 2 B and 3 B
  CHECK(e.points[2].at.empty());
  CHECK(e.points[2].verified);
  CHECK(e.best == std::vector<BestFrom>{{{1}, 0}});
}

TEST_CASE("a defect of a point is a problem in words") {
  const Topology line = samples::line();
  const FrontierCase c = samples::line_case(line);
  Frontier faulty = samples::pipelines();
  faulty.points[1].schedule = Schedule(2);
  faulty.points[1].schedule.push(ChunkId{0}, LinkId{1}, Op::copy);
  const FrontierEvaluation fault = evaluate_points(c, faulty);
  CHECK(fault.problem == "(2,3,3): fault: transfer 0: node npu1 doesn't hold chunk 0");
  CHECK_FALSE(fault.points[1].verified);
  CHECK(fault.points[1].at.empty());
  CHECK(fault.points[2].verified);
  CHECK(fault.best.size() == 2); // nobody waits for what isn't correct

  Frontier twice = samples::pipelines();
  twice.points[0].schedule.push(ChunkId{0}, LinkId{0}, Op::copy);
  CHECK(evaluate_points(c, twice).problem == "(1,2,2): redundant copies: 1");

  FrontierCase apart = c;
  const EngineRow slow{"late", late, false, ""}, hasty{"hasty", at_once, false, ""};
  apart.engines = {&find_engine("native"), &slow};
  CHECK(evaluate_points(apart, samples::pipelines()).problem ==
        "(1,2,2) at 4kB: native and simgrid differ: 1ps apart at most, in the collective time (0ps "
        "allowed for rounding)");
  apart.engines = {&hasty};
  CHECK_THAT(evaluate_points(apart, samples::pipelines()).problem,
             ContainsSubstring("(1,2,2) at 4kB: native fifo says 1ps, below the lower bound"));
}

TEST_CASE("a frontier is made for the largest size, uncut") {
  const Topology line = samples::line();
  const FrontierCase c = samples::line_case(line);
  FrontierRequest request;
  request.slack = 3;
  const FrontierEvaluation e =
      evaluate_frontier(c, request,
                        [](const Topology&, const Collective& collective,
                           const FrontierRequest& asked, const SynthesisOptions& options) {
                          CHECK(collective.size() == Bytes{4'000'000});
                          CHECK(collective.chunks.size() == 1);
                          CHECK(asked.slack == 3U);
                          CHECK(options.model.link_busy == LinkBusy::latency_and_serialization);
                          return samples::pipelines();
                        });
  CHECK(e.points.size() == 3);

  const FrontierEvaluation greedy =
      evaluate_frontier(c, request,
                        [](const Topology&, const Collective&, const FrontierRequest&,
                           const SynthesisOptions&) -> Frontier { throw std::bad_alloc(); });
  CHECK(greedy.frontier.timed_out);
  CHECK(greedy.frontier.stop == "out of memory");
  CHECK(greedy.problem.empty());
}

TEST_CASE("members that can't copy have no frontier") {
  TopologyParts parts = samples::npus("line", 3);
  parts.add_link(samples::link(0, 1));
  parts.add_link(samples::link(1, 2));
  parts.nodes[1].can.copy = false;
  const Topology line(std::move(parts));
  const FrontierEvaluation e = evaluate_frontier(samples::line_case(line), {});
  CHECK(e.points.empty());
  CHECK(e.frontier.stop == "npu1 can't copy");
  CHECK(e.problem.empty());
}

TEST_CASE("an engine that gives up on a size costs this size only") {
  const Topology line = samples::line();
  FrontierCase c = samples::line_case(line);
  const EngineRow picky{"picky",
                        [](const Topology& topology, const Collective& collective,
                           const Schedule& schedule, const TimeModel& model,
                           const RunOptions& options) -> Report {
                          if (collective.size() == Bytes{40'000}) throw std::runtime_error("no");
                          return run_native(topology, collective, schedule, model, options);
                        },
                        false, ""};
  c.engines = {&picky};
  const FrontierEvaluation e = evaluate_points(c, samples::pipelines());
  CHECK(e.problem == "(1,2,2) at 40kB: no");
  CHECK(e.points[0].at.size() == 3);
}

TEST_CASE("a collective from a file is not cut") {
  const Topology line = samples::line();
  FrontierCase c = samples::line_case(line);
  CHECK_FALSE(request_of(c).chunks_per_shard);
  c.collective = "mine.toml";
  CHECK(request_of(c).chunks_per_shard == 1U);
  CHECK(message_of([&] { (void)collective_of(c, {4}, 2); }) ==
        "mine.toml: a collective from a file isn't cut");
}

} // namespace frontier_evaluation_test
