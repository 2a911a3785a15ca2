// [[training]] in an experiment's file.
#include "experiments/driver/studies/training/evaluation.hpp"
#include "experiments/driver/studies/training/study.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/training/work.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"

#include <string>
#include <variant>

namespace training_reader_test {

using namespace tutti;

namespace {

const std::string head = R"(name = "e"
seed = 5
[topologies]
R = "ring:8"
M = "mesh2d:2x4"
)";
const std::string study = R"([[training]]
label = "Small"
algorithms = ["ring", "auto"]
)";
const std::string model = R"(model = "resnet50"
npu = "v100"
precision = "fp16"
)";

Experiment read(const std::string& body) { return parse_experiment(head + body, "e.toml"); }
std::string error_of(const std::string& body) { return experiment_error(head + body); }
const ModelWork& model_of(const TrainingStudy& read_study, std::size_t variant = 0) {
  return std::get<ModelWork>(read_study.variants.at(variant).work);
}

} // namespace

TEST_CASE("training with defaults") {
  const Experiment e = read(study + model);
  REQUIRE(e.studies.size() == 1);
  const TrainingStudy& small = std::get<TrainingStudy>(e.studies[0]);
  CHECK(small.label == "Small");
  CHECK(small.topologies == std::vector<std::size_t>{0, 1});
  REQUIRE(small.plans.size() == 2);
  CHECK(small.plans[0].algorithms.size() == 1);
  CHECK(small.plans[1].name == "auto");
  CHECK(small.plans[1].algorithms.size() == 5); // direct, ring, rhd, dbt, tacos
  CHECK(small.planning.options.seed == 5);
  CHECK(small.planning.chunks.empty());
  CHECK(small.engines == std::vector<const EngineRow*>{&find_engine("native")});
  CHECK(small.fold);
  REQUIRE(small.variants.size() == 1);
  CHECK(small.variants[0].name.empty());
  const ModelWork& work = model_of(small);
  CHECK(work.model.name == "resnet50");
  CHECK(work.npu.name == "v100");
  CHECK_FALSE(work.data);
  const TrainingSpec spec = spec_on(work, e.topologies[0].topology);
  CHECK(spec.data == 8); // what is left of the NPUs
  CHECK(spec.micro_batches == 1);
  CHECK(spec.precision == Precision::fp16); // a V100 has no bf16
  CHECK(conditions_of(small, 0) == std::vector<Condition>{{}});
}

