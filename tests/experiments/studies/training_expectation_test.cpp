// What papers say of iterations, against runs with accounts by hand.
#include "experiments/driver/studies/training/expectation.hpp"

#include "experiments/driver/studies/training/evaluation.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/training_samples.hpp"
#include "tests/message_of.hpp"

#include <cmath>
#include <vector>

using namespace tutti;
using samples::account_of;
using samples::us;

namespace {

// ring takes 40 and 90 us on A and B, tacos 20 and 30: speedups 2 and 3.
TrainingEvaluation two_by_two() {
  TrainingEvaluation evaluation;
  for (const auto& [topology, plan, exposed] :
       {std::tuple{"A", "ring", 30}, std::tuple{"A", "tacos", 10}, std::tuple{"B", "ring", 80},
        std::tuple{"B", "tacos", 20}})
    evaluation.runs.push_back(
        samples::run_of(topology, plan, {account_of(Time{10 * us}, Time{exposed * us})}));
  return evaluation;
}

TrainingExpectation expectation(double paper) {
  TrainingExpectation e;
  e.label = "TACOS / Ring";
  e.of.plans = {"tacos"};
  e.over = TrainingSelection{};
  e.over->plans = {"ring"};
  e.paper = paper;
  return e;
}

Comparison compared(const TrainingExpectation& e, const TrainingEvaluation& evaluation) {
  return comparisons_of({&e, 1}, evaluation).at(0);
}

} // namespace

TEST_CASE("ratios pair runs that agree in all that isn't named") {
  const TrainingEvaluation evaluation = two_by_two();
  TrainingExpectation e = expectation(2);
  e.of.topologies = {"A"};
  e.over->topologies = {"A"};
  CHECK(quotients_of(e, evaluation.runs) == std::vector<Quotient>{{1, 0}});
  const Comparison match = compared(e, evaluation);
  CHECK(match.value == Approx(2));
  CHECK(match.agreement == Agreement::match);
  CHECK(match.ours == "2.00");

  e = expectation(2.5);
  CHECK(quotients_of(e, evaluation.runs) == std::vector<Quotient>{{1, 0}, {3, 2}});
  CHECK_THAT(compared(e, evaluation).explanation, ContainsSubstring("several runs"));
  e.summary = Summary::geometric_mean;
  const Comparison mean = compared(e, evaluation);
  CHECK(mean.value == Approx(std::sqrt(6)));
  CHECK(mean.ours == "2.45 (2.00 to 3.00)");
  CHECK(mean.agreement == Agreement::differs);
  e.tolerance = 0.03;
  CHECK(compared(e, evaluation).agreement == Agreement::match);
  e.summary = Summary::arithmetic_mean;
  e.tolerance = 0;
  CHECK(compared(e, evaluation).value == Approx(2.5));
  CHECK(compared(e, evaluation).agreement == Agreement::match);
  e.paper = 4;
  e.explanation = "why";
  CHECK(compared(e, evaluation).agreement == Agreement::differs_explained);
  e.at_most = true;
  CHECK(compared(e, evaluation).agreement == Agreement::match);
}

TEST_CASE("topologies that are both named make a ratio across networks") {
  TrainingExpectation e = expectation(1);
  e.of.plans = e.over->plans = {"ring"};
  e.of.topologies = {"A"};
  e.over->topologies = {"B"};
  CHECK(quotients_of(e, two_by_two().runs) == std::vector<Quotient>{{0, 2}});
}

TEST_CASE("metrics of a run") {
  TrainingRun run = samples::run_of(
      "A", "ring",
      {account_of(Time{60 * us}, Time{20 * us}, Time{10 * us}, Time{6 * us}, Time{4 * us}),
       account_of(Time{80 * us}, Time{0}, Time{20 * us})});
  run.workload.iterations = 2;
  run.workload.items = 1000;
  run.workload.flops = 3e9;
  run.workload.peak_flops = 1e14;
  const auto value = [&](const char* metric) {
    return value_of(run, parse_training_metric(metric));
  };
  CHECK(value("time") == Approx(50e6));
  CHECK(value("speed") == Approx(20'000));
  CHECK(value("throughput") == Approx(2e7));
  CHECK(value("utilisation") == Approx(6e9 / (2e14 * 100e-6)));
  CHECK(value("exposed") == Approx(12.5e6)); // 50 us of 200, of an iteration of 50
  CHECK(value("exposed:tensor") == Approx(7.5e6));
  CHECK(value("exposed_fraction") == Approx(0.25));
  CHECK(value("exposed_fraction:data") == Approx(0.1));
  CHECK(value("bubble_fraction") == Approx(0.03));
  CHECK(value("waiting_fraction") == Approx(0.02));
  CHECK(value("compute_fraction") == Approx(0.7));
  CHECK(value("hidden_fraction") == Approx(0)); // as much under way as exposed
  CHECK_FALSE(value("memory"));
  run.workload.memory = MemoryEstimate{Bytes{1}, Bytes{2}, Bytes{3}, Bytes{4}};
  CHECK(value("memory") == 10);
  run.workload.items = run.workload.flops = 0;
  CHECK_FALSE(value("throughput"));
  CHECK_FALSE(value("utilisation"));
  run.report.reset();
  CHECK_FALSE(value("time"));
}

TEST_CASE("metrics by name; bad ones are refused") {
  for (const char* text :
       {"speed", "time", "throughput", "utilisation", "exposed", "exposed:tensor",
        "exposed_fraction:expert", "bubble_fraction", "memory"})
    CHECK(to_text(parse_training_metric(text)) == text);
  CHECK_THAT(message_of([] { (void)parse_training_metric("sped"); }),
             ContainsSubstring("unknown metric \"sped\""));
  CHECK_THAT(message_of([] { (void)parse_training_metric("exposed:tenser"); }),
             ContainsSubstring("unknown purpose \"tenser\""));
  CHECK_THAT(message_of([] { (void)parse_training_metric("time:data"); }),
             ContainsSubstring("has no purposes"));
  CHECK_THAT(message_of([] { (void)parse_condition("broken"); }),
             ContainsSubstring("unknown condition"));
}

TEST_CASE("without a report there is no value, and the note says why") {
  TrainingEvaluation evaluation = two_by_two();
  evaluation.runs[1].report.reset();
  evaluation.runs[1].note = "it can't";
  TrainingExpectation e = expectation(2);
  e.of.topologies = {"A"};
  e.explanation = "whatever";
  const Comparison none = compared(e, evaluation);
  CHECK(std::isnan(none.value));
  CHECK(none.agreement == Agreement::differs);
  CHECK_THAT(none.explanation, ContainsSubstring("it can't"));
}

TEST_CASE("disturbed runs are picked only where they are named, and seeds go together") {
  TrainingEvaluation evaluation = two_by_two();
  evaluation.runs.resize(1);
  for (const std::uint64_t seed : {1U, 2U})
    for (const auto kind : {Condition::Kind::reroute, Condition::Kind::resynthesize}) {
      evaluation.runs.push_back(evaluation.runs[0]);
      evaluation.runs.back().condition = {kind, 1, seed};
    }
  TrainingExpectation e;
  e.of.conditions = {Condition::Kind::resynthesize};
  e.over = TrainingSelection{};
  CHECK(quotients_of(e, evaluation.runs) == std::vector<Quotient>{{2, 0}, {4, 0}});
  e.over->conditions = {Condition::Kind::reroute};
  CHECK(quotients_of(e, evaluation.runs) == std::vector<Quotient>{{2, 1}, {4, 3}});
}
