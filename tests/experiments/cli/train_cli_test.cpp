// `tutti train` as users meet it.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/command_answers.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/experiments/figures/trace_reading.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace train_cli_test {

using namespace tutti;
using Json = nlohmann::json;

namespace {

// Schedules are remembered in the test's own folder.
const std::string resnet = "train -t ring:4 --model resnet50 --npu v100 --precision fp16 "
                           "--micro-batch 32 --bucket 25MB --cache cache ";

std::string refusal(const std::string& arguments) {
  const TemporaryFolder folder;
  write_file(folder.file("two.txt"), "DATA\n1\na -1 10 NONE 0 0 NONE 0 40 ALLREDUCE 1000000 0\n");
  const CommandResult result = run_tutti(arguments + " --cache none", folder);
  INFO(arguments);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK(result.err.starts_with("tutti: "));
  return result.err;
}

Json without_seconds(Json json) {
  for (Json& run : json["runs"]) {
    run.erase("synthesis_seconds");
    run.erase("replay_seconds");
  }
  return json;
}

} // namespace

TEST_CASE("train: a model by two algorithms on both engines; again, from remembered schedules") {
  const TemporaryFolder folder;
  const std::string command = resnet + "-a ring,auto --engine both";
  Json json = json_of(command, folder), again = json_of(command, folder);
  REQUIRE(json["runs"].size() == 2);
  for (const Json& run : json["runs"]) {
    const Json& details = run["details"];
    CHECK(details["problem"].is_null());
    CHECK(run["items_per_s"] > 0);
    CHECK(run["flops_utilisation"] > 0);
    CHECK(run["flops_utilisation"] < 1);
    CHECK(details["report"]["npu_accounts"].size() == 4);
    for (const Json& account : details["report"]["npu_accounts"])
      CHECK(account["total_ps"] == run["duration_ps"]);
    CHECK(run["memory_bytes"] > 0);
    CHECK(details["workload"]["memory"]["total_bytes"] == run["memory_bytes"]);
    CHECK(run["engine"] == "native+simgrid");
  }
  CHECK(std::filesystem::exists(folder.file("cache")));

  for (Json* either : {&json, &again})
    for (Json& run : (*either)["runs"])
      for (Json& plan : run["details"]["plans"]) plan.erase("remembered");
  CHECK(without_seconds(again) == without_seconds(json));
}

TEST_CASE("train writes tables, figures, a timeline, a heat map and traces") {
  const TemporaryFolder folder;
  const CommandResult result =
      run_tutti(resnet + "-a ring --progress --out o --trace t.json --trace-npus 0+2 "
                         "--heatmap h.svg --export-chakra c/run",
                folder);
  INFO(result.err);
  REQUIRE(result.code == 0);
  CHECK_THAT(result.out, ContainsSubstring("images"));
  CHECK_THAT(result.err, ContainsSubstring("per iteration"));
  for (const char* file : {"o/training.csv", "o/training_npus.csv", "o/results.json", "h.svg",
                           "o/training.svg", "c/run.0.et", "c/run.3.et", "c/run.groups.json"}) {
    INFO(file);
    CHECK(std::filesystem::exists(folder.file(file)));
  }
  const trace_reading::Trace trace(Json::parse(read_file(folder.file("t.json"))));
  std::set<std::string> npus;
  for (const auto& [track, name] : trace.tracks) npus.insert(name.substr(0, name.find(' ')));
  CHECK(npus == std::set<std::string>{"npu0", "npu2"});
  CHECK_THAT(result.err, ContainsSubstring("t.json: left out: 2 of 4 NPUs"));

  CHECK(run_of("train -t ring:4 --chakra c/run -a ring --cache none", folder)["duration_ps"] ==
        run_of(resnet + "-a ring", folder)["duration_ps"]);
}

