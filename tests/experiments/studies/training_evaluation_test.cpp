// Iterations from a text to their accounts, with times by hand (training_samples.hpp).
#include "experiments/driver/studies/training/evaluation.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/training/columns.hpp"
#include "experiments/driver/studies/training/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/training_samples.hpp"
#include "tests/message_of.hpp"

#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace training_evaluation_test {

using namespace tutti;
using samples::us;

namespace {

TrainingEvaluation evaluated(const TrainingStudy& study, const Topology& topology) {
  const TrainingNetwork network{"pair", &topology};
  return evaluate_training(study, {&network, 1});
}

constexpr auto data = static_cast<std::size_t>(Purpose::data);

} // namespace

TEST_CASE("two layers on two NPUs: computing, and what is exposed, on both engines") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  const TrainingStudy study =
      samples::study_of(samples::text_work(folder), {"direct"}, all_engines());
  const TrainingEvaluation evaluation = evaluated(study, topology);
  CHECK(problems_of(evaluation).empty());
  REQUIRE(evaluation.runs.size() == 1);
  const TrainingRun& run = evaluation.runs[0];
  REQUIRE(run.report);
  CHECK(run.report->duration == Time{121 * us});
  CHECK(run.iteration_time() == Time{121 * us});
  for (const TimeAccount& account : run.report->accounts)
    CHECK(account == samples::account_of(Time{100 * us}, Time{21 * us}));
  for (const auto& communication : run.report->communication)
    CHECK(communication[data] == Time{42 * us});
  CHECK(hidden_part(*run.report) == Approx(0.5));
  CHECK(run.bound == Time{100 * us});
  CHECK(run.items_per_second() == 0);      // a text doesn't say what it trains
  REQUIRE(run.communications.size() == 1); // both have one size
  CHECK(run.communications[0].alone == Time{21 * us});
  CHECK(run.communications[0].size == Bytes{1'000'000});
}

TEST_CASE("several iterations: the time is of one") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  const TrainingStudy study =
      samples::study_of(samples::text_work(folder, 3), {"direct"}, {&find_engine("native")});
  const TrainingRun run = evaluated(study, topology).runs.at(0);
  REQUIRE(run.report);
  CHECK(run.workload.iterations == 3);
  CHECK(run.report->accounts[0].compute == Time{300 * us});
  CHECK(run.iteration_time() == Time{run.report->duration.ps / 3});
}