TEST_CASE("training with everything said") {
  const Experiment e = read(R"([[training]]
label = "All"
topologies = "M"
algorithms = ["tacos", "auto"]
candidates = ["direct", "tacos"]
by_collective = {all_to_all = "direct"}
chunks = 2
engine = "both"
fold = false
cache = "none"
settings = {starts = "2"}
link_busy = "latency+serialization"
limit = "60s"
model = "gpt3_175b"
npu = "a100"
parallel = {tensor = 2, pipeline = 2, expert = 1, data = 2}
order = ["pipeline", "tensor", "expert", "data"]
dimensions = [1, 0]
precision = "fp16"
gradient_bytes = 4
micro_batch = 2
global_batch = 16
sequence = true
zero = 1
schedule = "interleaved"
model_parts = 2
recompute = "full"
bucket = "25MB"
overlap = false
in_order = true
priorities = {tensor = 7, data = 1}
stragglers = {npu3 = 0.5}
events = [{at = "50%", link_rate = "npu0>npu1", share = 0.5}]
failed_links = [1, 2]
seeds = [3, 4]
policies = "reroute"
reference = "tacos"
)");
  const TrainingStudy& all = *e.all<TrainingStudy>().at(0);
  CHECK(all.topologies == std::vector<std::size_t>{1});
  CHECK(all.plans[1].algorithms.size() == 2);
  CHECK(all.planning.by_collective.at("all_to_all").name == "direct");
  CHECK(all.planning.chunks == std::vector<std::uint32_t>{2});
  CHECK(all.cache.empty());
  CHECK(all.planning.options.limit_seconds == 60);
  CHECK(all.engines == all_engines());
  CHECK_FALSE(all.fold);
  CHECK(all.reference == "tacos");
  const TrainingSpec spec = spec_on(model_of(all), e.topologies[1].topology);
  CHECK(spec.tensor == 2);
  CHECK(spec.pipeline == 2);
  CHECK(spec.data == 2);
  CHECK(spec.order.front() == Parallelism::pipeline);
  CHECK(spec.dimensions == std::vector<std::uint32_t>{1, 0});
  CHECK(spec.precision == Precision::fp16);
  CHECK(spec.gradient_bytes == 4);
  CHECK(spec.micro_batch == 2);
  CHECK(spec.micro_batches == 4); // 16 samples on 2 replicas, 2 at once
  CHECK(spec.sequence);
  CHECK(spec.zero == 1);
  CHECK(spec.schedule == PipelineSchedule::interleaved);
  CHECK(spec.model_parts == 2);
  CHECK(spec.recompute == Recompute::full);
  CHECK(spec.bucket == Bytes{25'000'000});
  CHECK_FALSE(spec.overlap);
  CHECK(spec.in_order);
  CHECK(spec.priority[static_cast<std::size_t>(Purpose::tensor)] == 7);
  CHECK(spec.priority[static_cast<std::size_t>(Purpose::data)] == 1);
  CHECK(spec.priority[static_cast<std::size_t>(Purpose::pipeline)] == 0);
  CHECK(all.disturbances.stragglers.at(0).share == Share{500'000});
  using enum Condition::Kind;
  CHECK(conditions_of(all, 0) == std::vector<Condition>{{undisturbed, 0, 1},
                                                        {disturbed, 0, 1},
                                                        {reroute, 1, 3},
                                                        {reroute, 1, 4},
                                                        {reroute, 2, 3},
                                                        {reroute, 2, 4}});
}

TEST_CASE("variants have keys of their own before those of all") {
  const Experiment e = read(study + model + R"(micro_batches = 2
[[training.variants]]
name = "as it is"
[[training.variants]]
name = "batch"
global_batch = 64
[[training.variants]]
name = "other"
model = "bert_large"
parallel = {tensor = 2}
)");
  const TrainingStudy& small = *e.all<TrainingStudy>().at(0);
  REQUIRE(small.variants.size() == 3);
  CHECK(model_of(small, 0).spec.micro_batches == 2);
  CHECK_FALSE(model_of(small, 0).global_batch);
  CHECK(spec_on(model_of(small, 1), e.topologies[0].topology).micro_batches == 8);
  CHECK(model_of(small, 2).model.name == "bert_large");
  CHECK(model_of(small, 2).npu.name == "v100");
  CHECK(spec_on(model_of(small, 2), e.topologies[0].topology).data == 4);
}

TEST_CASE("a variant is for the networks that it names") {
  const Experiment e = read(study + model + R"(transport = ["ideal", "nccl"]
[[training.variants]]
name = "both"
[[training.variants]]
name = "one"
topologies = ["M"]
[[training.expect]]
label = "x"
of = {variant = "one", transport = "nccl", algorithm = "ring"}
value = 1
tolerance = "1%"
)");
  const TrainingStudy& small = std::get<TrainingStudy>(e.studies[0]);
  CHECK(small.case_count() == 3 * 2 * 2); // works, algorithms, transports
  REQUIRE(small.plans.size() == 4);
  CHECK(small.plans[0].transport_name() == "ideal");
  CHECK(small.plans[3].name == "auto");
  CHECK(small.plans[3].transport_name() == "nccl");
  const std::vector<TrainingNetwork> networks = small.own(e.topologies);
  std::vector<std::string> planned;
  for (const PlannedTraining& row : planned_rows(small, networks))
    if (row.plan.name == "ring")
      planned.push_back(row.network.label + " " + row.variant.name + " " +
                        row.plan.transport_name());
  CHECK(planned == std::vector<std::string>{"R both ideal", "R both nccl", "M both ideal",
                                            "M both nccl", "M one ideal", "M one nccl"});
}

TEST_CASE("what a transport doesn't know is refused before anything is planned") {
  const std::string under = study + model + "transport = \"nccl\"\n";
  CHECK(error_of(study + model + "transport = [\"nccl\", \"nccl\"]\n") ==
        "e.toml:12:22: transport nccl is named twice");
  CHECK(error_of(study + model + "transport = []\n").ends_with("the list is empty"));
  CHECK(error_of(study + model + "transport = \"mpi\"\n").find("mpi") != std::string::npos);
  CHECK(error_of(under + "link_busy = \"latency+serialization\"\n")
            .find("transport nccl: links are busy for serialization only") != std::string::npos);
  CHECK(error_of(under + "jitter = \"bandwidth=5%\"\ndraws = 3\n")
            .find("transport nccl: skews and jitter are drawn on ideal links only") !=
        std::string::npos);
  CHECK(error_of(under + "topologies = [\"R\"]\nevents = [{at = \"1ms\", link_rate = "
                         "\"npu0>npu1\", share = 0.5}]\n")
            .find("nobody has measured how it behaves under link_rate") != std::string::npos);
  CHECK(error_of(study + model +
                 "topologies = [\"R\"]\n[[training.variants]]\nname = \"v\"\n"
                 "topologies = [\"M\"]\n")
            .ends_with("it isn't among the topologies of its study"));
}

TEST_CASE("texts and traces") {
  const Experiment e = read(study + R"(
workload = "two.txt"
unit = "us"
passes = 3
model_group = 4
)");
  const auto& text = std::get<TextWork>(e.all<TrainingStudy>().at(0)->variants.at(0).work);
  CHECK(text.file == "two.txt");
  CHECK(text.options.unit == Time{1'000'000});
  CHECK(text.options.passes == 3);
  CHECK(text.options.model_group == 4U);
  const Experiment t = read(study + "trace = \"run\"\ngroups = \"g.json\"\n");
  const auto& trace = std::get<TraceWork>(t.all<TrainingStudy>().at(0)->variants.at(0).work);
  CHECK(trace.prefix == "run");
  CHECK(trace.options.groups == "g.json");
  CHECK(parse_time_unit("10ns") == Time{10'000});
  CHECK_FALSE(message_of([] { (void)parse_time_unit("0ns"); }).empty());
  CHECK_FALSE(message_of([] { (void)parse_time_unit("cycles"); }).empty());
}

TEST_CASE("expectations pick runs of the study") {
  const std::string expect = R"([[training.expect]]
label = "x"
value = 2.0
tolerance = "10%"
)";
  const Experiment e = read(study + model + expect + R"(of = {algorithm = "auto"}
over = {algorithm = "ring"}
summary = "geometric_mean"
[[training.expect]]
label = "y"
of = {algorithm = "ring", topology = "M"}
metric = "iteration_time"
at_most = "3ms"
explanation = "z"
)");
  const TrainingStudy& small = *e.all<TrainingStudy>().at(0);
  REQUIRE(small.expectations.size() == 2);
  CHECK(small.expectations[0].metric.name == "iterations_per_s");
  CHECK(small.expectations[0].summary == Summary::geometric_mean);
  CHECK(small.expectations[0].tolerance == Approx(0.1));
  CHECK(small.expectations[1].value == 3e9);
  CHECK(small.expectations[1].limit == Limit::at_most);
  REQUIRE(small.expectations[1].values.size() == 1);
  CHECK(small.expectations[1].values[0].over.empty());

  const std::string some = study + model + expect;
  const RefusalRows rows = {
      {"of = {algorithm = 'auto'}\n", "2 values are as asked for"},
      {"of = {algorithm = 'dbt'}\n", "unknown algorithm \"dbt\""},
      {"of = {condition = 'disturbed'}\n", "unknown condition \"disturbed\""},
      {"of = {run = 'x'}\n", "unknown key \"run\""},
      {"of = {algorithm = 'auto', topology = 'M'}\nmetric = 'algbw'\n", "unknown metric \"algbw\""},
      {"of = {algorithm = 'auto', topology = 'M'}\nmetric = 'time'\n",
       R"(metric "time" is called "iteration_time" now)"},
  };
  check_refusals([&](const std::string& more) { return error_of(some + more); }, rows);
}

TEST_CASE("bad training is refused with its place") {
  const RefusalRows rows = {
      {study, "e.toml:6:1: "},
      {study, R"("model", "workload" or "trace")"},
      {study + "model = 'resnet50'\n", "\"npu\""},
      {study + model + "workload = 'x'\n", R"("model" and "workload" exclude each other)"},
      {study + model + "unit = 'ns'\n", "e.toml:12:8: only a text has \"unit\""},
      {study + "workload = 'x'\n", "\"unit\""},
      {study + "model = 'resnet51'\nnpu = 'v100'\n", "e.toml:9:9: "},
      {study + "model = 'resnet50'\nnpu = 'v101'\n", "e.toml:10:7: "},
      {study + model + "parallel = {tensor = 3}\n", "doesn't divide the 8 NPUs"},
      {study + model + "parallel = {data = 3}\n", "e.toml:6:1: "},
      {study + model + "parallel = {tenser = 2}\n", "unknown key \"tenser\""},
      {study + model + "micro_batches = 2\nglobal_batch = 8\n", "exclude each other"},
      {study + model + "global_batch = 12\n", "a global batch of 12 isn't a multiple of 8"},
      {study + model + "zero = 4\n", "out of range"},
      {study + model + "priorities = {tensor = 8}\n", "out of range"},
      {study + model + "priorities = {tenser = 1}\n", "unknown purpose \"tenser\""},
      {study + model + "schedule = '2f2b'\n", "e.toml:12:12: "},
      {study + model + "candidate = 'ring'\n", "unknown key \"candidate\""},
      {"[[training]]\nlabel = 'x'\nalgorithms = 'ring'\ncandidates = 'dbt'\n" + model,
       "isn't asked for"},
      {"[[training]]\nlabel = 'x'\nalgorithms = ['ring', 'ring']\n" + model, "named twice"},
      {study + model + "settings = {startz = '1'}\n", "unknown setting"},
      {study + model + "by_collective = {all_to_nobody = 'direct'}\n", "all_to_nobody"},
      {study + model + "stragglers = {npu8 = 0.5}\n", "npu8"},
      {study + model + "stragglers = {npu1 = 1.5}\n", "out of range"},
      {study + model + "events = [{at = '1ms', npu_down = 'npu1'}]\n", "doesn't survive"},
      {study + model + "failed_links = 1\nat = '50%'\n", "\"at\" isn't for training"},
      {study + model + "policies = 'reroute'\n", R"("policies" needs "failed_links")"},
      {study + model + "failed_links = 1\npolicies = 'restart'\n",
       "reroute or resynthesize, not by restart"},
      {study + model + "reference = 'dbt'\n", "unknown algorithm \"dbt\""},
      {study + model + "[[training.variants]]\nname = 'a'\n[[training.variants]]\nname = 'a'\n",
       "there is a variant \"a\" already"},
      {study + model + "[[training.variants]]\nname = 'a'\nmodle = 'x'\n", "unknown key \"modle\""},
      {study + model + study + model, "would have the same files as \"Small\""},
  };
  check_refusals(error_of, rows);
}

} // namespace training_reader_test
