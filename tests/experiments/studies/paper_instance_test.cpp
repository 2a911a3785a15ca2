#include "experiments/driver/studies/frontiers/paper_instance.hpp"

#include "experiments/driver/studies/frontiers/study.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/frontier_samples.hpp"
#include "tests/message_of.hpp"

#include <optional>

namespace paper_instance_test {

using namespace tutti;

namespace {

PaperInstance instance(std::uint32_t chunks, std::uint32_t steps, std::uint32_t rounds,
                       Optimality claimed = {}) {
  PaperInstance paper;
  paper.chunks = paper.chunks_per_shard = chunks;
  paper.steps = steps;
  paper.rounds = rounds;
  paper.claimed = claimed;
  return paper;
}

constexpr Optimality latency{true, false}, bandwidth{false, true}, both{true, true};

// Knows pipelines only: what they can't do has no schedule.
Frontier one_instance(const Topology&, const Collective&, const FrontierRequest& request,
                      const SynthesisOptions&) {
  Frontier frontier = samples::pipelines();
  frontier.points.clear();
  frontier.bandwidth_bound = Ratio();
  frontier.trials = {
      {*request.chunks_per_shard, *request.steps, *request.rounds, "sat", "by hand", 0.5}};
  if (*request.steps > *request.chunks_per_shard && *request.rounds > *request.chunks_per_shard)
    frontier.points.push_back(samples::pipeline(*request.chunks_per_shard));
  else
    frontier.trials.front().answer = *request.chunks_per_shard == 9 ? "timed_out" : "unsat";
  return frontier;
}

InstanceEvaluation evaluated(const PaperInstance& paper) {
  const Topology line = samples::line();
  return evaluate_instance(samples::line_case(line), paper, samples::pipelines(), one_instance);
}

} // namespace

TEST_CASE("optimality is written as in the paper") {
  for (const Optimality one : {latency, bandwidth, both})
    CHECK(parse_optimality(to_text(one)) == one);
  CHECK(to_text(both) == "both");
  CHECK(to_text(Optimality{}) == "-");
  CHECK_THAT(message_of([] { (void)parse_optimality("latncy"); }),
             ContainsSubstring("unknown optimality \"latncy\" (known: latency, bandwidth, both"));
}

TEST_CASE("a point is better with fewer steps or fewer rounds per chunk, and not more of either") {
  const Frontier frontier = samples::pipelines(); // costs 2, 3/2, 5/4 at 2, 3, 5 steps
  CHECK(better_point(instance(1, 2, 2), frontier) == std::nullopt);
  CHECK(better_point(instance(2, 3, 3), frontier) == std::nullopt);
  CHECK(better_point(instance(4, 4, 5), frontier) == std::nullopt); // beyond the frontier
  CHECK(better_point(instance(1, 3, 2), frontier) == 1U);           // both its points 0 and 1
  CHECK(better_point(instance(2, 4, 4), frontier) == 1U);
  CHECK(better_point(instance(2, 4, 3), frontier) == 1U); // as many rounds, fewer steps
  CHECK(better_point(instance(1, 9, 9), frontier) == 2U);
  CHECK(better_point(instance(4, 5, 5), frontier) == std::nullopt);
}

TEST_CASE("a point is beyond the paper where no row comes up to it") {
  const Frontier frontier = samples::pipelines(); // costs 2, 3/2, 5/4 at 2, 3, 5 steps
  const auto beyond = [&](const std::vector<PaperInstance>& paper) {
    return beyond_paper(frontier, paper);
  };
  using Indices = std::vector<std::size_t>;
  CHECK(beyond({instance(1, 2, 2), instance(4, 5, 5)}) == Indices{1});
  CHECK(beyond({instance(1, 3, 2)}) == Indices{0, 1, 2}); // as few rounds, a step more
  CHECK(beyond({instance(4, 3, 5)}) == Indices{0});
  CHECK(beyond({instance(4, 2, 5)}).empty());
}

TEST_CASE("a row of the paper matches where its instance and its claims hold") {
  const InstanceEvaluation plain = evaluated(instance(2, 3, 3));
  CHECK(plain.answer == "sat");
  CHECK(plain.verified);
  CHECK(plain.method == "by hand");
  CHECK(plain.seconds == 0.25);
  CHECK(plain.agreement == Agreement::match);
  CHECK(plain.problem.empty());

  const InstanceEvaluation quick = evaluated(instance(1, 2, 2, latency));
  CHECK(quick.proven == latency);
  CHECK(quick.agreement == Agreement::match);

  // What the frontier bounds from below proves a row of the paper.
  PaperInstance paper = instance(1, 2, 2, both);
  Frontier frontier = samples::pipelines();
  frontier.bandwidth_bound = Ratio(2);
  const Topology line = samples::line();
  const InstanceEvaluation tight =
      evaluate_instance(samples::line_case(line), paper, frontier, one_instance);
  CHECK(tight.proven == both);
  CHECK(tight.agreement == Agreement::match);
}

TEST_CASE("a claim that doesn't hold differs, unless it is known") {
  PaperInstance paper = instance(2, 3, 3, latency);
  const InstanceEvaluation refuted = evaluated(paper);
  CHECK(refuted.refuted == both); // (1,2,2) has fewer steps, (4,5,5) fewer rounds per chunk
  CHECK(refuted.agreement == Agreement::unexpected);
  paper.ours = "fewest steps unproven";
  CHECK(evaluated(paper).agreement == Agreement::unexpected);
  paper.ours = "fewer steps exist";
  CHECK(evaluated(paper).agreement == Agreement::differs);
  PaperInstance holds = instance(1, 2, 2, latency);
  holds.ours = paper.ours;
  CHECK(evaluated(holds).agreement == Agreement::unexpected);

  const InstanceEvaluation unproven = evaluated(instance(4, 5, 5, bandwidth));
  CHECK_FALSE(unproven.refuted.bandwidth);
  CHECK(unproven.agreement == Agreement::unexpected);
}

TEST_CASE("a row without a schedule differs") {
  const InstanceEvaluation none = evaluated(instance(4, 3, 5));
  CHECK(none.answer == "unsat");
  CHECK(none.seconds == 0.5);
  CHECK_FALSE(none.verified);
  CHECK(none.agreement == Agreement::unexpected);
  CHECK(evaluated(instance(9, 3, 9)).answer == "timed_out");
}

TEST_CASE("what the paper claims and what we get stand side by side") {
  const Frontier frontier = samples::pipelines();
  PaperInstance paper = instance(2, 3, 3, latency);
  paper.seconds = 6.6;
  paper.ours = "fewer steps exist";
  paper.explanation = "a slip";
  const Comparison slip = comparison_of("Line", evaluated(paper), frontier);
  CHECK(slip.label == "Line (2,3,3)");
  CHECK(slip.paper == "latency-optimal, 6.6 s");
  CHECK(slip.ours == "fewer steps exist, 0.250 s");
  CHECK(slip.agreement == Agreement::differs);
  CHECK(slip.explanation == "a slip");
  const auto ours = [&](const PaperInstance& row) {
    return comparison_of("Line", evaluated(row), frontier).ours;
  };
  CHECK(ours(instance(1, 2, 2, latency)) == "latency-optimal, 0.250 s");
  CHECK(ours(instance(4, 5, 5, bandwidth)) == "least rounds per chunk unproven, 0.250 s");
  CHECK(ours(instance(1, 3, 3)) == "0.250 s, beaten by (2,3,3)");
  CHECK(ours(instance(4, 3, 5)) == "unsat");
}

TEST_CASE("a study is a frontier and the rows of a paper") {
  const Topology line = samples::line();
  FrontierCase c = samples::line_case(line);
  std::vector<std::string> found;
  const auto make = [](const Topology& topology, const Collective& collective,
                       const FrontierRequest& request, const SynthesisOptions& options) {
    if (request.rounds) return one_instance(topology, collective, request, options);
    const Frontier frontier = samples::pipelines();
    for (const FrontierPoint& point : frontier.points) request.found(point);
    return frontier;
  };
  const std::vector<PaperInstance> paper{instance(1, 2, 2), instance(4, 3, 5)};
  const FrontierStudyEvaluation study = evaluate_study(
      c, paper, [&](const FrontierPoint& point) { found.push_back(instance_text(point)); }, make);
  CHECK(found == std::vector<std::string>{"(1,2,2)", "(2,3,3)", "(4,5,5)"});
  REQUIRE(study.instances.size() == 2);
  const auto comparisons = comparisons_of(study);
  REQUIRE(comparisons.size() == 2);
  CHECK(comparisons[1].label == "Line (4,3,5)");
  CHECK_FALSE(all_agree(comparisons));
  CHECK(problems_of(study).empty());

  c.options.cancelled = [] { return true; };
  CHECK(evaluate_study(c, paper, {},
                       [](const Topology&, const Collective&, const FrontierRequest&,
                          const SynthesisOptions&) { return samples::pipelines(); })
            .instances.empty());

  FrontierStudyEvaluation broken = study;
  broken.frontier.problem = "one";
  broken.instances[1].problem = "two";
  CHECK(problems_of(broken) == std::vector<std::string>{"frontier of broadcast on line: one",
                                                        "frontier of broadcast on line: two"});
}

} // namespace paper_instance_test
