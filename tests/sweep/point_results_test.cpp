#include "experiments/driver/sweep/space/point_results.hpp"

#include "sim/error.hpp"
#include "tests/catch.hpp"

#include <map>

namespace point_results_test {

using namespace tutti;
using namespace tutti::sweep;
using Catch::Matchers::Contains;

namespace {

PointResults results_of(const std::string& toml, std::map<std::string, Value> known = {}) {
  const ExperimentTemplate made(parse_config(toml, "sweep.toml"), "sweep.toml");
  return evaluate_point(
      made, [&known](const std::string& name) { return known.at(name); }, 1, "");
}

const std::string ring_of_4 = R"(topologies = {net = "ring:4,bandwidth=1GB/s,latency=1us"}
[[runs]]
collectives = ["all_gather"]
sizes = ["${size}"]
algorithms = ["${algorithm}"]
engine = "native"
)";

void check_columns(const PointResults& results, const std::string& kind) {
  std::size_t known = 0;
  for (const ResultColumn& column : result_columns(kind))
    known += results.numbers.count(column.name);
  CHECK(known == results.numbers.size());
}

} // namespace

TEST_CASE("statuses have names that parse back") {
  for (const PointStatus status :
       {PointStatus::pending, PointStatus::running, PointStatus::done, PointStatus::infeasible,
        PointStatus::unsupported, PointStatus::refused, PointStatus::timed_out,
        PointStatus::out_of_memory, PointStatus::crashed, PointStatus::defect})
    CHECK(status_words.parse(to_text(status)) == status);
  CHECK_THROWS_AS(status_words.parse("finished"), InputError);
}

TEST_CASE("a run comes to seconds and bytes per second") {
  // Two rings at once: 3 steps, each half a shard of 1 MB at 1 GB/s and 1 us.
  const PointResults results =
      results_of(ring_of_4, {{"size", text_value("4MB")}, {"algorithm", text_value("ring")}});
  CHECK(results.status == PointStatus::done);
  CHECK(results.numbers.at("collective_time_s") == Approx(3 * (0.5e-3 + 1e-6)));
  CHECK(results.numbers.at("algbw_bytes_per_s") == Approx(4e6 / (3 * (0.5e-3 + 1e-6))));
  CHECK(results.numbers.at("gap") ==
        Approx(results.numbers.at("collective_time_s") / results.numbers.at("lower_bound_s")));
  CHECK(results.numbers.at("max_link_utilisation") <= 1);
  CHECK(results.cpu_seconds >= 0);
  CHECK(results.peak_bytes > 0);
  check_columns(results, "runs");
}

TEST_CASE("what can't be done is a status with a reason") {
  const auto with = [](const char* size, const char* algorithm) {
    return results_of(ring_of_4,
                      {{"size", text_value(size)}, {"algorithm", text_value(algorithm)}});
  };
  CHECK(with("4MB", "rhd").status == PointStatus::done);
  const PointResults unsupported = with("4MB", "astra");
  CHECK(unsupported.status == PointStatus::unsupported);
  CHECK_THAT(unsupported.message, Contains("system file"));
  const PointResults unknown = with("4MB", "rung");
  CHECK(unknown.status == PointStatus::refused);
  CHECK_THAT(unknown.message, Contains("sweep.toml:5:") && Contains("ring"));
  CHECK(with("2B", "ring").status != PointStatus::done);
  const PointResults several = with("1KiB..4KiB", "ring");
  CHECK(several.status == PointStatus::refused);
  CHECK_THAT(several.message, Contains("this has 3 cases"));
}

TEST_CASE("what has no schedule at all is told from what an algorithm doesn't do") {
  const auto with = [](const char* algorithm) {
    return results_of(R"(topologies = {net = "ring:4,without-link=npu0>npu1+npu2>npu1"}
[[runs]]
topologies = ["net"]
collectives = ["all_gather"]
algorithms = ["${algorithm}"]
)",
                      {{"algorithm", text_value(algorithm)}});
  };
  for (const char* algorithm : {"ring", "rhd", "tacos"}) {
    const PointResults results = with(algorithm);
    CHECK(results.status == PointStatus::infeasible);
    CHECK_THAT(results.message, Contains("npu1"));
  }
}

