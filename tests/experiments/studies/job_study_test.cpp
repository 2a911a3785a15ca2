// Several jobs on one network, with times by hand: a = 0.5 us latency, 1 MB takes D = 20 us.
#include "experiments/driver/studies/jobs/columns.hpp"
#include "experiments/driver/studies/jobs/study.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace job_study_test {

using namespace tutti;

namespace {

constexpr std::int64_t a = 500'000, D = 20'000'000; // ps
constexpr Bytes megabyte{1'000'000};

Topology pair() { return samples::wired("pair", 2, {{0, 1}}); }

Job broadcast(const std::string& name, JobTiming timing = {}) {
  return {name, "broadcast", megabyte, 1, timing, std::nullopt};
}

JobStudy study_of(std::vector<Job> jobs, const std::vector<JobPlan>& plans) {
  JobStudy study;
  study.jobs = std::move(jobs);
  study.plans = plans;
  study.engines = all_engines();
  return study;
}

PlanEvaluation evaluated(std::vector<Job> jobs, const Topology& topology) {
  const JobStudy study = study_of(std::move(jobs), {{find_algorithm("direct"), false}});
  const JobStudyEvaluation evaluation = evaluate_jobs(study, "pair", topology);
  CHECK(problems_of(evaluation).empty());
  return evaluation.plans.at(0);
}

} // namespace

TEST_CASE("two equal jobs on one link: the first listed goes first") {
  const PlanEvaluation plan = evaluated({broadcast("A"), broadcast("B")}, pair());
  REQUIRE(plan.jobs.size() == 2);
  CHECK(plan.jobs[0].alone == Time{D + a});
  CHECK(plan.jobs[1].alone == Time{D + a});
  CHECK(plan.jobs[0].in_company == Time{D + a});
  CHECK(plan.jobs[1].in_company == Time{2 * D + a});
  CHECK(plan.makespan == Time{2 * D + a});
  CHECK(plan.jobs[0].slowdown() == 1);
  CHECK(plan.mean_slowdown == Approx(std::sqrt(static_cast<double>(2 * D + a) / (D + a))));
}

TEST_CASE("under a transport a job alone takes what it takes by itself") {
  const Topology topology = make_topology("dgx_h100:1,npus=4");
  JobStudy study = study_of({{"A", "all_gather", megabyte, 1, {}, std::nullopt}},
                            {{find_algorithm("direct"), false}});
  study.transport = parse_transport("nccl");
  const JobStudyEvaluation made = evaluate_jobs(study, "x", topology);
  CHECK(problems_of(made).empty());
  Case c;
  c.topology = &topology;
  c.collective = {{"all_gather"}, megabyte};
  c.algorithm = find_algorithm("direct");
  c.transport = study.transport;
  c.engine = &find_engine("native");
  CHECK(made.plans.at(0).jobs.at(0).alone == evaluate(c).replays.at(0).report.completion);
}

TEST_CASE("a higher priority goes first, but nothing is interrupted") {
  const PlanEvaluation together = evaluated({broadcast("A"), broadcast("B", {Time{}, 1})}, pair());
  CHECK(together.jobs[0].in_company == Time{2 * D + a});
  CHECK(together.jobs[1].in_company == Time{D + a});

  const PlanEvaluation later =
      evaluated({broadcast("A"), broadcast("B", {Time{D / 2}, 7})}, pair());
  CHECK(later.jobs[0].in_company == Time{D + a});
  CHECK(later.jobs[1].in_company == Time{D + D / 2 + a}); // from its start on
  CHECK(later.makespan == Time{2 * D + a});
}

TEST_CASE("jobs that start late wait for nobody's list") {
  // B's only transfer stands before A's in any fair mixture; A must not wait for B's start.
  const PlanEvaluation plan =
      evaluated({broadcast("B", {Time{10 * D}, 0}), broadcast("A")}, pair());
  CHECK(plan.jobs[0].in_company == Time{D + a});
  CHECK(plan.jobs[1].in_company == Time{D + a});
  CHECK(plan.makespan == Time{11 * D + a});
}

TEST_CASE("disjoint groups don't disturb each other, planned apart or together") {
  TopologyParts parts = samples::npus("two pairs", 4);
  for (const std::uint32_t n : {0U, 1U, 2U}) parts.add_duplex(samples::link(n, n + 1));
  const Topology topology(std::move(parts));
  Job left{"left", "all_reduce,group=0-1", megabyte, 1, {}, std::nullopt};
  Job right{"right", "all_gather,group=2-3", megabyte, 1, {}, std::nullopt};
  const JobStudy study =
      study_of({left, right}, {{find_algorithm("ring"), false}, {find_algorithm("tacos"), true}});
  const JobStudyEvaluation evaluation = evaluate_jobs(study, "two pairs", topology);
  CHECK(problems_of(evaluation).empty());
  for (const PlanEvaluation& plan : evaluation.plans) {
    REQUIRE(plan.jobs.size() == 2);
    CHECK(plan.jobs[0].slowdown() == 1);
    CHECK(plan.jobs[1].slowdown() == 1);
  }
  CHECK(evaluation.plans[1].plan == "tacos, together");
}

TEST_CASE("what a plan can't make is said, and the others go on") {
  const JobStudy study =
      study_of({{"A", "all_gather,group=0-2", megabyte, 1, {}, std::nullopt}},
               {{find_algorithm("rhd"), false}, {find_algorithm("direct"), false}});
  TopologyParts parts = samples::npus("three", 3);
  parts.add_duplex(samples::link(0, 1));
  parts.add_duplex(samples::link(1, 2));
  const JobStudyEvaluation evaluation = evaluate_jobs(study, "three", Topology(std::move(parts)));
  CHECK(evaluation.plans[0].jobs.empty());
  CHECK(evaluation.plans[0].note == "A: rhd needs a power of two of NPUs, not 3");
  CHECK(evaluation.plans[1].jobs.size() == 1);
  CHECK(problems_of(evaluation).empty());

  const std::string text = jobs_text(evaluation);
  CHECK_THAT(text, ContainsSubstring("three (3 NPUs), 1 jobs"));
  CHECK_THAT(text, ContainsSubstring("rhd: A: rhd needs a power of two of NPUs, not 3"));
  const auto rows = csv_rows(job_records(evaluation));
  REQUIRE(rows.size() == 3);
  for (const auto& row : rows) CHECK(row.size() == rows.front().size());
  const auto json = runs_json("jobs", job_records(evaluation), job_details(evaluation));
  REQUIRE(json.size() == 2);
  CHECK(json[0]["status"] == "unsupported");
  CHECK(json[0]["makespan_ps"].is_null());
  CHECK(json[1]["slowdown"] == 1.0);
  CHECK(json[1]["details"]["chunks_chosen"] == false);
  CHECK_NOTHROW(job_figure(evaluation));
}

TEST_CASE("a job that the topology can't hold is named") {
  const JobStudy study = study_of({{"far", "all_gather,group=0-5", megabyte, 1, {}, std::nullopt}},
                                  {{find_algorithm("direct"), false}});
  CHECK_THAT(message_of([&] { require_sound(study, pair()); }), ContainsSubstring("job \"far\": "));
}

} // namespace job_study_test