TEST_CASE("a timeline of training holds every run") {
  const TemporaryFolder folder;
  const Json runs =
      json_of(resnet + "--pipeline 2 --micro-batches 4 -a ring,direct --straggler npu1=0.5 "
                       "--failed-links 1 --trace t.json --trace-npus 0-3",
              folder)["runs"];
  REQUIRE(runs.size() == 8);
  const trace_reading::Trace trace(Json::parse(read_file(folder.file("t.json"))));
  CHECK(trace.left_out.empty());
  REQUIRE(trace.processes.size() == runs.size());
  for (int r = 0; r < 8; ++r) {
    INFO(runs[static_cast<std::size_t>(r)].at("algorithm") << ": " << trace.processes.at(r + 1));
    const Json& run = runs[static_cast<std::size_t>(r)];
    CHECK(trace.marks.at({r + 1, "iteration complete"}) == run["duration_ps"]);
    std::map<std::string, std::int64_t> computing;
    std::set<std::string> arrows, categories;
    for (const trace_reading::Slice& slice : trace.slices_of(r + 1)) {
      categories.insert(slice.category);
      if (slice.category == "compute")
        computing[trace.tracks.at({r + 1, slice.tid})] += slice.end - slice.begin;
    }
    for (const trace_reading::Arrow& arrow : trace.arrows_of(r + 1)) {
      arrows.insert(arrow.name);
      CHECK(trace.slice_at(r + 1, arrow.from_tid, arrow.leaves).begin <= arrow.lands);
      (void)trace.slice_at(r + 1, arrow.to_tid, arrow.lands);
    }
    for (int npu = 0; npu < 4; ++npu)
      CHECK(computing["npu" + std::to_string(npu) + " compute"] ==
            run["details"]["report"]["npu_accounts"][static_cast<std::size_t>(npu)]["compute_ps"]);
    CHECK(categories == std::set<std::string>{"compute", "communication"});
    CHECK(arrows == std::set<std::string>{"dependency", "message", "launch"});
  }
}

TEST_CASE("train: a text, with a straggler and a failed cable") {
  const TemporaryFolder folder;
  write_file(folder.file("two.txt"), "DATA\n2\na -1 10 NONE 0 0 NONE 0 40 ALLREDUCE 1000000 0\n"
                                     "b -1 20 NONE 0 0 NONE 0 30 ALLREDUCE 1000000 0\n");
  const Json runs =
      json_of("train -t mesh2d:2x2 --workload two.txt --unit us -a ring --straggler npu1=0.5 "
              "--failed-links 1 --cache none --engine both",
              folder)["runs"];
  REQUIRE(runs.size() == 4);
  CHECK(runs[0]["sum_compute_ps"] == 400'000'000);
  CHECK(runs[1]["condition"] == "disturbed");
  CHECK(runs[1]["sum_compute_ps"] == 500'000'000);
  CHECK(runs[2]["condition"] == "reroute");
  CHECK(runs[3]["condition"] == "resynthesize");
}