TEST_CASE("a collective through a failure, and an iteration of training") {
  const PointResults failures = results_of(R"(topologies = {net = "torus2d:3x3"}
[[failures]]
label = "one cable"
topology = "net"
collective = "all_gather"
algorithms = ["tacos"]
size = "9MB"
policies = ["resynthesize"]
failed_links = ["${failed}"]
)",
                                           {{"failed", number_value(1)}});
  CHECK(failures.status == PointStatus::done);
  CHECK(failures.numbers.at("complete") == 1);
  CHECK(failures.numbers.at("slowdown") >= 1);
  CHECK(failures.numbers.at("slowdown") == Approx(failures.numbers.at("collective_time_s") /
                                                  failures.numbers.at("undisturbed_time_s")));
  check_columns(failures, "failures");

  const PointResults training = results_of(R"(topologies = {net = "ring:4"}
[[training]]
label = "ResNet-50"
algorithms = ["ring"]
model = "resnet50"
npu = "v100"
precision = "fp16"
micro_batch = "${batch}"
)",
                                           {{"batch", number_value(8)}});
  CHECK(training.message.empty());
  CHECK(training.status == PointStatus::done);
  CHECK(training.numbers.at("iteration_time_s") >= training.numbers.at("lower_bound_s"));
  CHECK(training.numbers.at("items_per_s") ==
        Approx(4 * 8 / training.numbers.at("iteration_time_s")));
  CHECK(training.numbers.at("memory_bytes") > 1e8);
  check_columns(training, "training");
}

TEST_CASE("every kind of study can be swept") {
  const std::string one = "topologies = {net = \"mesh2d:2x2\"}\n";
  const std::string sweep = "label = \"one\"\ntopology = \"net\"\n";
  const PointResults jobs = results_of(one + "[[jobs]]\n" + sweep + R"(algorithms = ["ring"]
job = [{name = "A", collective = "all_gather", size = "4MB"},
  {name = "B", collective = "all_reduce", size = "4MB"}]
)");
  CHECK(jobs.message.empty());
  CHECK(jobs.status == PointStatus::done);
  CHECK(jobs.numbers.at("makespan_s") >= jobs.numbers.at("collective_time_s"));
  CHECK(jobs.numbers.at("slowdown") >= jobs.numbers.at("mean_slowdown"));
  check_columns(jobs, "jobs");

  const PointResults frontier = results_of(one + "[[frontiers]]\n" + sweep +
                                           "collective = \"all_gather\"\nsizes = \"1MiB\"\n");
  CHECK(frontier.status == PointStatus::done);
  CHECK(frontier.numbers.at("collective_time_s") >= frontier.numbers.at("lower_bound_s"));
  check_columns(frontier, "frontiers");

  const PointResults executions = results_of(one + "[[executions]]\n" + sweep +
                                             "collective = \"all_gather\"\nsizes = \"64KiB\"\n"
                                             "algorithms = \"ring\"\nrepetitions = 1\n"
                                             "predicted_by = \"topology\"\n");
  CHECK(executions.message.empty());
  CHECK(executions.status == PointStatus::done);
  CHECK(executions.numbers.at("measured_seconds") > 0);
  CHECK(executions.numbers.at("wrong") == 0);
  check_columns(executions, "executions");

  const PointResults bounds = results_of(one + "[[bounds]]\nlabel = \"one\"\nchunks = [1, 5]\n"
                                               "collectives = \"all_gather\"\nsizes = \"1MiB\"\n"
                                               "algorithms = [\"ring\", \"tacos\"]\n");
  CHECK(bounds.status == PointStatus::done);
  CHECK(bounds.numbers.at("gap") ==
        Approx(bounds.numbers.at("collective_time_s") / bounds.numbers.at("lower_bound_s")));
  CHECK(bounds.numbers.contains("lower_bound_at_1_s"));
  CHECK_FALSE(bounds.numbers.contains("lower_bound_at_5_s")); // not every sweep has it
  check_columns(bounds, "bounds");

  const PointResults two = results_of(one + "[[jobs]]\n" + sweep + R"(algorithms = ["ring", "dbt"]
job = [{name = "A", collective = "all_gather"}]
)");
  CHECK(two.status == PointStatus::refused);
  CHECK_THAT(two.message, Contains("this has 2 cases"));
}

} // namespace point_results_test
