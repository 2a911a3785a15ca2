// The command as users meet it: exit codes, messages, JSON keys, files.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/experiments/figures/trace_reading.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace tutti;
using Json = nlohmann::json;

namespace {

// Runs a command that must fail with code 2 and leave nothing on stdout; its message.
std::string refusal(const std::string& arguments) {
  const CommandResult result = run_tutti(arguments);
  INFO(arguments);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK(result.err.starts_with("tutti: "));
  return result.err;
}

Json json_of(const std::string& arguments, const TemporaryFolder& folder) {
  const CommandResult result = run_tutti(arguments + " --json", folder);
  INFO(arguments);
  INFO(result.err);
  REQUIRE(result.code == 0);
  return Json::parse(result.out);
}

Json json_of(const std::string& arguments) { return json_of(arguments, TemporaryFolder()); }

const std::string ring_synth = "synth -t ring:4 -c all_gather -a ring1 --size 4kB --chunks 1";

/// 10 us one way, nothing back: over 6,000 of the epochs in which teccl counts.
constexpr const char* slow_one_way = R"(npus = 2
[[links]]
from = 0
to = 1
directed = true
bandwidth = "100GB/s"
latency = "10us"
[[links]]
from = 1
to = 0
directed = true
bandwidth = "100GB/s"
latency = "0s"
)";

} // namespace

