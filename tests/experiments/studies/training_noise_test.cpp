// Start times and noise in training: by hand where NPUs differ in their start alone, by which the
// whole iteration of two NPUs (training_samples.hpp) moves.
#include "experiments/driver/studies/training/evaluation.hpp"

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/study.hpp"
#include "experiments/driver/studies/training/columns.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/records/cells.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "tests/experiments/studies/training_samples.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace training_noise_test {

using namespace tutti;
using samples::us;

namespace {

constexpr Time alone{121 * us}; // of an iteration, all there at once

TrainingEvaluation evaluated(const TrainingStudy& study, const Topology& topology) {
  const TrainingNetwork network{"pair", &topology};
  return evaluate_training(study, {&network, 1});
}

TrainingStudy noisy_study(const TemporaryFolder& folder, const std::vector<std::string>& skews,
                          std::uint32_t draws = 20) {
  TrainingStudy study =
      samples::study_of(samples::text_work(folder), {"direct"}, {&find_engine("native")});
  study.noise.skews.clear();
  for (const std::string& skew : skews) add_skew(study.noise.skews, skew);
  study.noise.draws = draws;
  return study;
}

/// All that files hold, but for seconds.
std::string files_of(TrainingEvaluation evaluation) {
  for (TrainingRun& run : evaluation.runs) run.planning_seconds = run.run_seconds = 0;
  std::string text;
  for (const std::vector<std::string>& row : csv_rows(training_records(evaluation)))
    for (const std::string& cell : row) text += cell + ",";
  return text + training_details(evaluation, NpuDetail::all).dump();
}

const std::string head = "name = \"e\"\n[topologies]\nR = \"ring:2\"\nS = \"ring:4\"\n"
                         "[[training]]\nalgorithms = [\"ring\", \"direct\"]\nmodel = \"resnet50\"\n"
                         "npu = \"v100\"\nprecision = \"fp16\"\nchunks = 1\ncache = \"none\"\n";

} // namespace