TEST_CASE("train: one communication at a time, and reductions that take time") {
  const TemporaryFolder folder;
  // Gradients of 1 MB each, all at once: on a ring of 4 either takes 6 steps of 250 kB.
  write_file(folder.file("two.txt"), "DATA\n2\na -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 1000000 0\n"
                                     "b -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 1000000 0\n");
  const std::string train =
      "train -t ring:4,bandwidth=50GB/s,latency=1us --workload two.txt --unit "
      "us -a ring1 --chunks 1 --cache none --engine both ";
  const auto made = [&](const std::string& options) { return json_of(train + options, folder); };
  const auto duration = [](const Json& json) {
    return json["runs"][0]["duration_ps"].get<std::int64_t>();
  };
  constexpr std::int64_t alone = 6 * (5'000'000 + 1'000'000);
  const Json usual = made("");
  CHECK(usual["runs"][0]["one_at_a_time"] == false);
  CHECK(usual["runs"][0]["reduce_rate_bytes_per_s"] == 0);
  CHECK(duration(usual) < 2 * alone); // one's latency hides behind the other
  const Json one = made("--one-at-a-time");
  CHECK(one["runs"][0]["one_at_a_time"] == true);
  CHECK(duration(one) == 2 * alone);
  // 3 x 250 kB at 750 GB/s are 1 us; half of the steps reduce.
  const Json reduced = made("--one-at-a-time --local-mem-bw 750GB/s");
  CHECK(reduced["runs"][0]["reduce_rate_bytes_per_s"] == 250'000'000'000);
  CHECK(duration(reduced) == 2 * (alone + 3 * 1'000'000));
  const CommandResult text = run_tutti(train + "--one-at-a-time --local-mem-bw 750GB/s", folder);
  CHECK_THAT(text.out, ContainsSubstring("forwarding auto, one communication of an NPU at a time, "
                                         "reductions at 250GB/s"));
  write_file(folder.file("e.toml"), R"(name = "e"
[topologies]
R = "ring:4,bandwidth=50GB/s,latency=1us"
[[training]]
label = "Two"
algorithms = ["ring1"]
chunks = 1
cache = "none"
one_at_a_time = true
local_mem_bw = "750GB/s"
workload = "two.txt"
unit = "us"
)");
  const CommandResult run = run_tutti("run e.toml", folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  const Json results = Json::parse(read_file(folder.file("out/e/results.json")));
  CHECK(duration(results) == duration(reduced));
}

TEST_CASE("an experiment with [[training]]: tables, figures, verdicts") {
  const TemporaryFolder folder;
  write_file(folder.file("e.toml"), R"(name = "e"
[topologies]
R = "ring:4"
[[training]]
label = "Small"
algorithms = ["ring", "direct"]
cache = "none"
model = "resnet50"
npu = "v100"
precision = "fp16"
[[training.expect]]
label = "ring / direct"
of = {algorithm = "ring"}
over = {algorithm = "direct"}
value = 1.0
tolerance = "99%"
)");
  const CommandResult result = run_tutti("run e.toml", folder);
  INFO(result.err);
  REQUIRE(result.code == 0);
  for (const char* file :
       {"training.csv", "training_npus.csv", "results.json", "verdicts.md", "training_small.svg",
        "training_small_normalized.svg", "training_small_links.svg"}) {
    INFO(file);
    CHECK(std::filesystem::exists(folder.file("out/e/" + std::string(file))));
  }
  const Json json = Json::parse(read_file(folder.file("out/e/results.json")));
  CHECK(json["runs"].size() == 2);
  CHECK(json["verdicts"].size() == 1);
}

TEST_CASE("train: who starts late, and draws of start times and links") {
  const TemporaryFolder folder;
  const Json json =
      json_of(resnet + "-a ring --engine both --start npu3=1ms --skew none,uniform:0.5x "
                       "--jitter bandwidth=5% --draws 4 --noise-seed 3",
              folder);
  REQUIRE(json["runs"].size() == 2);
  for (const Json& run : json["runs"]) {
    CHECK(run["note"] == "1 NPU starts late, npu3 last, at 1.000 ms");
    CHECK(run["draws"] == 4);
    CHECK(run["details"]["problem"].is_null());
    CHECK(run["details"]["report"]["npu_accounts"][3]["waiting_ps"] >= 1'000'000'000);
    CHECK(run["details"]["draws"]["last_start_ps"].size() == 4);
  }
  CHECK(json["runs"][1]["skew"] == "uniform:0.5x");
  CHECK(json["runs"][1]["time_p50_ps"] > json["runs"][0]["time_p50_ps"]);
}

TEST_CASE("train refuses bad input with a word that helps") {
  CHECK_THAT(refusal("train -t ring:4 -a ring"), ContainsSubstring("--model"));
  CHECK_THAT(refusal("train -t ring:4 -a ring --model resnet50"), ContainsSubstring("--npu"));
  CHECK_THAT(refusal("train -t ring:4 -a ring --model resnet51 --npu v100"),
             ContainsSubstring("resnet50"));
  CHECK_THAT(refusal("train -t ring:4 -a ring --workload two.txt"), ContainsSubstring("--unit"));
  CHECK_THAT(refusal("train -t ring:4 -a ring --workload two.txt --unit ns --zero 1"),
             ContainsSubstring("--zero: only a model"));
  CHECK_THAT(refusal("train -t ring:4 -a ring --chakra none/run"), ContainsSubstring("none/run"));
  const std::string model = "train -t ring:4 -a ring --model resnet50 --npu v100 --precision fp16 ";
  CHECK_THAT(refusal(model + "--local-mem-bw 2B/s"), ContainsSubstring("--local-mem-bw: 2B/s"));
  CHECK_THAT(refusal(model + "--local-mem-bw fast"), ContainsSubstring("--local-mem-bw"));
  CHECK_THAT(refusal(model + "--start npu4=1us"), ContainsSubstring("--start: "));
  CHECK_THAT(refusal(model + "--skew uniform:0.5x --straggler npu1=0.5"),
             ContainsSubstring("--skew: skew uniform:0.5x is times a lower bound"));
  CHECK_THAT(refusal(model + "--tensor 3"), ContainsSubstring("4 NPUs"));
  CHECK_THAT(refusal(model + "--data 3"), ContainsSubstring("4"));
  CHECK_THAT(refusal(model + "--pipeline 4 --zero 7"), ContainsSubstring("--zero"));
  CHECK_THAT(refusal(model + "--straggler npu9=0.5"), ContainsSubstring("npu9"));
  CHECK_THAT(refusal(model + "--straggler npu1=2"), ContainsSubstring("share"));
  CHECK_THAT(refusal(model + "--failed-links 1 --policy restart"),
             ContainsSubstring("--policy: ") && ContainsSubstring("restart"));
  CHECK_THAT(refusal(model + "--policy reroute"), ContainsSubstring("--failed-links"));
  CHECK_THAT(refusal(model + "--event at=1ms,npu_down=npu1 --events e.toml"),
             ContainsSubstring("--event and --events exclude each other"));
  CHECK_THAT(refusal(model + "--event at=1ms,npu_down=npu1"), ContainsSubstring("survive"));
  CHECK_THAT(refusal(model + "--heatmap h.gif"), ContainsSubstring(".svg, .pdf or .png"));
  CHECK_THAT(refusal(model + "--trace-npus 0"), ContainsSubstring("--trace"));
  CHECK_THAT(refusal(model + "--candidates dbt"), ContainsSubstring("auto"));
  CHECK_THAT(refusal(model + "--tenser 2"), ContainsSubstring("--tensor"));
  CHECK_THAT(refusal("train -t ring:4 --model resnet50 --npu v100 -a rign"),
             ContainsSubstring("ring"));
}

TEST_CASE("where nothing can be planned, the run fails with its reason") {
  const TemporaryFolder folder;
  const CommandResult result = run_tutti(
      "train -t ring:6 --model resnet50 --npu v100 --precision fp16 -a rhd --cache none", folder);
  CHECK(result.code == 1);
  CHECK_THAT(result.err, ContainsSubstring("power of two"));
}

TEST_CASE("lists of models and NPUs") {
  const CommandResult models = run_tutti("list models");
  CHECK(models.code == 0);
  CHECK_THAT(models.out, ContainsSubstring("resnet50"));
  CHECK(Json::parse(run_tutti("list npus --json").out)["runs"].size() >= 3);
}

TEST_CASE("train: under a transport, on both engines, and as long alone as a collective is") {
  const TemporaryFolder folder;
  const CommandResult result =
      run_tutti("train -t dgx_h100:2 --model gpt:layers=2,hidden=1024,heads=8,vocabulary=1000,"
                "sequence=512 --npu h100 --tensor 8 --pipeline 2 --micro-batches 2 -a nccl,ring "
                "--transport ideal,nccl --engine both --cache none --json",
                folder);
  INFO(result.err);
  REQUIRE(result.code == 0);
  std::map<std::pair<std::string, std::string>, Json> runs;
  const Json json = Json::parse(result.out);
  for (const Json& run : json["runs"]) {
    CHECK(run["details"]["problem"].is_null());
    runs[{run["algorithm"], run["transport"]}] = run;
  }
  REQUIRE(runs.size() == 4);
  for (const char* algorithm : {"nccl", "ring"}) {
    const Json& ideal = runs[{algorithm, "ideal"}];
    const Json& carried = runs[{algorithm, "nccl"}];
    CHECK(ideal["time_low_ps"].is_null());
    CHECK(carried["iteration_time_ps"] > ideal["iteration_time_ps"]);
    CHECK(carried["time_low_ps"] < carried["iteration_time_ps"]);
    CHECK(carried["time_high_ps"] > carried["iteration_time_ps"]);
    CHECK(carried["lower_bound_ps"] == ideal["lower_bound_ps"]); // of the hardware
    const std::size_t links = carried["details"]["report"]["links"].size();
    CHECK(links == ideal["details"]["report"]["links"].size()); // no lanes
    for (const Json& plan : carried["details"]["plans"]) {
      CHECK(plan["protocol"].is_string());
      if (plan["operation"] != "all_reduce" || plan["size_bytes"] != 1'048'576) continue;
      const Json alone = run_of("synth -t dgx_h100 -c all_reduce --size 1MiB --transport nccl -a " +
                                    std::string(algorithm),
                                folder);
      CHECK(alone["collective_time_ps"] == plan["alone_ps"]);
    }
  }
}

} // namespace train_cli_test