TEST_CASE("synth --json has the promised keys, and ring1's time on a 4-ring") {
  const Json json = json_of(ring_synth);
  for (const char* key : {"algorithm",
                          "topology",
                          "collective",
                          "npus",
                          "chunks",
                          "transfers",
                          "redundant",
                          "status",
                          "synthesis_seconds",
                          "verify_seconds",
                          "replay_seconds",
                          "bound_seconds",
                          "peak_rss_bytes",
                          "verified",
                          "planned_time_ps",
                          "planned_on",
                          "attempts",
                          "collective_time_ps",
                          "lower_bound_ps",
                          "gap",
                          "lower_bound_at_chunks_ps",
                          "gap_at_chunks",
                          "algbw_bytes_per_s",
                          "engine",
                          "link_busy"}) {
    INFO(key);
    CHECK(json.contains(key));
  }
  // 3 steps of 0.5 us + 1000 B / 50 GB/s; two hops to the far side are a bound for whole chunks,
  // and for half of the far chunk from each side
  CHECK(json["collective_time_ps"] == 3 * 520'000);
  CHECK(json["lower_bound_at_chunks_ps"] == 2 * 520'000);
  CHECK(json["gap_at_chunks"] == 1.5);
  CHECK(json["lower_bound_ps"] == 1'010'000);
  CHECK(json["gap"] == Approx(1.56 / 1.01));
  CHECK(json["algorithm"] == "ring1");
  CHECK(json["topology"] == "ring:4");
  CHECK(json["collective"] == "all_gather");
  CHECK(json["npus"] == 4);
  CHECK(json["transfers"] == 12);
  CHECK(json["verified"] == true);
  CHECK(json["engine"] == "native");
  CHECK(json["link_busy"] == "serialization");
  CHECK(json["peak_rss_bytes"] > 1 << 20);
}

TEST_CASE("synth knows the time models, engines and disciplines") {
  // busy for alpha + n/B: the arrivals are the same, no link is used twice without a pause
  CHECK(json_of(ring_synth + " --link-busy latency+serialization")["link_busy"] ==
        "latency+serialization");
  const Json both = json_of(ring_synth + " --discipline fifo,fluid");
  CHECK(both["engine"] == "simgrid"); // native knows no fluid sharing
  REQUIRE(both["replays"].size() == 2);
  CHECK(both["replays"][1]["discipline"] == "fluid");
  CHECK(both["replays"][0]["collective_time_ps"] == 1'560'000);
  CHECK(both["replays"][1]["collective_time_ps"] == 1'560'000); // nothing to share
  const Json simgrid = json_of(ring_synth + " --engine simgrid");
  CHECK(simgrid["engine"] == "simgrid");
  CHECK(simgrid["collective_time_ps"] == 1'560'000);
}

TEST_CASE("synth takes all algorithms, ranges of sizes and several collectives") {
  const Json all = json_of("synth -t ring:6 -c all_reduce -a all --size 1MB --jobs 2");
  REQUIRE(all.is_array());
  bool refused = false;
  for (const Json& row : all) {
    INFO(row.dump());
    CHECK(row["problem"].is_null());
    CHECK((row["verified"] == true || row["status"] == "infeasible"));
    if (row["algorithm"] == "rhd") {
      refused = true;
      CHECK(row["status"] == "infeasible");
      CHECK(row["note"] == "rhd needs a power of two of NPUs, not 6");
      CHECK(row["collective_time_ps"].is_null());
    }
  }
  CHECK(refused);

  const Json sizes = json_of("synth -t ring:4 -c all_gather -a ring,tacos --size 1KiB..5KiB");
  std::vector<std::int64_t> bytes;
  for (const Json& row : sizes) bytes.push_back(row["size_bytes"]);
  CHECK(bytes == std::vector<std::int64_t>{1024, 1024, 2048, 2048, 4096, 4096, 5120, 5120});

  const Json two = json_of("synth -t ring:8 -c all_gather,group=0-3 -c broadcast,root=5,group=4-7 "
                           "-a direct --size 1MB");
  CHECK(two["collective"] == "all_gather,group=0-3 + broadcast,root=5,group=4-7");
  CHECK(two["size_bytes"] == 2'000'000);
  CHECK(two["verified"] == true);
}

TEST_CASE("an algorithm that refuses costs its own row only, in all commands") {
  const TemporaryFolder folder;
  write_file(folder.file("pair.toml"), slow_one_way);
  const std::string on_pair = " -t pair.toml -c all_gather --size 300B -a ";
  const Json rows = json_of("synth" + on_pair + "all", folder);
  std::size_t verified = 0;
  for (const Json& row : rows) {
    INFO(row.dump());
    verified += row["verified"] == true ? 1U : 0U;
    if (row["algorithm"] != "teccl") continue;
    CHECK(row["status"] == "infeasible");
    CHECK_THAT(row["note"].get<std::string>(), ContainsSubstring("a chunk is under way for"));
  }
  CHECK(verified >= 10);
  const CommandResult alone = run_tutti("synth" + on_pair + "teccl", folder);
  CHECK(alone.code == 2);
  CHECK_THAT(alone.err, ContainsSubstring("a chunk is under way for"));
  const std::string event = " --event 'at=50%,link_rate=npu0>npu1,share=0.5' --policy report";
  const Json failures = json_of("failures" + on_pair + "direct,teccl" + event, folder);
  CHECK(failures[0]["verified"] == true);
  CHECK_THAT(failures[1]["note"].get<std::string>(), ContainsSubstring("a chunk is under way for"));
  CHECK(run_tutti("failures" + on_pair + "teccl" + event, folder).code == 2);
  write_file(folder.file("jobs.toml"), R"(algorithms = ["teccl", "direct"]
[[job]]
name = "one"
collective = "all_gather"
size = "300B"
)");
  const CommandResult jobs = run_tutti("jobs -t pair.toml jobs.toml", folder);
  INFO(jobs.out << jobs.err);
  CHECK(jobs.code == 0);
  CHECK_THAT(jobs.out, ContainsSubstring("a chunk is under way for"));
}

TEST_CASE("a study that refuses costs its own rows only in an experiment") {
  const TemporaryFolder folder;
  write_file(folder.file("pair.toml"), slow_one_way);
  const auto execution = [](const std::string& algorithm) {
    return "[[executions]]\nlabel = \"" + algorithm +
           "\"\ntopology = \"pair\"\ncollective = \"all_gather\"\nsizes = [\"304B\"]\n"
           "algorithms = [\"" +
           algorithm + "\"]\npredicted_by = \"nothing\"\nrepetitions = 1\n";
  };
  const std::string head = "name = \"few\"\ntitle = \"few\"\n[topologies]\npair = \"pair.toml\"\n";
  write_file(folder.file("some.toml"), head + execution("teccl") + execution("direct"));
  const CommandResult some = run_tutti("run some.toml --json", folder);
  INFO(some.out << some.err);
  CHECK(some.code == 1);
  CHECK_THAT(some.err, ContainsSubstring("nothing ran: teccl") &&
                           ContainsSubstring("a chunk is under way for"));
  const Json executions = Json::parse(some.out)["executions"];
  REQUIRE(executions.size() == 2);
  CHECK(executions[0]["runs"][0]["note"].is_string());
  CHECK(executions[1]["runs"][0]["note"].is_null());
  write_file(folder.file("none.toml"), head + execution("teccl"));
  CHECK(run_tutti("run none.toml", folder).code == 2);
}

namespace {

/// A study of each kind that one algorithm, or one network, refuses.
struct RefusingStudy {
  std::string key;   ///< in the results
  std::string toml;  ///< with a row that is refused and one that isn't
  std::string alone; ///< with nothing but what is refused
};

std::string study_of_kind(const std::string& kind, const std::string& algorithms) {
  const std::string one = " = \"all_gather\"\n", some = " = [" + algorithms + "]\n";
  if (kind == "runs")
    return "[[runs]]\ntopologies = [\"pair\"]\ncollectives = [\"all_gather\"]\nsizes = "
           "[\"300B\"]\nalgorithms" +
           some;
  if (kind == "jobs")
    return "[[jobs]]\nlabel = \"J\"\ntopology = \"pair\"\nalgorithms" + some +
           "[[jobs.job]]\nname = \"a\"\nsize = \"300B\"\ncollective" + one;
  if (kind == "failures")
    return "[[failures]]\nlabel = \"F\"\ntopology = \"pair\"\nsize = \"300B\"\nchunks = "
           "1\npolicies = [\"report\"]\ncollective" +
           one + "algorithms" + some +
           "[[failures.events]]\nat = \"50%\"\nlink_rate = \"npu0>npu1\"\nshare = 0.5\n";
  if (kind == "training")
    return "[[training]]\nlabel = \"T\"\ntopologies = [\"pair\"]\nworkload = "
           "\"work.txt\"\nunit = \"us\"\nchunks = 1\nalgorithms" +
           some;
  return "[[executions]]\nlabel = \"E\"\ntopology = \"pair\"\nsizes = [\"304B\"]\npredicted_by "
         "= \"nothing\"\nlinks = \"real\"\nrepetitions = 1\ncollective" +
         one + "algorithms" + some;
}

std::string frontier_of(const std::string& topology) {
  return "[[frontiers]]\nlabel = \"" + topology + "\"\ntopology = \"" + topology +
         "\"\ncollective = \"all_gather\"\nsizes = [\"1MiB\"]\nsettings = {max_steps = \"3\"}\n";
}

std::vector<RefusingStudy> refusing_studies() {
  std::vector<RefusingStudy> studies;
  for (const std::string kind : {"runs", "jobs", "failures", "training", "executions"})
    studies.push_back(
        {kind, study_of_kind(kind, "\"teccl\", \"direct\""), study_of_kind(kind, "\"teccl\"")});
  studies.push_back(
      {"frontiers", frontier_of("large") + frontier_of("pair"), frontier_of("large")});
  return studies;
}

} // namespace

TEST_CASE("in every kind of study what refuses is a row, and the others go on") {
  const TemporaryFolder folder;
  write_file(folder.file("pair.toml"), slow_one_way);
  write_file(folder.file("work.txt"), "DATA\n1\na -1 10 NONE 0 0 NONE 0 40 ALLREDUCE 300 0\n");
  const std::string head = "name = \"few\"\ntitle = \"few\"\n[topologies]\npair = \"pair.toml\"\n"
                           "large = \"torus2d:48x48\"\n";
  const std::vector<RefusingStudy> studies = refusing_studies();
  std::string of_all = head;
  for (const RefusingStudy& study : studies) {
    INFO(study.key);
    of_all += study.alone;
    const std::string why =
        study.key == "frontiers" ? "too large for sccl" : "a chunk is under way for";
    write_file(folder.file("some.toml"), head + study.toml);
    const CommandResult some = run_tutti("run some.toml --json", folder);
    INFO(some.out << some.err);
    CHECK_THAT(some.out, ContainsSubstring(why));
    CHECK((some.code == 0) == (study.key != "frontiers")); // where each is a study of its own
    write_file(folder.file("none.toml"), head + study.alone);
    const CommandResult none = run_tutti("run none.toml", folder);
    INFO(none.out << none.err);
    CHECK(none.code == (study.key == "training" ? 1 : 2));
    CHECK_THAT(none.err, ContainsSubstring(why));
    if (study.key == "jobs") continue;
    // What all of one study refuse doesn't end the others.
    write_file(folder.file("other.toml"), head + study.alone + study_of_kind("jobs", "\"direct\""));
    const CommandResult other = run_tutti("run other.toml --json", folder);
    INFO(other.out << other.err);
    CHECK(other.code == 1);
    CHECK_THAT(other.out, ContainsSubstring(why));
    CHECK_THAT(other.err, ContainsSubstring(why));
    CHECK(Json::parse(other.out)["jobs"][0]["plans"][0]["note"].is_null());
  }
  write_file(folder.file("all.toml"), of_all);
  const CommandResult nothing = run_tutti("run all.toml", folder);
  INFO(nothing.out << nothing.err);
  CHECK(nothing.code != 0);
}

TEST_CASE("what a study asks for in vain is said with its file and its label") {
  const TemporaryFolder folder;
  const std::string job = "name = \"a\"\nsize = \"1MB\"\ncollective = \"all_reduce,group=1\"\n";
  write_file(folder.file("j.toml"), "algorithms = [\"ring\"]\n[[job]]\n" + job);
  CHECK(run_tutti("jobs -t ring:4 j.toml", folder).err.starts_with("tutti: j.toml: job \"a\": "));
  const std::string head = "name = \"e\"\ntitle = \"e\"\n[topologies]\nR = \"ring:4\"\n";
  write_file(folder.file("e.toml"), head +
                                        "[[jobs]]\nlabel = \"J\"\ntopology = \"R\"\n"
                                        "algorithms = [\"ring\"]\n[[jobs.job]]\n" +
                                        job);
  const CommandResult jobs = run_tutti("run e.toml", folder);
  CHECK(jobs.code == 2);
  CHECK(
      jobs.err.starts_with("tutti: e.toml: [[jobs]] \"J\": job \"a\": a collective over one NPU"));
  write_file(folder.file("r.toml"), head + "[[runs]]\ncollectives = [\"all_reduce,group=1\"]\n"
                                           "sizes = [\"1MB\"]\nalgorithms = [\"ring\"]\n");
  const CommandResult runs = run_tutti("run r.toml", folder);
  CHECK(runs.code == 2);
  CHECK(runs.err.starts_with("tutti: r.toml: "));
}

TEST_CASE("where no algorithm makes a schedule, that is no success") {
  const CommandResult one = run_tutti("synth -t ring:6 -c all_reduce -a rhd");
  CHECK(one.code == 1);
  CHECK(one.err == "tutti: no schedule was made: rhd needs a power of two of NPUs, not 6\n");
  CHECK(run_tutti("synth -t ring:6 -c all_reduce -a rhd,ring").code == 0);
}

#ifndef TUTTI_ADDRESS_SANITIZER // which takes far more than the program
TEST_CASE("a command takes no more memory than it is allowed, and says what it asked for") {
  const TemporaryFolder folder;
  const CommandResult rows = run_tutti(
      "synth -t torus2d:32x32 -c all_gather -a direct --size 1GiB..2GiB --limit 48MiB --json",
      folder);
  INFO(rows.out << rows.err);
  CHECK(rows.code == 1);
  for (const Json& row : Json::parse(rows.out))
    CHECK_THAT(row["note"].get<std::string>(), ContainsSubstring("out of memory: "));
  write_file(folder.file("large.toml"), R"(name = "large"
title = "all of them run out of memory"
seed = 1
[topologies]
torus = "torus2d:32x32"
[[runs]]
collectives = ["all_gather"]
algorithms = ["direct"]
sizes = ["1GiB", "2GiB"]
limit = "48MiB"
)");
  const CommandResult run = run_tutti("run large.toml", folder);
  INFO(run.out << run.err);
  CHECK(run.code == 1);
  CHECK_THAT(run.err, ContainsSubstring("no schedule was made: out of memory: "));
}
#endif

TEST_CASE("an algorithm that cuts too finely costs its own row only") {
  const Json all = json_of("synth -t ring:4 -c all_gather -a all --size 4B");
  std::size_t infeasible = 0;
  for (const Json& row : all) {
    INFO(row.dump());
    CHECK((row["verified"] == true || row["status"] == "infeasible"));
    if (row["algorithm"] != "ring") continue;
    ++infeasible;
    CHECK_THAT(row["note"].get<std::string>(), ContainsSubstring("at least one byte"));
  }
  CHECK(infeasible == 1);
}

TEST_CASE("limits and threads leave a quick synthesis as it is") {
  const std::string tacos = "synth -t mesh2d:3x3 -c all_gather -a tacos --size 1MB";
  const Json plain = json_of(tacos);
  for (const char* more : {" --limit 60s", " --limit 8GiB", " --limit 60s,8GiB --threads 3",
                           " --limit 8GiB,60s --threads 1"}) {
    const Json limited = json_of(tacos + more);
    CHECK(limited["status"] == plain["status"]);
    CHECK(limited["collective_time_ps"] == plain["collective_time_ps"]);
  }
}

TEST_CASE("Ctrl-C ends a synthesis with the best so far") {
  const TemporaryFolder folder;
  const CommandResult result = interrupt_tutti(
      "synth -t mesh2d:12x12 -c all_gather -a tacos --set starts=1000000 --json -o s.bin", folder);
  CHECK(result.code == 130);
  const Json json = Json::parse(result.out);
  CHECK(json["status"] == "timed_out");
  CHECK(json["note"] == "interrupted; the best so far");
  CHECK(json["verified"] == true);
  CHECK(run_tutti("verify -t mesh2d:12x12 s.bin", folder).code == 0);
}

TEST_CASE("Ctrl-C ends an experiment without results") {
  const TemporaryFolder folder;
  write_file(folder.file("e.toml"), R"(name = "e"
[topologies]
R = "mesh2d:12x12"
[[runs]]
collectives = ["all_gather"]
algorithms = ["tacos"]
settings = {starts = "1000000"}
limit = "100s,8GiB"
threads = 1
)");
  const CommandResult result = interrupt_tutti("run e.toml --out results", folder);
  CHECK(result.code == 130);
  CHECK_THAT(result.out, ContainsSubstring("interrupted; the best so far"));
  CHECK_THAT(result.err, ContainsSubstring("interrupted: no results are written"));
  CHECK_FALSE(std::filesystem::exists(folder.file("results/results.csv")));
}

TEST_CASE("the tables say which algorithm is best") {
  const CommandResult result = run_tutti("synth -t mesh2d:3x3 -c all_reduce -a ring,tacos");
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, ContainsSubstring("mesh2d:3x3, all_reduce 1GiB (9 NPUs)"));
  CHECK_THAT(result.out, ContainsSubstring("best: tacos, "));
  CHECK_THAT(result.out, ContainsSubstring("the lower bound "));
}

TEST_CASE("the same seed twice gives the same schedule and the same results") {
  const TemporaryFolder folder;
  const std::string synth = "synth -t torus2d:4x4 -c all_reduce -a tacos --seed 5 -o ";
  CHECK(run_tutti(synth + "a.json", folder).code == 0);
  CHECK(run_tutti(synth + "b.json", folder).code == 0);
  CHECK(read_file(folder.file("a.json")) == read_file(folder.file("b.json")));

  write_file(folder.file("e.toml"), "name = \"e\"\n[topologies]\nT = \"torus2d:4x4\"\n[[runs]]\n"
                                    "collectives = [\"all_reduce\"]\nalgorithms = \"all\"\n");
  const auto rows = [&](const std::string& arguments) {
    CHECK(run_tutti("run e.toml " + arguments, folder).code == 0);
    Json results = Json::parse(read_file(folder.file("out/e/results.json")))["results"];
    for (Json& row : results)
      for (const char* cost : {"synthesis_seconds", "verify_seconds", "replay_seconds",
                               "bound_seconds", "peak_rss_bytes"})
        row.erase(cost);
    return results.dump();
  };
  CHECK(rows("--jobs 1") == rows("--jobs 3"));
}

TEST_CASE("a schedule file goes around: synth, verify, replay") {
  const TemporaryFolder folder;
  REQUIRE(run_tutti(ring_synth + " -o s.json", folder).code == 0);
  const Json verified = json_of("verify -t ring:4 s.json", folder);
  CHECK(verified["verified"] == true);
  CHECK(verified["transfers"] == 12);
  CHECK(verified["redundant"] == 0);
  CHECK(verified["fault"].is_null());

  for (const std::string engine : {"simgrid", "native"}) {
    const Json replayed = json_of("replay -t ring:4 s.json --engine " + engine, folder);
    CHECK(replayed["collective_time_ps"] == 1'560'000);
    CHECK(replayed["engine"] == engine);
    // link 0 is npu0 > npu1: three chunks of 1000 B, 20 ns each
    CHECK(replayed["replays"][0]["links"]["bytes"][0] == 3000);
    CHECK(replayed["replays"][0]["links"]["busy_ps"][0] == 60'000);
  }
  REQUIRE(run_tutti("replay -t ring:4 s.json --export-case c.json", folder).code == 0);
  const Json exported = Json::parse(read_file(folder.file("c.json")));
  CHECK(exported["transfers"].size() == 12);
  CHECK(exported["chunks"].size() == 4);
  CHECK(exported["links"].size() == 8);

  REQUIRE(run_tutti(ring_synth + " -o s.bin", folder).code == 0); // the binary form
  CHECK(run_tutti("verify -t ring:4 s.bin", folder).code == 0);
}

TEST_CASE("a timeline holds every algorithm, size and discipline, whatever runs at once") {
  const TemporaryFolder folder;
  const std::string synth = "synth -t mesh2d:2x3 -c all_gather -a direct,rhd,ring --size 6kB..12kB "
                            "--discipline fifo,fluid --chunks 1 --json ";
  const CommandResult result = run_tutti(synth + "--trace t.json", folder);
  INFO(result.err);
  REQUIRE(result.code == 0);
  const Json rows = Json::parse(result.out);
  const trace_reading::Trace trace(Json::parse(read_file(folder.file("t.json"))));
  std::map<int, std::string> names;
  std::vector<std::string> left_out;
  int process = 0;
  for (const Json& row : rows)
    for (std::size_t d = 0; d < 2; ++d) {
      ++process;
      const std::string name = row["algorithm"].get<std::string>() + ", " +
                               (row["size_bytes"] == 6000 ? "6kB" : "12kB") + ", " +
                               (d == 0 ? "fifo" : "fluid");
      if (row["replays"].empty()) {
        left_out.push_back(name + ": " + row["note"].get<std::string>());
        continue;
      }
      names.emplace(process, name);
      INFO(name);
      CHECK(trace.marks.at({process, "collective complete"}) ==
            row["replays"][d]["collective_time_ps"]);
      // Of direct's fluid transfers none waits for another, and a path's links are held at once.
      CHECK(trace.arrows_of(process).empty() == (d == 1 && row["algorithm"] == "direct"));
    }
  CHECK(trace.processes == names);
  CHECK(names.size() == 8);
  REQUIRE(left_out.size() == 4); // rhd: 6 NPUs are no power of two
  CHECK(trace.left_out == left_out);
  for (const std::string& what : left_out)
    CHECK_THAT(result.err, ContainsSubstring("t.json: left out: " + what));

  REQUIRE(run_tutti(synth + "--jobs 2 --trace again.json", folder).code == 0);
  CHECK(read_file(folder.file("again.json")) == read_file(folder.file("t.json")));

  REQUIRE(run_tutti("synth -t mesh2d:2x3 -c all_gather -a direct --size 6kB --chunks 1 -o s.json",
                    folder)
              .code == 0);
  REQUIRE(run_tutti("replay -t mesh2d:2x3 s.json --discipline fifo,fluid --trace r.json", folder)
              .code == 0);
  const trace_reading::Trace replayed(Json::parse(read_file(folder.file("r.json"))));
  CHECK(replayed.processes ==
        std::map<int, std::string>{{1, "direct, 6kB, fifo"}, {2, "direct, 6kB, fluid"}});
  CHECK(replayed.slices.size() == trace.slices_of(1).size() + trace.slices_of(2).size());
}

TEST_CASE("a faulty schedule is found: exit code 1") {
  const TemporaryFolder folder;
  REQUIRE(run_tutti(ring_synth + " -o s.json", folder).code == 0);
  Json file = Json::parse(read_file(folder.file("s.json")));
  REQUIRE(file["transfers"].size() == 12);
  file["transfers"].erase(0); // what the second step forwards never came
  write_file(folder.file("bad.json"), file.dump());
  const CommandResult verified = run_tutti("verify -t ring:4 bad.json", folder);
  CHECK(verified.code == 1);
  CHECK_THAT(verified.out, ContainsSubstring("fault: transfer "));
  CHECK_THAT(verified.out, ContainsSubstring("doesn't hold chunk"));
  const CommandResult json = run_tutti("verify -t ring:4 bad.json --json", folder);
  CHECK(json.code == 1);
  CHECK(Json::parse(json.out)["verified"] == false);
  const CommandResult replayed =
      run_tutti("replay -t ring:4 bad.json --export-case c.json", folder);
  CHECK(replayed.code == 1);
  CHECK_THAT(replayed.err, ContainsSubstring("bad.json: fault: transfer "));
  CHECK(std::filesystem::exists(folder.file("c.json")));
}

TEST_CASE("bound and show speak of a topology") {
  const Json bound = json_of("bound -t ring:4 -c all_gather --size 4kB");
  CHECK(bound["lower_bound_ps"] == 1'010'000); // as above
  CHECK(bound["lower_bound_kind"] == "cut over time");
  CHECK(bound["bounds"].size() >= 4);
  CHECK_FALSE(bound.contains("lower_bound_at_chunks_ps"));
  const Json at_chunks = json_of("bound -t ring:4 -c all_gather --size 4kB --chunks 1");
  CHECK(at_chunks["lower_bound_ps"] == 1'010'000);
  CHECK(at_chunks["lower_bound_at_chunks_ps"] == 2 * 520'000);
  CHECK(at_chunks["lower_bound_at_chunks_kind"] == "latency path");
  CHECK(json_of("bound -t ring:4 -c all_gather --size 4kB --bound full") == bound);
  CHECK_THAT(run_tutti("bound -t ring:4 -c all_gather --bound none").err,
             ContainsSubstring("unknown bound \"none\" (known: quick, full"));
  for (const Json& each : bound["bounds"]) CHECK(each["certificate"] != "");
  CHECK_THAT(run_tutti("bound -t ring:4 -c all_gather").out,
             ContainsSubstring("no schedule is faster than "));

  const Json show = json_of("show -t switch:4");
  CHECK(show["npus"] == 4);
  CHECK(show["switches"] == 1);
  CHECK(show["links"].size() == 8);
  CHECK(show["diameter_hops"] == 2);
  CHECK_THAT(run_tutti("show -t ring:4").out,
             ContainsSubstring("4 NPUs, 0 switches, 0 memories, 8 links"));
}

TEST_CASE("synth, replay and bound tell the same bounds of a network and a time model") {
  const TemporaryFolder folder;
  for (const std::string network : {"ring:5", "two_level_switch:2x2,latency=3us"})
    for (const std::string model :
         {"", " --link-busy latency+serialization", " --forwarding cut-through --bound full"}) {
      const std::string asked = " -t " + network + model;
      const std::string what = " -c all_gather -c reduce,root=1,group=0-2 --size 96kB --chunks 2";
      const Json made = json_of("synth -a tacos -o s.json" + what + asked, folder),
                 replayed = json_of("replay s.json" + asked, folder),
                 bound = json_of("bound" + what + asked, folder);
      INFO(asked);
      for (const char* which : {"lower_bound_ps", "lower_bound_at_chunks_ps"}) {
        CHECK(made[which] == bound[which]);
        CHECK(replayed[which] == bound[which]);
      }
    }
}

TEST_CASE("bound draws what proves the best bound") {
  const TemporaryFolder folder;
  // Chunks of 750 MB, 15 ms each: 16 over the 3 links into an NPU take 6 * 15 ms; all 96 deliveries
  // over 12 links take 8 * 15 ms.
  const std::string bound = "bound -t fully_connected:4 -c all_reduce --size 12GB --chunks 4";
  const CommandResult drawn = run_tutti(bound + " --draw cut.svg", folder);
  CHECK(drawn.code == 0);
  CHECK_THAT(drawn.out, ContainsSubstring("no schedule is faster than "));
  const std::string picture = read_file(folder.file("cut.svg"));
  CHECK_THAT(picture, ContainsSubstring("<svg"));
  CHECK_THAT(picture, ContainsSubstring("at least 120.0 ms by total work") &&
                          ContainsSubstring("72GB over 12 links") &&
                          ContainsSubstring("links that deliveries share"));

  const CommandResult ending = run_tutti(bound + " --draw cut.pdf", folder);
  CHECK(ending.code == 2);
  CHECK_THAT(ending.err, ContainsSubstring("cut.pdf: a drawing is .svg or .png"));
  const CommandResult large = run_tutti("bound -t ring:129 -c broadcast --draw cut.svg", folder);
  CHECK(large.code == 2);
  CHECK_THAT(large.err,
             ContainsSubstring("a bound on 129 nodes can't be drawn, only on up to 128"));
}

TEST_CASE("the frontier of All-Gather on a 4-ring is one point") {
  // The far NPU is two hops away, and three shards come in over two links: in halves, both sides'
  // shards in two rounds, then each half of the far one by another side in one.
  const std::string frontier = "frontier -t ring:4 -c all_gather --size 4kB..16kB";
  const TemporaryFolder folder;
  const Json json = json_of(frontier + " --out results", folder);
  REQUIRE(json["points"].size() == 1);
  const Json& point = json["points"][0];
  CHECK(point["steps"] == 2);
  CHECK(point["rounds_per_chunk"] == "3/2");
  CHECK(point["verified"] == true);
  CHECK(point["latency_optimal"] == true);
  CHECK(point["bandwidth_optimal"] == true);
  CHECK(json["bandwidth_bound"] == "3/2");
  CHECK(json["complete"] == true);
  CHECK(json["timed_out"] == false);
  CHECK(json["problem"].is_null());
  REQUIRE(point["sizes"].size() == 3);
  for (const Json& at : point["sizes"]) {
    // 2 x 0.5 us, and 3/2 of a shard at 50 GB/s
    CHECK(at["model_time_ps"] == 1'000'000 + at["size_bytes"].get<std::int64_t>() * 3 / 8 * 20);
    CHECK(at["native_time_ps"] == at["simgrid_time_ps"]);
    CHECK(at["native_time_ps"] <= at["model_time_ps"]);
  }
  CHECK(json["best"].size() == 1);
  CHECK(read_file(folder.file("results/frontier.csv")).starts_with("frontier,topology,npus,"));
  CHECK(std::filesystem::exists(folder.file("results/frontier.svg")));

  const CommandResult table = run_tutti(frontier + " --engine native --progress");
  CHECK(table.code == 0);
  CHECK_THAT(table.out, ContainsSubstring("ring:4, all_gather 4kB..16kB (4 NPUs)\nengine native,"));
  CHECK_THAT(table.out,
             ContainsSubstring("nothing beats 3/2 = 1.500 rounds per chunk\ncomplete: "));
  CHECK_THAT(table.err, ContainsSubstring("tutti: all_gather on ring:4: ("));
}

TEST_CASE("a link that is down for a while delays what has to cross it") {
  // ring1 sends everything one way around, 520 ns a hop. npu0>npu1 is back at 1 us: npu0's own
  // shard crosses it by 1.52 us and is at npu3 two hops later. Undisturbed: 1.56 us.
  const TemporaryFolder folder;
  write_file(folder.file("events.toml"), R"([[events]]
at = "0s"
link_down = "npu0>npu1"
[[events]]
at = "1us"
link_up = "npu0>npu1"
)");
  const std::string failures =
      "failures -t ring:4 -c all_gather -a ring1 --size 4kB --chunks 1 --events events.toml";
  const Json json = json_of(failures + " --engine both --out results", folder);
  CHECK(json["undisturbed"]["collective_time_ps"] == 1'560'000);
  CHECK(json["problem"].is_null());
  REQUIRE(json["scenarios"].size() == 1);
  REQUIRE(json["scenarios"][0]["policies"].size() == 4);
  const Json& report = json["scenarios"][0]["policies"][0];
  CHECK(report["policy"] == "report");
  CHECK(report["complete"] == true);
  CHECK(report["last_delivery_ps"] == 2'560'000);
  CHECK(report["decisions"].empty());
  for (const Json& policy : json["scenarios"][0]["policies"]) CHECK(policy["complete"] == true);
  CHECK(read_file(folder.file("results/failures.csv")).starts_with("study,topology,npus,"));
  CHECK(Json::parse(read_file(folder.file("results/failures.json"))) == json);
  CHECK(std::filesystem::exists(folder.file("results/failures.svg")));

  const CommandResult table = run_tutti(failures + " --policy report --progress", folder);
  CHECK(table.code == 0);
  CHECK_THAT(table.out, ContainsSubstring("report       2.560 us         1.641x"));
  CHECK_THAT(table.out, ContainsSubstring(
                            "ring1, events:\n    0 s: npu0>npu1 down\n    1.000 us: npu0>npu1 up"));
  CHECK_THAT(table.err, ContainsSubstring("tutti: ring1 on ring:4: seed 1: report complete at "
                                          "2.560 us"));
}

TEST_CASE("an NPU that dies leaves others without, which is an answer and no failure") {
  const TemporaryFolder folder;
  write_file(folder.file("events.toml"), "[[events]]\nat = \"40%\"\nnpu_down = \"npu1\"\n");
  const Json json = json_of("failures -t ring:4 -c all_gather -a ring1,tacos --size 4kB "
                            "--events events.toml --policy report,resynthesize --detection 1ns "
                            "--decision 1ns",
                            folder);
  REQUIRE(json.size() == 2);
  const Json& report = json[0]["scenarios"][0]["policies"][0];
  CHECK(report["complete"] == false);
  CHECK(report["slowdown"].is_null());
  CHECK(report["goodput_lost"] == 1.0);
  CHECK(report["npus_missing_some"] > 0);
  CHECK_FALSE(report["missing_text"].empty());
  for (const Json& algorithm : json) {
    CHECK(algorithm["problem"].is_null());
    CHECK(algorithm["scenarios"][0]["policies"][1]["complete"] == true);
  }
}

TEST_CASE("an experiment of failures: tables, figures and verdicts") {
  const TemporaryFolder folder;
  const std::string failures = R"(name = "e"
title = "A torus that loses cables"
[topologies]
T = "torus2d:4x4"
[[failures]]
label = "Torus"
topology = "T"
collective = "all_reduce"
size = "1MB"
algorithms = "tacos"
failed_links = [0, 2]
seeds = [1, 2]
detection = "1us"
decision = "1us"
[[failures.expect]]
policy = "restart"
failed_links = 0
value = 1
)";
  write_file(folder.file("e.toml"), failures);
  const CommandResult result = run_tutti("run e.toml --out here", folder);
  INFO(result.err);
  CHECK(result.code == 0);
  CHECK(result.out.starts_with("A torus that loses cables\n\nTorus: T, all_reduce 1MB"));
  CHECK_THAT(read_file(folder.file("here/verdicts.md")),
             ContainsSubstring("| Torus, tacos: restart / undisturbed | 1.00 | 1.00 | +0.00 % | "
                               "match |"));
  const Json json = Json::parse(read_file(folder.file("here/results.json")));
  REQUIRE(json["failures"].size() == 1);
  CHECK(json["failures"][0]["scenarios"].size() == 3);
  CHECK(std::filesystem::exists(folder.file("here/failures.csv")));
  CHECK(std::filesystem::exists(folder.file("here/failures_torus.svg")));

  write_file(folder.file("e.toml"),
             failures + "[[failures.expect]]\npolicy = \"restart\"\nfailed_links = 2\nat_most = "
                        "0.5\n");
  const CommandResult differs = run_tutti("run e.toml --out here", folder);
  CHECK(differs.code == 1);
  CHECK_THAT(differs.err, ContainsSubstring("differs without an explanation"));
}

TEST_CASE("synth cuts shards as sccl wants, unless it is told") {
  const std::string synth = "synth -t ring:4 -c all_gather -a sccl,ring1 --size 4kB";
  const Json chosen = json_of(synth);
  CHECK(chosen[0]["chunks_per_shard"] == 2); // (2,2,3)
  CHECK(chosen[0]["verified"] == true);
  CHECK(chosen[1]["chunks_chosen"] == true);
  CHECK(json_of(synth + " --chunks 1")[0]["chunks_per_shard"] == 1);
}

TEST_CASE("Ctrl-C ends a frontier with the points so far") {
  const CommandResult result = interrupt_tutti(
      "frontier -t z52_pcie -c all_gather --set max_steps=14 --json", TemporaryFolder());
  CHECK(result.code == 130);
  const Json json = Json::parse(result.out);
  CHECK(json["timed_out"] == true);
  for (const Json& point : json["points"]) CHECK(point["verified"] == true);
}

TEST_CASE("an experiment of frontiers holds a paper's rows against ours") {
  const TemporaryFolder folder;
  const std::string frontier = R"(name = "e"
title = "Four in a ring"
[topologies]
R = "ring:4"
[[frontiers]]
label = "All-Gather"
topology = "R"
collective = "all_gather"
sizes = "4kB..1MB"
[[frontiers.paper]]
chunks = 2
steps = 2
rounds = 3
optimality = "both"
seconds = 1.5
[[frontiers.paper]]
chunks = 1
steps = 2
rounds = 2
optimality = "latency"
)";
  write_file(folder.file("e.toml"), frontier);
  const CommandResult result = run_tutti("run e.toml --out here", folder);
  INFO(result.err);
  CHECK(result.code == 0);
  CHECK(result.out.starts_with("Four in a ring\n\nAll-Gather: R, all_gather 4kB..1MB (4 NPUs)\n"));
  CHECK_THAT(result.out, !ContainsSubstring("beyond the paper")); // it has (2,2,3) itself
  CHECK_THAT(read_file(folder.file("here/verdicts.md")),
             ContainsSubstring("| All-Gather (2,2,3) | latency- and bandwidth-optimal, 1.5 s | "
                               "latency- and bandwidth-optimal, ") &&
                 ContainsSubstring("beaten by (2,2,3) | - | match |"));
  const Json json = Json::parse(read_file(folder.file("here/results.json")));
  CHECK(json["frontiers"][0]["paper"].size() == 2);
  CHECK(json["verdicts"].size() == 2);
  CHECK(json["results"].empty());
  for (const char* name : {"frontier.csv", "frontier_paper.csv", "frontier_all_gather.svg"}) {
    INFO(name);
    CHECK(std::filesystem::exists(folder.file(std::string("here/") + name)));
  }
  CHECK_FALSE(std::filesystem::exists(folder.file("here/results.csv")));

  // Two rounds for a whole shard aren't the least.
  write_file(folder.file("e.toml"), frontier + "[[frontiers.paper]]\nchunks = 1\nsteps = 2\n"
                                               "rounds = 2\noptimality = \"bandwidth\"\n");
  const CommandResult refuted = run_tutti("run e.toml --out here", folder);
  CHECK(refuted.code == 1);
  CHECK_THAT(refuted.out, ContainsSubstring("fewer rounds per chunk exist"));
  CHECK_THAT(refuted.err, ContainsSubstring("differs without an explanation"));
}

TEST_CASE("list names what there is") {
  CHECK_THAT(json_of("list algorithms").dump(), ContainsSubstring("\"tacos\""));
  CHECK_THAT(json_of("list topologies").dump(), ContainsSubstring("\"dgx1\""));
  CHECK_THAT(json_of("list collectives").dump(), ContainsSubstring("\"all_to_all\""));
  CHECK_THAT(json_of("list experiments").dump(), ContainsSubstring("\"tacos/fig02\""));
  CHECK_THAT(json_of("list engines").dump(), ContainsSubstring("\"simgrid\""));
  CHECK_THAT(run_tutti("list algorithms").out, ContainsSubstring("ring_hamiltonian"));
}

TEST_CASE("an experiment leaves tables, figures and verdicts") {
  const TemporaryFolder folder;
  write_file(folder.file("e.toml"), R"(name = "e"
title = "Two rings"
[topologies]
R = "ring:4"
[[runs]]
collectives = ["all_gather"]
sizes = ["4kB", "8kB"]
chunks = [1]
algorithms = ["ring1", "ring"]
engine = "native"
[[figures]]
kind = "heatmap"
file = "heat"
[[figures]]
kind = "sizes"
file = "sizes"
[[expect]]
label = "unidirectional time"
of = {topology = "R", algorithm = "ring1", size = "4kB"}
metric = "time"
paper = "1.56us"
tolerance = "0%"
[[expect]]
label = "wrong"
of = {topology = "R", algorithm = "ring1", size = "4kB"}
over = {topology = "R", algorithm = "ring1", size = "8kB"}
metric = "time"
paper = 2
tolerance = "2%"
explanation = "latency doesn't double"
)");
  const CommandResult result = run_tutti("run e.toml --out results/here", folder);
  INFO(result.err);
  CHECK(result.code == 0);
  CHECK(result.out.starts_with("Two rings\n"));
  // 3 (0.5 us + 20 ns) over 3 (0.5 us + 40 ns) = 0.963
  CHECK(read_file(folder.file("results/here/verdicts.md")) ==
        "# Two rings\n\n"
        "| what | paper | ours | difference | verdict | explanation |\n"
        "| --- | ---: | ---: | ---: | --- | --- |\n"
        "| unidirectional time | 1.560 us | 1.560 us | +0.00 % | match |  |\n"
        "| wrong | 2.00 | 0.96 | -51.85 % | differs, explained | latency doesn't double |\n");
  CHECK(read_file(folder.file("results/here/e.toml")) == read_file(folder.file("e.toml")));
  const std::string csv = read_file(folder.file("results/here/results.csv"));
  CHECK(csv.starts_with("run,topology,npus,collective,size_bytes,algorithm,"));
  CHECK_THAT(csv, ContainsSubstring(",R,4,all_gather,4000,ring1,"));
  const Json json = Json::parse(read_file(folder.file("results/here/results.json")));
  CHECK(json["seed"] == 1);
  CHECK(json["results"].size() == 4);
  CHECK(json["verdicts"][0]["verdict"] == "match");
  for (const char* name : {"tutti", "commit", "simgrid", "gnuplot"})
    CHECK(json["versions"].contains(name));
  for (const char* name : {"heat.svg", "heat.png", "sizes.svg", "sizes.png"}) {
    INFO(name);
    CHECK(std::filesystem::exists(folder.file(std::string("results/here/") + name)));
  }
}

TEST_CASE("an unexplained difference is exit code 1") {
  const TemporaryFolder folder;
  write_file(folder.file("e.toml"), "name = \"e\"\n[topologies]\nR = \"ring:4\"\n[[runs]]\n"
                                    "collectives = [\"all_gather\"]\nalgorithms = [\"ring\"]\n"
                                    "[[expect]]\nlabel = \"no\"\nmetric = \"gap\"\npaper = 9\n"
                                    "of = {topology = \"R\", algorithm = \"ring\"}\n"
                                    "tolerance = \"1%\"\n");
  const CommandResult result = run_tutti("run e.toml", folder);
  CHECK(result.code == 1);
  CHECK_THAT(result.out, ContainsSubstring("differs"));
  CHECK(result.err == "tutti: an expected value differs without an explanation\n");
}

TEST_CASE("help and version") {
  CHECK(run_tutti("--version").out.starts_with("tutti "));
  CHECK_THAT(run_tutti("--help").out, ContainsSubstring("synth"));
  const CommandResult help = run_tutti("synth --help");
  CHECK(help.code == 0);
  CHECK_THAT(help.out, ContainsSubstring("--link-busy"));
}

TEST_CASE("misspelt commands and options come with a hint") {
  CHECK_THAT(refusal(""), ContainsSubstring("name a command; `tutti --help` lists them"));
  CHECK_THAT(refusal("rnu"), ContainsSubstring("unknown command \"rnu\" (known: run, synth,") &&
                                 ContainsSubstring("did you mean \"run\"?"));
  CHECK_THAT(refusal("synth --szie 1GiB"),
             ContainsSubstring("unknown option of tutti synth \"--szie\"") &&
                 ContainsSubstring("did you mean \"--size\"?"));
  CHECK_THAT(refusal("--jsn"), ContainsSubstring("unknown option \"--jsn\""));
  CHECK_THAT(refusal("verify -t ring:4 a b"), ContainsSubstring("unexpected argument \"b\""));
  CHECK_THAT(refusal("synth -t ring:4 -a ring"), ContainsSubstring("--collective is required"));
  CHECK_THAT(refusal("list algoritms"), ContainsSubstring("did you mean \"algorithms\"?"));
  CHECK_THAT(refusal("run nosuch"), ContainsSubstring("unknown experiment \"nosuch\" (known: "));
}

TEST_CASE("misspelt names and units come with what is known") {
  CHECK_THAT(refusal("show -t rign:4"), ContainsSubstring("unknown topology \"rign\"") &&
                                            ContainsSubstring("did you mean \"ring\"?"));
  CHECK_THAT(refusal("synth -t ring:4 -c all_redce -a ring"),
             ContainsSubstring("unknown collective \"all_redce\"") &&
                 ContainsSubstring("did you mean \"all_reduce\"?"));
  CHECK_THAT(refusal("synth -t ring:4 -c all_reduce -a rng"),
             ContainsSubstring("unknown algorithm \"rng\"") &&
                 ContainsSubstring("did you mean \"ring\"?"));
  CHECK_THAT(refusal(ring_synth + " --engine natve"),
             ContainsSubstring("did you mean \"native\"?"));
  CHECK_THAT(refusal(ring_synth + " --discipline fif"), ContainsSubstring("\"fif\""));
  CHECK_THAT(refusal(ring_synth + " --discipline fifo,fifo"),
             ContainsSubstring("discipline fifo is named twice"));
  CHECK_THAT(refusal(ring_synth + " --link-busy latency"), ContainsSubstring("\"latency\""));
  CHECK_THAT(refusal(ring_synth + " --routing xy"), ContainsSubstring("\"xy\""));
  CHECK_THAT(refusal(ring_synth + " --set colour=red"),
             ContainsSubstring("unknown setting \"colour\""));
  CHECK_THAT(refusal(ring_synth + " --set colour"),
             ContainsSubstring("setting \"colour\" isn't key=value"));
  CHECK_THAT(refusal(ring_synth + " --set a=1 --set a=2"),
             ContainsSubstring("setting \"a\" is given twice"));
  CHECK_THAT(refusal("synth -t ring:4 -c all_reduce -a ring,ring"),
             ContainsSubstring("algorithm \"ring\" is named twice"));
  CHECK_THAT(refusal("show -t ring:4,bandwith=1GB/s"), ContainsSubstring("\"bandwith\""));
}

TEST_CASE("bad values are refused") {
  const std::string sizeless = "synth -t ring:4 -c all_reduce -a ring --size ";
  CHECK_THAT(refusal(sizeless + "12"), ContainsSubstring("size \"12\" has no unit"));
  CHECK_THAT(refusal(sizeless + "12XB"), ContainsSubstring("unknown unit \"XB\""));
  CHECK_THAT(refusal(sizeless + "0B"), ContainsSubstring("size \"0B\" must be at least 1B"));
  CHECK_THAT(refusal("synth -t ring:4 -c all_reduce -a ring --size=-1B"),
             ContainsSubstring("\"-1B\" is negative"));
  CHECK_THAT(refusal(sizeless + "99999999999GiB"), ContainsSubstring("\"99999999999GiB\""));
  CHECK_THAT(refusal(sizeless + "2kB..1kB"), ContainsSubstring("put the smaller first"));
  CHECK_THAT(refusal(sizeless + "3B"), ContainsSubstring("at least one byte"));
  CHECK_THAT(refusal("show -t ring:4,bandwidth=nanGB/s"), ContainsSubstring("\"nanGB/s\""));
  CHECK_THAT(refusal("show -t ring:4,bandwidth=0GB/s"), ContainsSubstring("\"0GB/s\""));
  CHECK_THAT(refusal("show -t ring:4,latency=-1us"), ContainsSubstring("\"-1us\""));
  CHECK_THAT(refusal("synth -t ring:4 -c all_gather -a ring1 --chunks 0"),
             ContainsSubstring("chunks per shard"));
  CHECK_THAT(refusal(ring_synth + " --seed x"), ContainsSubstring("seed"));
  CHECK_THAT(refusal(ring_synth + " --limit 60"), ContainsSubstring("\"60\""));
  CHECK_THAT(refusal(ring_synth + " --limit 60s,8GiB,9GiB"), ContainsSubstring("names two sizes"));
  CHECK_THAT(refusal(ring_synth + " --limit 60s,8GiX"), ContainsSubstring("\"8GiX\""));
  CHECK_THAT(refusal(ring_synth + " --threads 0"), ContainsSubstring("threads"));
  CHECK_THAT(refusal(ring_synth + " --jobs 0"), ContainsSubstring("jobs"));
  CHECK_THAT(refusal("bound -t ring:4 -c all_gather --size 1kB..2kB"),
             ContainsSubstring("bound takes one size"));
  CHECK_THAT(refusal("bound -t ring:4 -c all_gather --chunks auto"),
             ContainsSubstring("bound takes a number of chunks, not auto"));
}

TEST_CASE("failures that can't be are refused") {
  const TemporaryFolder folder;
  const auto refused = [&folder](const std::string& events, const std::string& more = {}) {
    write_file(folder.file("events.toml"), events);
    const CommandResult result = run_tutti(
        "failures -t ring:4 -c all_gather -a ring1 --size 4kB --events events.toml" + more, folder);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  const std::string good = "[[events]]\nat = \"10%\"\nlink_down = \"npu0>npu1\"\n";
  CHECK_THAT(refusal("failures -t ring:4 -c all_gather -a ring1"), ContainsSubstring("--events"));
  CHECK_THAT(refusal("failures -t ring:4 -c all_gather -a ring1 --events none.toml"),
             ContainsSubstring("none.toml"));
  CHECK_THAT(refused("[[events]]\nat = \"10%\"\nlink_down = \"npu0>npu2\"\n"),
             ContainsSubstring("tutti: events.toml:3:13: there is no link npu0>npu2"));
  CHECK_THAT(refused(good + good), ContainsSubstring("tutti: events.toml:4:1: npu0>npu1"));
  CHECK_THAT(refused("[[events]]\nat = \"1s\"\nlink_down = \"npu0>npu1\"\n"),
             ContainsSubstring("tutti: events.toml:1:1: npu0>npu1") &&
                 ContainsSubstring("after the end"));
  CHECK_THAT(refused("failed_links = 2\n"),
             ContainsSubstring("tutti: events.toml:1:16: 2 failed links") &&
                 ContainsSubstring("out of reach"));
  CHECK_THAT(refused(good, " --policy repair"),
             ContainsSubstring("--policy: ") && ContainsSubstring("\"repair\""));
  CHECK_THAT(refused(good, " --policy report,report"),
             ContainsSubstring("policy report is named twice"));
  CHECK_THAT(refused(good, " --detection 5"), ContainsSubstring("--detection: "));
  CHECK_THAT(refused(good, " --planner ring"), ContainsSubstring("planner ring"));
  CHECK_THAT(refused(good, " --engine neither"), ContainsSubstring("\"neither\""));
  CHECK_THAT(refused(good, " --set colour=red"), ContainsSubstring("colour"));
  CHECK_THAT(refusal("failures -t ring:4 -c all_gather -a ring1 --size 1kB..4kB --events e.toml"),
             ContainsSubstring("--size: one size"));
}

TEST_CASE("a frontier that can't be is refused") {
  const std::string frontier = "frontier -t ring:4 -c all_gather";
  CHECK_THAT(refusal("frontier -t ring:4"), ContainsSubstring("--collective"));
  CHECK_THAT(refusal(frontier + " --set colour=red"), ContainsSubstring("colour"));
  CHECK_THAT(refusal(frontier + " --set k=2 --set k=3"), ContainsSubstring("\"k\" is given twice"));
  CHECK_THAT(refusal(frontier + " --size 2kB..1kB"), ContainsSubstring("put the smaller first"));
  CHECK_THAT(refusal(frontier + " --size 1B"), ContainsSubstring("at least one byte"));
  CHECK_THAT(refusal(frontier + " --engine neither"), ContainsSubstring("\"neither\""));
  CHECK_THAT(refusal(frontier + " --limit 60"), ContainsSubstring("\"60\""));
  CHECK_THAT(refusal(frontier + " --chunks 3"), ContainsSubstring("\"--chunks\""));
  CHECK_THAT(refusal("frontier -t ring:4 -c ./mine.toml --size 1kB"),
             ContainsSubstring("the size of a collective from a file is in the file"));
}

TEST_CASE("a collective that can't be is refused") {
  CHECK_THAT(refusal("synth -t ring:4 -c all_reduce,group=2 -a ring"),
             ContainsSubstring("a collective over one NPU has nothing to do"));
  CHECK_THAT(refusal("synth -t ring:4 -c all_reduce,group=2+9 -a ring"), ContainsSubstring("9"));
  // nothing leads to npu1 any more
  CHECK_THAT(refusal("synth -t 'ring:4,without-link=npu0>npu1+npu2>npu1' -c all_reduce -a ring"),
             ContainsSubstring("npu1 can't be reached from npu0"));
  CHECK_THAT(refusal(ring_synth + " --engine native --discipline fluid"),
             ContainsSubstring("engine native knows no fluid sharing (engines that do: simgrid)"));
}

TEST_CASE("a topology file with a link to a node that isn't there") {
  const TemporaryFolder folder;
  write_file(folder.file("t.toml"), "npus = 2\n[[links]]\nfrom = \"npu0\"\nto = \"npu7\"\n"
                                    "bandwidth = \"1GB/s\"\nlatency = \"1us\"\n");
  const CommandResult result = run_tutti("show -t ./t.toml", folder);
  CHECK(result.code == 2);
  CHECK_THAT(result.err, ContainsSubstring("t.toml:4:6: ") && ContainsSubstring("npu7"));
}

TEST_CASE("what is wrong with a network of a file's own name is said with the file") {
  const TemporaryFolder folder;
  const std::string name = GENERATE("", "name = \"pods\"\n");
  write_file(folder.file("t.toml"), name + "npus = 3\n[[links]]\nfrom = \"npu0\"\nto = \"npu1\"\n"
                                           "bandwidth = \"1GB/s\"\nlatency = \"1us\"\n");
  const std::string command =
      GENERATE("bound", "synth -a direct,tacos", "failures -a direct --event at=5%,npu_down=npu0",
               "exec -a ring,direct --predicted-by nothing");
  const CommandResult result = run_tutti(command + " -t ./t.toml -c all_gather --size 1kB", folder);
  CAPTURE(name, command);
  CHECK(result.code == 2);
  CHECK_THAT(result.err,
             ContainsSubstring("t.toml: ") && ContainsSubstring("npu2 can't be reached from npu0"));
}

TEST_CASE("a file that isn't what was asked for is refused") {
  const TemporaryFolder folder;
  REQUIRE(run_tutti(ring_synth + " -o s.json", folder).code == 0);
  const CommandResult other = run_tutti("verify -t ring:5 s.json", folder);
  CHECK(other.code == 2);
  CHECK_THAT(other.err, ContainsSubstring("made for topology \"ring:4\"") &&
                            ContainsSubstring("not for \"ring:5\""));
  const std::string whole = read_file(folder.file("s.json"));
  write_file(folder.file("half.json"), whole.substr(0, whole.size() / 2));
  const CommandResult half = run_tutti("replay -t ring:4 half.json", folder);
  CHECK(half.code == 2);
  CHECK_THAT(half.err, ContainsSubstring("half.json:"));
  const CommandResult none = run_tutti("verify -t ring:4 none.json", folder);
  CHECK(none.code == 2);
  CHECK_THAT(none.err, ContainsSubstring("none.json: cannot read: No such file or directory"));
  CHECK_THAT(refusal("run nosuch.toml"), ContainsSubstring("nosuch.toml: cannot read"));
  CHECK_THAT(run_tutti("replay -t ring:4 s.json --heatmap h.jpg", folder).err,
             ContainsSubstring("h.jpg: a heat map is .svg or .png"));
}

TEST_CASE("output that can't be written costs no work and leaves nothing") {
  const TemporaryFolder folder;
  write_file(folder.file("file"), "");
  for (const std::string& arguments :
       {ring_synth + " -o file/s.json", std::string("run quickstart --out file/results")}) {
    const CommandResult result = run_tutti(arguments, folder);
    CHECK(result.code == 2);
    CHECK_THAT(result.err, ContainsSubstring("cannot write"));
    CHECK(result.out.empty());
  }
  std::filesystem::create_directory(folder.file("folder"));
  CHECK_THAT(run_tutti(ring_synth + " -o folder", folder).err,
             ContainsSubstring("folder: cannot write: it is a folder"));
  CHECK_THAT(refusal("synth -t ring:4 -c all_gather -a ring,direct -o s.json"),
             ContainsSubstring("-o takes one schedule"));
  const CommandResult infeasible =
      run_tutti("synth -t ring:6 -c all_reduce -a rhd -o s.json", folder);
  CHECK(infeasible.code == 1);
  CHECK(infeasible.err == "tutti: s.json: not written, there is no correct schedule\n");
  CHECK_FALSE(std::filesystem::exists(folder.file("s.json")));
}