TEST_CASE("a straggler makes the others wait") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  TrainingStudy study = samples::study_of(samples::text_work(folder), {"direct"}, all_engines());
  study.disturbances.stragglers = {{"npu1", Share{500'000}}};
  const TrainingEvaluation evaluation = evaluated(study, topology);
  CHECK(problems_of(evaluation).empty());
  REQUIRE(evaluation.runs.size() == 2);
  CHECK(evaluation.runs[0].report->duration == Time{121 * us});
  CHECK(evaluation.runs[1].condition.kind == Condition::Kind::disturbed);
  const IterationReport& slow = *evaluation.runs[1].report;
  CHECK(slow.duration == Time{221 * us});
  CHECK(slow.accounts[1] == samples::account_of(Time{200 * us}, Time{21 * us}));
  CHECK(slow.accounts[0].compute == Time{100 * us});
  CHECK(slow.accounts[0].total() == Time{221 * us});
  CHECK(busiest_npu(slow) == NodeId{1});
}

TEST_CASE("events at fractions of the undisturbed iteration") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  TrainingStudy study = samples::study_of(samples::text_work(folder), {"direct"}, all_engines());
  // At half of 121 us, 60.5: b's All-Reduce has begun at 60 and goes on at half the rate.
  EventPlan plan;
  for (const std::uint32_t link : {0U, 1U})
    plan.events.push_back({{{}, 500'000},
                           {.at = {},
                            .kind = NetworkEvent::Kind::link_rate,
                            .link = LinkId{link},
                            .share = Share{500'000}},
                           {}});
  study.disturbances.events = {plan};
  const TrainingEvaluation evaluation = evaluated(study, topology);
  CHECK(problems_of(evaluation).empty());
  REQUIRE(evaluation.runs.size() == 2);
  // a's All-Reduce of two steps at 25 GB/s: 100 + 2 (0.5 + 20)
  CHECK(evaluation.runs[1].report->duration == Time{141 * us});
}

TEST_CASE("events that contradict each other are a row, and the others go on") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  // The only plan; at a tenth of the iteration, 12.1 us, the link is down since 12 us.
  const auto event = [](EventTime at) {
    return PlannedEvent{
        at, {.at = {}, .kind = NetworkEvent::Kind::link_down, .link = LinkId{0}}, {}};
  };
  TrainingStudy study =
      samples::study_of(samples::text_work(folder), {"direct"}, {&find_engine("native")});
  EventPlan plan;
  plan.events = {event({Time{12 * us}, {}}), event({{}, 100'000})};
  study.disturbances.events = {plan};
  const TrainingEvaluation evaluation = evaluated(study, topology);
  CHECK(problems_of(evaluation).empty());
  REQUIRE(evaluation.runs.size() == 2);
  CHECK(evaluation.runs[0].report);
  CHECK(evaluation.runs[1].condition.kind == Condition::Kind::disturbed);
  CHECK_FALSE(evaluation.runs[1].report);
  CHECK_THAT(evaluation.runs[1].note, ContainsSubstring("it is down since 12us"));
}

TEST_CASE("a training without enough memory is a row, wherever it runs out") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  const TrainingNetwork network{"pair", &topology};
  TrainingStudy study =
      samples::study_of(samples::text_work(folder), {"direct", "ring"}, {&find_engine("native")});
  study.disturbances.stragglers = {{"npu1", Share{500'000}}};
  std::size_t stages = 0;
  study.planning.options.stage = [&](std::string_view, const WorkProgress&) {
    ++stages;
    return false;
  };
  (void)evaluate_training(study, {&network, 1});
  const std::size_t all = stages;
  REQUIRE(all > 3);
  for (std::size_t last = 0; last < all; ++last) { // memory ends there, and comes back
    stages = 0;
    study.planning.options.stage = [&](std::string_view, const WorkProgress&) {
      if (stages++ == last) throw std::bad_alloc();
      return false;
    };
    const TrainingEvaluation evaluation = evaluate_training(study, {&network, 1});
    std::size_t without = 0;
    for (const TrainingRun& run : evaluation.runs) {
      CHECK(run.report.has_value() == run.note.empty());
      if (run.report) continue;
      ++without;
      CHECK_THAT(run.note, ContainsSubstring("memory"));
    }
    CHECK(without >= 1);
    CHECK(evaluation.runs.size() >= 2); // of both plans
  }
}

TEST_CASE("what an algorithm can't plan is a note, and the others go on") {
  const TemporaryFolder folder;
  const Topology topology = samples::ring(3);
  const TrainingStudy study =
      samples::study_of(samples::text_work(folder), {"rhd", "direct"}, {&find_engine("native")});
  const TrainingEvaluation evaluation = evaluated(study, topology);
  REQUIRE(evaluation.runs.size() == 2);
  CHECK_FALSE(evaluation.runs[0].report);
  CHECK_THAT(evaluation.runs[0].note, ContainsSubstring("power of two"));
  CHECK(evaluation.runs[1].report);
  CHECK(problems_of(evaluation).empty());
  CHECK(has_report(evaluation));
}

TEST_CASE("a failed cable: around it, and planned anew") {
  const TemporaryFolder folder;
  const Topology topology = samples::ring(4);
  TrainingStudy study = samples::study_of(samples::text_work(folder), {"ring"}, all_engines());
  EventPlan plan;
  plan.failed_links = {1};
  study.disturbances.events = {plan};
  const TrainingEvaluation evaluation = evaluated(study, topology);
  CHECK(problems_of(evaluation).empty());
  REQUIRE(evaluation.runs.size() == 3);
  CHECK(to_text(evaluation.runs[1].condition) == "reroute, 1 failed link, seed 1");
  CHECK(to_text(evaluation.runs[2].condition) == "resynthesize, 1 failed link, seed 1");
  for (const TrainingRun& run : evaluation.runs) {
    INFO(run.note);
    REQUIRE(run.report);
    CHECK(run.report->duration >= evaluation.runs[0].report->duration);
  }
}

TEST_CASE("the same study, the same figures; cancelled, what is left isn't begun") {
  const TemporaryFolder folder;
  const Topology topology = samples::ring(4);
  TrainingStudy study =
      samples::study_of(samples::text_work(folder), {"tacos", "ring"}, {&find_engine("native")});
  const TrainingEvaluation first = evaluated(study, topology), second = evaluated(study, topology);
  REQUIRE(first.runs.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const IterationReport &one = *first.runs[i].report, &other = *second.runs[i].report;
    CHECK(one.duration == other.duration);
    CHECK(one.accounts == other.accounts);
    CHECK(one.communication == other.communication);
    CHECK(one.spans == other.spans);
  }
  study.planning.options.cancelled = [] { return true; };
  CHECK(evaluated(study, topology).runs.empty());
}

TEST_CASE("accounts that don't add up are told") {
  const TrainingRun run = samples::run_of("pair", "ring",
                                          {samples::account_of(Time{7}, Time{3}), //
                                           samples::account_of(Time{5}, Time{2}, Time{}, Time{3})});
  CHECK(account_problem(*run.report).empty());
  IterationReport other = *run.report;
  other.accounts[1].bubble = Time{2};
  CHECK_THAT(account_problem(other), ContainsSubstring("npu1 add up to 9ps, not to 10ps"));
  other = *run.report;
  other.communication[0][data] = Time{2};
  CHECK_THAT(account_problem(other), ContainsSubstring("npu0 waits longer for data"));
  CHECK(summed_accounts(*run.report) == samples::account_of(Time{12}, Time{5}, Time{}, Time{3}));
}

TEST_CASE("an iteration is no shorter than what an NPU computes, and than a plan's bound") {
  Workload workload;
  workload.programs.resize(2);
  Operation operation;
  operation.amount = 30;
  workload.programs[0].add(operation, {});
  for (int i = 0; i < 3; ++i) workload.programs[1].add(operation, {});
  workload.places = {{0, {}}, {1, {}}};
  CHECK(IterationBound(workload, {}).time() == Time{90});
  const std::vector<Time> starts{Time{70}, Time{}, Time{80}};
  CHECK(IterationBound(workload, {}).time(starts) == Time{100});
  PlannedCommunication planned;
  planned.bound = Time{91};
  CHECK(IterationBound(workload, {&planned, 1}).time() == Time{91});
}

TEST_CASE("require_sound makes workloads and finds stragglers") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  const TrainingNetwork network{"pair", &topology};
  TrainingStudy study = samples::study_of(samples::text_work(folder), {"ring"}, all_engines());
  require_sound(study, {&network, 1});
  study.disturbances.stragglers = {{"npu7", Share{500'000}}};
  CHECK_THAT(message_of([&] { require_sound(study, {&network, 1}); }), ContainsSubstring("npu7"));
  study.disturbances.stragglers.clear();
  study.variants[0] = {"broken", TextWork{folder.file("none.txt"), {Time{us}, 1, {}}}};
  CHECK_THAT(message_of([&] {
               require_sound(study, {&network, 1});
             }),
             ContainsSubstring("variant \"broken\": "));
}

} // namespace training_evaluation_test