TEST_CASE("an NPU that starts late moves the iteration, and waits until then") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  TrainingStudy study = samples::study_of(samples::text_work(folder), {"direct"}, all_engines());
  study.noise.starts = {"npu1=10us"};
  study.disturbances.stragglers = {{"npu1", Share{500'000}}};
  const TrainingEvaluation evaluation = evaluated(study, topology);
  CHECK(problems_of(evaluation).empty());
  REQUIRE(evaluation.runs.size() == 2);
  const TrainingRun& run = evaluation.runs[0];
  CHECK(run.report->duration == Time{10 * us} + alone);
  for (const TimeAccount& account : run.report->accounts)
    CHECK(account == samples::account_of(Time{100 * us}, Time{21 * us}, {}, {}, Time{10 * us}));
  CHECK(run.bound == Time{110 * us});
  CHECK(run.note == "1 NPU starts late, npu1 last, at 10.00 us");
  CHECK(run.noises.empty());
  CHECK(evaluation.runs[1].report->duration == Time{10 * us + 200 * us + 21 * us});
}

TEST_CASE("draws of start times: what is left after the last start is the iteration") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  const TrainingStudy study = noisy_study(folder, {"none", "uniform:20us", "uniform:0.5x"});
  const TrainingEvaluation evaluation = evaluated(study, topology);
  CHECK(problems_of(evaluation).empty());
  const TrainingRun& run = evaluation.runs.at(0);
  CHECK(run.report->duration == alone);
  REQUIRE(run.noises.size() == 3);
  CHECK(run.noises[0].draws.size() == 1); // nothing is drawn
  CHECK(run.noises[0].draws[0].time == alone);
  for (std::size_t s = 1; s < 3; ++s) {
    const NoiseOutcome& noise = run.noises[s];
    CHECK(noise.quiet == alone);
    REQUIRE(noise.draws.size() == 20);
    for (const Draw& draw : noise.draws) CHECK(draw.time - draw.last_start == alone);
    CHECK(noise.time_at(0) > alone);
    CHECK(noise.time_at(1) <= alone + (s == 1 ? Time{20 * us} : Time{50 * us})); // of 100 us
  }
  CHECK(run.noises[2].time_at(1) > alone + Time{20 * us});
}

TEST_CASE("any number of threads, and a draw alone, give the same bytes") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  TrainingStudy study = noisy_study(folder, {"uniform:20us", "exponential:5us"}, 30);
  study.noise.jitter = parse_jitter("bandwidth=5%,latency=10%");
  study.noise.jitter_text = "bandwidth=5%,latency=10%";
  study.disturbances.stragglers = {{"npu1", Share{500'000}}};
  study.draw_threads = 1;
  const TrainingEvaluation one = evaluated(study, topology);
  CHECK(problems_of(one).empty());
  study.draw_threads = 3;
  const TrainingEvaluation three = evaluated(study, topology);
  CHECK(files_of(one) == files_of(three));
  study.noise.draws = 1;
  CHECK(evaluated(study, topology).runs.at(1).noises.at(1).draws.at(0).time ==
        one.runs.at(1).noises.at(1).draws.at(0).time);
  // Links differ: what is left after the last start isn't the same any more.
  const NoiseOutcome& noise = one.runs.at(0).noises.at(0);
  CHECK(noise.after_last_start_at(0) < noise.after_last_start_at(1));
}

TEST_CASE("rows of draws: one for each skew, in tables, records and details") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  TrainingStudy study = noisy_study(folder, {"none", "uniform:20us"}, 5);
  study.plans.push_back({"ring", {find_algorithm("ring")}});
  const TrainingEvaluation evaluation = evaluated(study, topology);
  const Records records = training_records(evaluation);
  REQUIRE(records.rows.size() == 4);
  CHECK(cell_of(records, 1, "skew").text() == "uniform:20us");
  CHECK(cell_of(records, 1, "draws").whole() == 5);
  CHECK(cell_of(records, 1, "time_p50_ps").whole() > alone.ps);
  CHECK(cell_of(records, 1, "duration_ps").whole() == alone.ps);
  CHECK_FALSE(cell_of(records, 1, "critical_cause").is_known());
  CHECK(cell_of(records, 3, "algorithm").text() == "ring");
  const auto details = training_details(evaluation, NpuDetail::all);
  REQUIRE(details.size() == 4);
  CHECK(details[1]["draws"]["time_ps"].size() == 5);
  CHECK_FALSE(training_details(evaluation, NpuDetail::none)[1].contains("draws"));
  const std::string text = training_text(evaluation);
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("\nunder noise, all iterations: jitter none, seed 1, 5 draws\n"
                                     "algorithm  skew "));
  CHECK_THAT(text, ContainsSubstring("\ndirect     none ") &&
                       ContainsSubstring("\nring       uniform:20us "));
  const TrainingEvaluation quiet =
      evaluated(samples::study_of(samples::text_work(folder), {"direct"}, {&find_engine("native")}),
                topology);
  CHECK_THAT(training_text(quiet), !ContainsSubstring("under noise"));
  CHECK(training_records(quiet).columns.size() + 14 == records.columns.size());
}

TEST_CASE("a draw that can't be is a note, and the run without noise stands") {
  const TemporaryFolder folder;
  const Topology topology = samples::two_npus();
  TrainingStudy study = noisy_study(folder, {"uniform:1ms"});
  // After the iteration, and in the middle of one that starts late.
  study.disturbances.events = {parse_event_file(
      "[[events]]\nat = \"130us\"\nlink_down = \"npu0-npu1\"\n", "e.toml", topology)};
  const TrainingEvaluation evaluation = evaluated(study, topology);
  CHECK(problems_of(evaluation).empty());
  const TrainingRun& run = evaluation.runs.at(1);
  CHECK(run.report);
  CHECK(run.noises.empty());
  INFO(run.note);
  CHECK_THAT(run.note, ContainsSubstring("no draws: draws of skew uniform:1ms: "));
  CHECK(training_records(evaluation).rows.size() == 2);
}

TEST_CASE("training with noise: its keys, rows that are expected, and their places") {
  const std::string keys = "starts = [\"npu1=3us\"]\nskews = [\"none\", \"uniform:5us\"]\n"
                           "jitter = \"bandwidth=5%\"\nnoise_seed = 7\ndraws = 3\n";
  const std::string expect =
      "[[training.expect]]\nlabel = \"E\"\nof = {algorithm = \"direct\", topology = \"S\"";
  const Experiment e = parse_experiment(
      head + keys + "stragglers = {npu1 = 0.5}\n" + expect +
          "}\nmetric = \"duration\"\nat_least = \"1ns\"\n" + expect +
          ", condition = \"disturbed\", skew = \"uniform:5us\"}\nmetric = \"time_p50\"\n"
          "at_least = \"1ns\"\n",
      "e.toml");
  const TrainingStudy& study = *e.all<TrainingStudy>().at(0);
  CHECK(study.noise.starts == std::vector<std::string>{"npu1=3us"});
  CHECK(study.noise.seed == 7);
  CHECK(study.noise.draws == 3);
  CHECK(study.case_count() == 8);
  // By topology, algorithm, condition and skew; the first condition and skew where none is named.
  CHECK(study.expectations.at(0).values == std::vector<Quotient>{{{12}, {}}});
  CHECK(study.expectations.at(1).values == std::vector<Quotient>{{{15}, {}}});
  Interrupts interrupts;
  Refusals refusals;
  const StudyResult result = run_study(study, {.networks = e.topologies,
                                               .interrupts = interrupts,
                                               .refusals = refusals,
                                               .name = "e",
                                               .cache = ""});
  CHECK(result.defects.empty());
  const Records& records = result.files.front().records;
  REQUIRE(records.rows.size() == 16);
  CHECK(result.comparisons.at(0).value ==
        static_cast<double>(cell_of(records, 12, "duration_ps").whole()));
  CHECK(result.comparisons.at(1).value ==
        static_cast<double>(cell_of(records, 15, "time_p50_ps").whole()));
}

TEST_CASE("bad starts and noise of training are refused in words") {
  const auto error = [](const std::string& keys) { return experiment_error(head + keys); };
  CHECK_THAT(error("starts = [\"npu3=1us\"]\n"), ContainsSubstring("npu3")); // of R
  CHECK_THAT(error("starts = [\"npu1=-1us\"]\n"), ContainsSubstring("is negative"));
  CHECK_THAT(error("starts = [\"npu1=5000000s\"]\n"),
             ContainsSubstring("e.toml:") && ContainsSubstring("is out of range"));
  CHECK_THAT(error("starts = [\"npu1=1us\", \"npu1=2us\"]\n"), ContainsSubstring("given twice"));
  CHECK_THAT(error("draws = 5\n"), ContainsSubstring("nothing is drawn"));
  CHECK_THAT(error("skews = [\"normal\"]\n"), ContainsSubstring("needs a scale"));
  CHECK_THAT(error("skews = [\"uniform:0.5x\"]\nstragglers = {npu1 = 0.5}\n"),
             ContainsSubstring("e.toml:") &&
                 ContainsSubstring("skew uniform:0.5x is times a lower bound, and of a run that is "
                                   "disturbed none is known"));
  CHECK(error("skews = [\"uniform:0.5x\"]\n") == "");
  const std::string ring = "S = \"ring:4\"";
  std::string switched = head;
  switched.replace(switched.find(ring), ring.size(), "S = \"switch:2\"");
  CHECK_THAT(experiment_error(switched + "topologies = [\"S\"]\nstarts = [\"switch0=1us\"]\n"),
             ContainsSubstring("switch0 is no NPU, so it can't start late"));
}

} // namespace training_noise_test
