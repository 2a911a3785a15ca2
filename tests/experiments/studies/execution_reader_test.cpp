// [[executions]] in an experiment's file, and what becomes of its expectations.
#include "experiments/driver/studies/executions/columns.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "sim/random.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "tests/refusals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace execution_reader_test {

using namespace tutti;

namespace {

const std::string head = R"(name = "e"
[topologies]
R = "ring:6"
)";
const std::string minimal = R"([[executions]]
label = "Gather"
topology = "R"
collective = "all_gather"
algorithms = ["ring", "direct"]
)";

ExecutionStudy study_of(const std::string& rest) {
  return *parse_experiment(head + minimal + rest, "e.toml").all<ExecutionStudy>().at(0);
}

std::string error_in(const std::string& rest) { return experiment_error(head + minimal + rest); }

/// Measured over predicted: so many times 1 ms, at 1 kB, 10 kB, ...
ExecutionEvaluation evaluation_of(const std::vector<double>& ratios) {
  ExecutionEvaluation evaluation;
  std::int64_t size = 1000;
  for (const double ratio : ratios) {
    ExecutionRun run;
    run.algorithm = size == 1000 ? "ring" : "direct";
    run.size = Bytes{size};
    size *= 10;
    run.execution.emplace();
    run.execution->seconds = {ratio * 1e-3};
    run.predicted = {Time{1'000'000'000}};
    evaluation.runs.push_back(run);
  }
  return evaluation;
}

} // namespace

TEST_CASE("an execution with every default") {
  const Experiment e = parse_experiment(head + minimal, "e.toml");
  REQUIRE(e.studies.size() == 1);
  const ExecutionCase c = e.all<ExecutionStudy>().at(0)->complete(e.topologies);
  CHECK(c.label == "Gather");
  CHECK(c.topology == &e.topologies[0].topology);
  CHECK(c.backend->name == "cpu");
  CHECK(c.emulated);
  CHECK(c.predicted_by == PredictedBy::profile);
  CHECK(c.sizes.size() == 5); // 1, 2, 4, 8, 16 MiB
  CHECK_FALSE(c.chunks);
  CHECK(c.request.type == runtime::ElementType::float32);
  CHECK(c.request.repetitions == 5);
  CHECK(c.lowering.instances == 1);
}

TEST_CASE("every key of an execution") {
  const ExecutionStudy study = study_of(R"(sizes = ["1kB", "2kB"]
chunks = 3
backend = "cuda"
links = "real"
predicted_by = "nothing"
type = "int32"
op = "max"
instances = 4
in_place = true
copy_per_step = true
repetitions = 7
warmups = 0
watchdog = "2s"
link_busy = "latency+serialization"
[[executions.expect]]
label = "x"
of = {size = "2kB..", algorithm = "direct"}
summary = "error"
at_most = 0.25
explanation = "y"
)");
  const ExecutionCase& c = study.execution;
  CHECK(c.sizes == std::vector{Bytes{1000}, Bytes{2000}});
  CHECK(c.chunks == 3U);
  CHECK(c.backend->name == "cuda");
  CHECK_FALSE(c.emulated);
  CHECK(c.predicted_by == PredictedBy::nothing);
  CHECK(c.request.type == runtime::ElementType::int32);
  CHECK(c.request.combine == runtime::Combine::max);
  CHECK(c.lowering.instances == 4);
  CHECK(c.lowering.in_place);
  CHECK(c.request.copy_per_step);
  CHECK(c.request.repetitions == 7);
  CHECK(c.request.warmups == 0);
  CHECK(c.request.watchdog_seconds == 2);
  CHECK(c.options.model.link_busy == LinkBusy::latency_and_serialization);
  REQUIRE(study.expectations.size() == 1);
  CHECK(study.expectations[0].metric.name == "measured_over_predicted");
  CHECK(study.expectations[0].summary == Summary::error);
  CHECK(study.expectations[0].limit == Limit::at_most);
  CHECK(study.expectations[0].value == 0.25);
  CHECK(study.expectations[0].values == std::vector<Quotient>{{{3}, {}}}); // the last of 2 x 2
}

TEST_CASE("what is wrong with an execution is said with its place") {
  CHECK_THAT(error_in("backend = \"gpu\""), Catch::Matchers::StartsWith("e.toml:9:11: unknown"));
  CHECK_THAT(error_in("links = \"fast\""), ContainsSubstring("e.toml:9:9"));
  CHECK_THAT(error_in("predicted_by = \"hope\""), ContainsSubstring("e.toml:9:16"));
  CHECK_THAT(error_in("type = \"half\""), ContainsSubstring("e.toml:9:8"));
  CHECK_THAT(error_in("repetitions = 0"), ContainsSubstring("e.toml:9:15"));
  CHECK_THAT(error_in("passes = 0"), ContainsSubstring("e.toml:9:10"));
  CHECK_THAT(error_in("profile_sizes = [\"1MiB\"]"), ContainsSubstring("two sizes or more"));
  const std::string expect = "[[executions.expect]]\nlabel = \"x\"\nsummary = \"error\"\n";
  const RefusalRows rows = {
      {"at_most = 1\nrepeats_within = 0.1", "2 \"passes\" or more"},
      {"at_most = 0", "e.toml:12:11"},
      {"at_most = 1\nof.algorithm = 'tacos'", "unknown algorithm \"tacos\""},
      {"error_at_most = 1", R"("error_at_most" is now summary = "error" with "at_most")"},
      {"at_most = 1\nof.size = '2MB..1MB'", "no size is in \"2MB..1MB\""},
  };
  check_refusals([&](const std::string& more) { return error_in(expect + more); }, rows);
  CHECK_THAT(error_in("speed = 3"), ContainsSubstring("unknown key \"speed\""));
}

TEST_CASE("whether ratios repeat needs predictions") {
  CHECK_THAT(
      error_in("passes = 2\npredicted_by = \"nothing\"\n[[executions.expect]]\nlabel = \"x\"\n"
               "metric = \"measured\"\nat_most = \"1s\"\nsummary = \"largest\"\n"
               "repeats_within = 0.5\n"),
      ContainsSubstring("it is of ratios to predictions"));
}

TEST_CASE("half of the sizes are fitted, and the others expected") {
  const ExecutionStudy half = study_of(R"(sizes = ["1MiB..8MiB"]
fit = "half"
[[executions.expect]]
label = "x"
of = {fitted = false}
summary = "error"
at_most = 0.1
)");
  CHECK(half.execution.fits_half);
  CHECK_FALSE(study_of("").execution.fits_half);
  CHECK(error_in("fit = \"half\"\npredicted_by = \"topology\"\n") ==
        "e.toml:9:7: it is of the profiled network, which \"predicted_by\" doesn't take");
  CHECK(error_in("fit = \"half\"\nsizes = [\"1MiB\"]\n") ==
        "e.toml:9:7: half of the sizes, and the last: there have to be three or more");
  CHECK(error_in("fit = \"all\"\n").find("half") != std::string::npos);
}

TEST_CASE("a size's factor is the mean of its fitted runs, and lies between its neighbours'") {
  ExecutionEvaluation evaluation = evaluation_of({2, 3, 8, 1, 0.5});
  evaluation.runs.push_back(evaluation.runs[0]); // by another algorithm, 8 times as long
  evaluation.runs.back().execution->seconds = {8e-3};
  for (ExecutionRun& run : evaluation.runs) run.fitted = run.size != Bytes{10'000};
  evaluation.runs[3].fitted = false;
  const SizeFactors factors(evaluation.runs);
  CHECK(factors.fitted().size() == 3);
  CHECK(factors.at(Bytes{1000}) == Approx(4));               // of 2 and 8
  CHECK(factors.at(Bytes{100'000}) == Approx(8));            // its own
  CHECK(factors.at(Bytes{10'000}) == Approx(std::sqrt(32))); // half way
  CHECK(factors.at(Bytes{1'000'000}) == Approx(2));          // half way from 8 to 0.5
  CHECK(factors.at(Bytes{10}) == Approx(4));
  CHECK(factors.at(Bytes{1'000'000'000}) == Approx(0.5));
  // Runs that are fitted say nothing of how good predictions are.
  CHECK(*prediction_error(evaluation) == Approx(std::exp((std::log(3) + 0) / 2) - 1));
  CHECK(SizeFactors({}).empty());
}

TEST_CASE("the error of predictions is a geometric mean, either way") {
  const ExecutionEvaluation evaluation = evaluation_of({4, 0.5, 2});
  CHECK(*prediction_error(evaluation) == Approx(std::cbrt(16.0) - 1));
  CHECK(*prediction_error(evaluation, Bytes{10'000}) == Approx(1));
  CHECK_FALSE(prediction_error(evaluation, Bytes{1'000'000}));
}

namespace {

/// The error of these rows' predictions.
Expectation error_of_rows(const std::vector<std::size_t>& rows, double at_most) {
  Expectation expectation;
  expectation.label = "x";
  expectation.metric = metric_column("measured_over_predicted", columns_of<ExecutionStudy>());
  for (const std::size_t row : rows) expectation.values.push_back({{row}, {}});
  expectation.summary = Summary::error;
  expectation.limit = Limit::at_most;
  expectation.value = at_most;
  return expectation;
}

Comparison compared(const Expectation& expectation, const ExecutionEvaluation& evaluation) {
  return compare({&expectation, 1}, execution_records(evaluation)).at(0);
}

} // namespace

TEST_CASE("an expected error is an upper limit, and none without a measurement differs") {
  const ExecutionEvaluation evaluation = evaluation_of({1.2, 1.1});
  const auto agreement = [&](const std::vector<std::size_t>& rows, double error) {
    return compared(error_of_rows(rows, error), evaluation).agreement;
  };
  CHECK(agreement({0, 1}, 0.2) == Agreement::match);
  CHECK(agreement({0, 1}, 0.1) == Agreement::unexpected);
  CHECK(agreement({1}, 0.11) == Agreement::match);
  CHECK(agreement({2}, 1) == Agreement::unexpected); // there is none
}

TEST_CASE("an error is judged only where ratios repeat themselves, and within its sizes") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const auto part = [&random] { return static_cast<double>(random.below(1000)) / 1000; };
    ExecutionEvaluation evaluation = evaluation_of({1.2, 1.1});
    double widest = 0;
    for (ExecutionRun& run : evaluation.runs) {
      const double first = 0.8 + part(), factor = 1 + part() / 4;
      run.ratios = {first, first * factor, first * (1 + (factor - 1) * part())};
      random.shuffle(run.ratios);
      widest = std::max(widest, factor - 1);
    }
    Expectation expected = error_of_rows({0, 1}, 0.5);
    const auto agreement = [&] { return compared(expected, evaluation).agreement; };
    const Agreement whatever_repeats = agreement();
    CHECK(whatever_repeats != Agreement::not_judged);
    expected.repeats_within = widest + 1e-9;
    CHECK(agreement() == whatever_repeats);
    expected.repeats_within = widest - 1e-9;
    CHECK(agreement() == Agreement::not_judged);
    expected.repeats_within = 1;
    evaluation.runs[1].ratios.resize(1); // which can't say
    CHECK(agreement() == Agreement::not_judged);
    expected.values.pop_back(); // the other doesn't count
    CHECK(agreement() != Agreement::not_judged);
  }
}

TEST_CASE("what ours is known to be doesn't stand for what wasn't measured") {
  ExecutionEvaluation evaluation = evaluation_of({1.2, 1.1});
  Expectation expected = error_of_rows({0, 1}, 0.1);
  expected.ours = {0.149, 0.01};
  CHECK(compared(expected, evaluation).agreement == Agreement::differs);
  evaluation.runs[1].execution.reset();
  evaluation.runs[1].note = "it didn't divide";
  CHECK(compared(expected, evaluation).agreement == Agreement::unexpected);
  CHECK_THAT(compared(expected, evaluation).explanation, ContainsSubstring("it didn't divide"));
}

TEST_CASE("a share of the device's copy rate is a lower limit") {
  ExecutionEvaluation evaluation = evaluation_of({1, 1});
  evaluation.runs[0].execution->bytes_moved = 1'000'000; // in 1 ms
  evaluation.runs[1].execution->bytes_moved = 3'000'000;
  evaluation.runs[1].execution->memory_bytes = 4'000'000;
  CHECK_FALSE(best_rate_share(evaluation));
  evaluation.copy_rate = 4e9;
  CHECK(best_rate_share(evaluation)->sent == Approx(0.75));
  CHECK(best_rate_share(evaluation)->memory == Approx(0.5)); // a copy reads and writes
  Expectation expected = error_of_rows({0, 1}, 0.7);
  expected.metric = metric_column("copy_rate_fraction", columns_of<ExecutionStudy>());
  expected.summary = Summary::largest;
  expected.limit = Limit::at_least;
  CHECK(compared(expected, evaluation).agreement == Agreement::match);
  expected.value = 0.8;
  CHECK(compared(expected, evaluation).agreement == Agreement::unexpected);
}

TEST_CASE("what a device has no memory for is a row that says so, and the others run") {
  const std::string text = head + minimal + "sizes = [\"6KiB\", \"12KiB\", \"18KiB\"]\n";
  const Experiment experiment = parse_experiment(text, "e.toml");
  const runtime::Executor run_small = [](const runtime::Program& program,
                                         const runtime::ExecutionRequest& request) {
    if (request.size == Bytes{12 << 10}) throw InputError("too little memory on GPU 0");
    return runtime::run_on_cpu(program, request);
  };
  const BackendRow small{"small", run_small, run_small, [] { return std::string(); },
                         []() -> double { throw InputError("too little memory to copy"); }};
  ExecutionCase c = experiment.all<ExecutionStudy>().at(0)->complete(experiment.topologies);
  c.backend = &small;
  c.emulated = false;
  c.predicted_by = PredictedBy::nothing;
  c.measures_copy_rate = true;
  Refusals refusals;
  const ExecutionEvaluation made = evaluate_execution(c, {}, refusals);
  REQUIRE(made.runs.size() == 6);
  for (const ExecutionRun& run : made.runs) {
    const bool fits = run.size != Bytes{12 << 10};
    CHECK((run.measured() > 0) == fits);
    CHECK(run.note == (fits ? "" : "too little memory on GPU 0"));
    CHECK(run.problem.empty());
  }
  CHECK(made.copy_rate_note == "too little memory to copy");
}

} // namespace execution_reader_test
