// The command as users meet it: exit codes, messages, JSON keys, files.
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/command_answers.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/experiments/figures/trace_reading.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace cli_test {

using namespace tutti;
using Json = nlohmann::json;

TEST_CASE("synth --json has the promised keys, and ring1's time on a 4-ring") {
  const Json json = run_of(ring_synth);
  for (const std::string_view key :
       split("algorithm topology collective npus chunks transfers redundant status "
             "synthesis_seconds verify_seconds replay_seconds bound_seconds peak_rss_bytes "
             "verified planned_time_ps planned_on attempts details collective_time_ps "
             "lower_bound_ps gap lower_bound_at_chunks_ps gap_at_chunks algbw_bytes_per_s "
             "engine link_busy",
             ' ')) {
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
  CHECK(run_of(ring_synth + " --link-busy latency+serialization")["link_busy"] ==
        "latency+serialization");
  const Json both = json_of(ring_synth + " --discipline fifo,fluid")["runs"];
  REQUIRE(both.size() == 2);
  CHECK(both[0]["engine"] == "simgrid"); // native knows no fluid sharing
  CHECK(both[0]["discipline"] == "fifo");
  CHECK(both[1]["discipline"] == "fluid");
  CHECK(both[0]["collective_time_ps"] == 1'560'000);
  CHECK(both[1]["collective_time_ps"] == 1'560'000); // nothing to share
  const Json simgrid = run_of(ring_synth + " --engine simgrid");
  CHECK(simgrid["engine"] == "simgrid");
  CHECK(simgrid["collective_time_ps"] == 1'560'000);
}

TEST_CASE("synth takes all algorithms, ranges of sizes and several collectives") {
  const Json all = json_of("synth -t ring:6 -c all_reduce -a all --size 1MB --jobs 2");
  bool refused = false;
  for (const Json& row : all["runs"]) {
    INFO(row.dump());
    CHECK(row["details"]["problem"].is_null());
    CHECK((row["verified"] == true || row["status"] == "unsupported"));
    if (row["algorithm"] == "rhd") {
      refused = true;
      CHECK(row["status"] == "unsupported");
      CHECK(row["note"] == "rhd needs a power of two of NPUs, not 6");
      CHECK(row["collective_time_ps"].is_null());
    }
  }
  CHECK(refused);

  const Json sizes = json_of("synth -t ring:4 -c all_gather -a ring,tacos --size 1KiB..5KiB");
  std::vector<std::int64_t> bytes;
  for (const Json& row : sizes["runs"]) bytes.push_back(row["size_bytes"]);
  CHECK(bytes == std::vector<std::int64_t>{1024, 1024, 2048, 2048, 4096, 4096, 5120, 5120});

  const Json two = run_of("synth -t ring:8 -c all_gather,group=0-3 -c broadcast,root=5,group=4-7 "
                          "-a direct --size 1MB");
  CHECK(two["collective"] == "all_gather,group=0-3 + broadcast,root=5,group=4-7");
  CHECK(two["size_bytes"] == 2'000'000);
  CHECK(two["verified"] == true);
}

TEST_CASE("limits and threads leave a quick synthesis as it is") {
  const std::string tacos = "synth -t mesh2d:3x3 -c all_gather -a tacos --size 1MB";
  const Json plain = run_of(tacos);
  for (const char* more : {" --limit 60s", " --limit 8GiB", " --limit 60s,8GiB --threads 3",
                           " --limit 8GiB,60s --threads 1"}) {
    const Json limited = run_of(tacos + more);
    CHECK(limited["status"] == plain["status"]);
    CHECK(limited["collective_time_ps"] == plain["collective_time_ps"]);
  }
}

TEST_CASE("Ctrl-C ends a synthesis with the best so far") {
  const TemporaryFolder folder;
  const CommandResult result = interrupt_tutti(
      "synth -t mesh2d:12x12 -c all_gather -a tacos --set starts=1000000 --json -o s.bin", folder);
  CHECK(result.code == 130);
  const Json json = Json::parse(result.out)["runs"][0];
  CHECK(json["status"] == "timed_out");
  CHECK(json["note"] == "interrupted; the best so far");
  CHECK(json["verified"] == true);
  CHECK(run_tutti("verify -t mesh2d:12x12 s.bin", folder).code == 0);
}

TEST_CASE("the same seed twice gives the same schedule and the same results") {
  const TemporaryFolder folder;
  const std::string synth = "synth -t torus2d:4x4 -c all_reduce -a tacos --seed 5 -o ";
  CHECK(run_tutti(synth + "a.json", folder).code == 0);
  CHECK(run_tutti(synth + "b.json", folder).code == 0);
  CHECK(read_file(folder.file("a.json")) == read_file(folder.file("b.json")));

  write_file(folder.file("e.toml"), "name = \"e\"\n[topologies]\nT = \"mesh2d:2x4\"\n[[runs]]\n"
                                    "collectives = [\"all_reduce\"]\nalgorithms = \"all\"\n");
  const auto rows = [&](const std::string& arguments) {
    CHECK(run_tutti("run e.toml " + arguments, folder).code == 0);
    Json results = Json::parse(read_file(folder.file("out/e/results.json")))["runs"];
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
  const Json verified = run_of("verify -t ring:4 s.json", folder);
  CHECK(verified["verified"] == true);
  CHECK(verified["transfers"] == 12);
  CHECK(verified["redundant"] == 0);
  CHECK(verified["details"]["fault"].is_null());

  for (const std::string engine : {"simgrid", "native"}) {
    const Json replayed = run_of("replay -t ring:4 s.json --engine " + engine, folder);
    CHECK(replayed["collective_time_ps"] == 1'560'000);
    CHECK(replayed["engine"] == engine);
    // link 0 is npu0 > npu1: three chunks of 1000 B, 20 ns each
    CHECK(replayed["details"]["links"]["bytes"][0] == 3000);
    CHECK(replayed["details"]["links"]["busy_ps"][0] == 60'000);
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
  const Json rows = Json::parse(result.out)["runs"];
  const trace_reading::Trace trace(Json::parse(read_file(folder.file("t.json"))));
  std::map<int, std::string> names;
  std::vector<std::string> left_out;
  int process = 0;
  for (const Json& row : rows) {
    const std::string name = row["algorithm"].get<std::string>() + ", " +
                             (row["size_bytes"] == 6000 ? "6kB" : "12kB") + ", ";
    if (row["discipline"].is_null()) {
      for (const char* discipline : {"fifo", "fluid"})
        left_out.push_back(name + discipline + ": " + row["note"].get<std::string>());
      process += 2;
      continue;
    }
    const std::string discipline = row["discipline"];
    names.emplace(++process, name + discipline);
    INFO(name << discipline);
    CHECK(trace.marks.at({process, "collective complete"}) == row["collective_time_ps"]);
    // Of direct's fluid transfers none waits for another, and a path's links are held at once.
    CHECK(trace.arrows_of(process).empty() ==
          (discipline == "fluid" && row["algorithm"] == "direct"));
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
  CHECK(Json::parse(json.out)["runs"][0]["verified"] == false);
  const CommandResult replayed =
      run_tutti("replay -t ring:4 bad.json --export-case c.json", folder);
  CHECK(replayed.code == 1);
  CHECK_THAT(replayed.err, ContainsSubstring("bad.json: fault: transfer "));
  CHECK(std::filesystem::exists(folder.file("c.json")));
}

TEST_CASE("bound has certificates checked on demand") {
  const std::string bound = "bound -t ring:4 -c all_gather --size 4kB --chunks 2 --json";
  for (const bool is_checked : {false, true}) {
    const Json details = run_of(bound + (is_checked ? " --check" : ""))["details"];
    for (const char* table : {"bounds", "bounds_at_chunks"}) {
      REQUIRE(details[table].size() > 3);
      for (const Json& each : details[table])
        CHECK(each.value("check", "") == (is_checked ? "holds" : ""));
    }
  }
}

TEST_CASE("bound and show speak of a topology") {
  const Json bound = run_of("bound -t ring:4 -c all_gather --size 4kB");
  CHECK(bound["lower_bound_ps"] == 1'010'000); // as above
  CHECK(bound["lower_bound_kind"] == "cut over time");
  CHECK(bound["details"]["bounds"].size() >= 4);
  CHECK(bound["lower_bound_at_chunks_ps"].is_null());
  const Json at_chunks = run_of("bound -t ring:4 -c all_gather --size 4kB --chunks 1");
  CHECK(at_chunks["lower_bound_ps"] == 1'010'000);
  CHECK(at_chunks["lower_bound_at_chunks_ps"] == 2 * 520'000);
  CHECK(at_chunks["lower_bound_at_chunks_kind"] == "latency path");
  CHECK(run_of("bound -t ring:4 -c all_gather --size 4kB --bound full") == bound);
  CHECK_THAT(run_tutti("bound -t ring:4 -c all_gather --bound none").err,
             ContainsSubstring("unknown bound \"none\" (known: quick, full"));
  for (const Json& each : bound["details"]["bounds"]) CHECK(each["certificate"] != "");
  CHECK_THAT(run_tutti("bound -t ring:4 -c all_gather").out,
             ContainsSubstring("no schedule is faster than "));

  const Json show = run_of("show -t switch:4");
  CHECK(show["npus"] == 4);
  CHECK(show["switches"] == 1);
  CHECK(show["details"]["links"].size() == 8);
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
      const Json made = run_of("synth -a tacos -o s.json" + what + asked, folder),
                 replayed = run_of("replay s.json" + asked, folder),
                 bound = run_of("bound" + what + asked, folder);
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
  CHECK_THAT(picture, ContainsSubstring("at least 120.0 ms") &&
                          ContainsSubstring("72GB over 12 links") &&
                          ContainsSubstring("links that deliveries share"));

  const CommandResult ending = run_tutti(bound + " --draw cut.gif", folder);
  CHECK(ending.code == 2);
  CHECK_THAT(ending.err, ContainsSubstring("cut.gif: a picture is .svg, .pdf or .png"));
  const CommandResult large = run_tutti("bound -t ring:1025 -c broadcast --draw cut.svg", folder);
  CHECK(large.code == 2);
  CHECK_THAT(large.err,
             ContainsSubstring("a bound on 1025 nodes can't be drawn, only on up to 1024"));
}

TEST_CASE("show draws the network") {
  const TemporaryFolder folder;
  const CommandResult drawn = run_tutti("show -t dgx_a100x2 --draw net.svg", folder);
  CHECK(drawn.code == 0);
  CHECK_THAT(drawn.out, ContainsSubstring("16 NPUs"));
  CHECK_THAT(read_file(folder.file("net.svg")),
             ContainsSubstring("<svg") && ContainsSubstring("300 GB/s, 350 ns (32 links)"));
  const CommandResult ending = run_tutti("show -t dgx_a100x2 --draw net.gif", folder);
  CHECK(ending.code == 2);
  CHECK_THAT(ending.err, ContainsSubstring("net.gif: a picture is .svg, .pdf or .png"));
}

TEST_CASE("the frontier of All-Gather on a 4-ring is one point") {
  // The far NPU is two hops away, and three shards come in over two links: in halves, both sides'
  // shards in two rounds, then each half of the far one by another side in one.
  const std::string frontier = "frontier -t ring:4 -c all_gather --size 4kB..16kB";
  const TemporaryFolder folder;
  const Json answer = json_of(frontier + " --out results", folder);
  const Json& json = answer["studies"][0];
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
  REQUIRE(answer["runs"].size() == 3);
  for (const Json& at : answer["runs"]) {
    // 2 x 0.5 us, and 3/2 of a shard at 50 GB/s
    CHECK(at["model_time_ps"] == 1'000'000 + at["size_bytes"].get<std::int64_t>() * 3 / 8 * 20);
    CHECK(at["details"]["native_time_ps"] == at["details"]["simgrid_time_ps"]);
    CHECK(at["details"]["native_time_ps"] <= at["model_time_ps"]);
  }
  CHECK(json["best"].size() == 1);
  CHECK(read_file(folder.file("results/frontier.csv")).starts_with("label,topology,npus,"));
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
  CHECK(json["studies"][0]["problem"].is_null());
  CHECK(json["studies"][0]["scenarios"].size() == 1);
  REQUIRE(json["runs"].size() == 4);
  const Json& report = json["runs"][0];
  CHECK(report["undisturbed_time_ps"] == 1'560'000);
  CHECK(report["policy"] == "report");
  CHECK(report["complete"] == true);
  CHECK(report["last_delivery_ps"] == 2'560'000);
  CHECK(report["details"]["decisions"].empty());
  for (const Json& policy : json["runs"]) CHECK(policy["complete"] == true);
  CHECK(read_file(folder.file("results/failures.csv")).starts_with("label,topology,npus,"));
  CHECK(Json::parse(read_file(folder.file("results/results.json"))) == json);
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
  REQUIRE(json["runs"].size() == 4);
  const Json& report = json["runs"][0];
  CHECK(report["complete"] == false);
  CHECK(report["slowdown"].is_null());
  CHECK(report["goodput_lost"] == 1.0);
  CHECK(report["npus_missing_some"] > 0);
  CHECK_FALSE(report["details"]["missing_text"].empty());
  for (const Json& algorithm : json["studies"]) CHECK(algorithm["problem"].is_null());
  for (const std::size_t resynthesized : {1U, 3U})
    CHECK(json["runs"][resynthesized]["complete"] == true);
}

TEST_CASE("synth cuts shards as sccl wants, unless it is told") {
  const std::string synth = "synth -t ring:4 -c all_gather -a sccl,ring1 --size 4kB";
  const Json chosen = json_of(synth)["runs"];
  CHECK(chosen[0]["chunks_per_shard"] == 2); // (2,2,3)
  CHECK(chosen[0]["verified"] == true);
  CHECK(chosen[1]["details"]["chunks_chosen"] == true);
  CHECK(json_of(synth + " --chunks 1")["runs"][0]["chunks_per_shard"] == 1);
}

TEST_CASE("Ctrl-C ends a frontier with the points so far") {
  const CommandResult result = interrupt_tutti(
      "frontier -t z52_pcie -c all_gather --set max_steps=14 --json", TemporaryFolder());
  CHECK(result.code == 130);
  const Json json = Json::parse(result.out)["studies"][0];
  CHECK(json["timed_out"] == true);
  for (const Json& point : json["points"]) CHECK(point["verified"] == true);
}

TEST_CASE("list names what there is") {
  CHECK_THAT(json_of("list algorithms").dump(), ContainsSubstring("\"tacos\""));
  CHECK_THAT(json_of("list topologies").dump(), ContainsSubstring("\"dgx1\""));
  CHECK_THAT(json_of("list collectives").dump(), ContainsSubstring("\"all_to_all\""));
  CHECK_THAT(json_of("list experiments").dump(), ContainsSubstring("\"tacos/fig02\""));
  CHECK_THAT(json_of("list engines").dump(), ContainsSubstring("\"simgrid\""));
  CHECK_THAT(run_tutti("list algorithms").out, ContainsSubstring("ring_hamiltonian"));
}

TEST_CASE("help and version") {
  CHECK(run_tutti("--version").out.starts_with("tutti "));
  CHECK_THAT(run_tutti("--help").out, ContainsSubstring("synth"));
  const CommandResult help = run_tutti("synth --help");
  CHECK(help.code == 0);
  CHECK_THAT(help.out, ContainsSubstring("--link-busy"));
}

TEST_CASE("sizes come in lists and ranges, and the best of each is marked") {
  const TemporaryFolder folder;
  const std::string line = "synth -t ring:4 -c all_gather -a ring,direct --size ";
  const CommandResult made = run_tutti(line + "1KiB,4KiB..8KiB,1GiB", folder);
  CHECK(made.code == 0);
  std::size_t rows = 0, best = 0;
  std::istringstream lines(made.out);
  for (std::string row; std::getline(lines, row);) {
    rows += row.find("iB  ") != std::string::npos && row.find("  feasible  ") != std::string::npos;
    best += row.find("iB  *  ") != std::string::npos;
  }
  CHECK(rows == 8);
  CHECK(best == 4);
  CHECK_THAT(run_tutti(line + "4KiB,1KiB", folder).err,
             ContainsSubstring("sizes \"4KiB,1KiB\" fall: put the smaller first"));
  CHECK_THAT(run_tutti(line + "1KiB..4KiB,4096B", folder).err,
             ContainsSubstring("sizes \"1KiB..4KiB,4096B\" have 4KiB twice"));
}

TEST_CASE("columns are chosen, of records too, and unknown ones told before the work") {
  const TemporaryFolder folder;
  const std::string line = "synth -t ring:4 -c all_gather -a ring --columns ";
  CHECK_THAT(run_tutti(line + "gap,algorithm", folder).out,
             ContainsSubstring("   gap  algorithm\n"));
  CHECK_THAT(run_tutti(line + "max_link_utilisation,transfers,lower_bound", folder).out,
             ContainsSubstring("max link  transfers  lower bound\n"));
  const CommandResult unknown = run_tutti(line + "gap,gep", folder);
  CHECK(unknown.code == 2);
  CHECK(unknown.out.empty());
  CHECK_THAT(unknown.err, ContainsSubstring("--columns: unknown column \"gep\"") &&
                              ContainsSubstring("did you mean \"gap\"?"));
  CHECK_THAT(run_tutti(line + "gap,hung_on --skew uniform:1us --draws 2", folder).err,
             ContainsSubstring("column \"hung_on\" is called \"critical_cause\" now"));
  CHECK(run_tutti(line + "gap,gap", folder).code == 2);
  CHECK(run_tutti(line + "gap --json", folder).code == 2);
  // What a table could have is no mistake, and what no study of the kind has is one.
  CHECK(run_tutti(line + "gap,size,best", folder).code == 0);
  CHECK(run_tutti(line + "gap,fact:no_such", folder).code == 2); // which only the table knows
  CHECK(run_tutti(line + "verdict", folder).code == 2);          // nothing is compared
  CHECK(run_tutti(line + "time_fluid", folder).code == 2);
  for (const char* command :
       {"train -t ring:4 --model resnet50 --npu v100 -a ring",
        "failures -t ring:4 -c all_gather -a ring --failed-links 1",
        "frontier -t ring:4 -c all_gather", "exec -t ring:4 -c all_gather -a ring"}) {
    const CommandResult refused = run_tutti(std::string(command) + " --columns gep", folder);
    INFO(command);
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK_THAT(refused.err, ContainsSubstring("unknown column \"gep\""));
  }
}

TEST_CASE("every command that uses a network draws it") {
  const TemporaryFolder folder;
  const auto draws = [&](const std::string& command, const std::string& file, const char* words) {
    const CommandResult made = run_tutti(command + " " + file, folder);
    INFO(command);
    INFO(made.err);
    CHECK(made.code == 0);
    const std::string picture = read_file(folder.file(file));
    CHECK(picture.starts_with("<svg"));
    CHECK_THAT(picture, ContainsSubstring(words));
  };
  const std::string ring = " -t ring:4 -c all_gather ";
  draws("synth" + ring + "-a ring,tacos --draw-steps steps.svg --draw", "synth.svg",
        "all_gather by");
  CHECK_THAT(read_file(folder.file("steps.svg")), ContainsSubstring("share of the interval"));
  REQUIRE(run_tutti("synth" + ring + "-a tacos -o s.json", folder).code == 0);
  draws("replay -t ring:4 s.json --columns gap_at_chunks,max_link_utilisation --draw", "r.svg",
        "by tacos on ring:4");
  draws("replay -t ring:4 s.json --draw-steps", "rs.svg", "share of the interval");
  draws("replay -t ring:4 s.json --draw-by queue --draw", "rq.svg", "data waiting for the link");
  Json mine = Json::parse(read_file(folder.file("s.json")));
  mine["algorithm"] = "mine"; // of a name that nobody knows
  write_file(folder.file("mine.json"), mine.dump());
  draws("replay -t ring:4 mine.json --skew none,normal:1us --draws 5 --histogram", "mine.svg",
        "mine, skew normal:1us");
  draws("replay -t ring:4 mine.json --heatmap", "map.svg", "all_gather 1GiB, mine");
  draws("synth" + ring + "-a direct --draw-by queue --draw", "sq.svg", "data waiting for the link");
  draws("synth" + ring + "-a direct --draw-by bytes --draw", "sb.svg", "data over the link");
  draws("failures" + ring + "-a tacos --event at=50%,link_down=npu0-npu1 --draw-by bytes --draw",
        "fb.svg", "data over the link");
  for (const char* wrong :
       {"failures -t ring:4 -c all_gather -a ring --failed-links 1 --draw x.svg --draw-by queue",
        "synth -t ring:4 -c all_gather -a ring --draw x.svg --draw-by heat",
        "synth -t ring:4 -c all_gather -a ring --draw-by bytes",
        "synth -t ring:4 -c all_gather -a ring --discipline fluid --draw x.svg --draw-by queue"}) {
    INFO(wrong);
    const CommandResult refused = run_tutti(wrong, folder);
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK_THAT(refused.err, ContainsSubstring("--draw-by"));
    CHECK_FALSE(std::filesystem::exists(folder.file("x.svg")));
  }
  draws("failures" + ring + "-a tacos --event at=50%,link_down=npu0-npu1 --draw", "f.svg",
        "npu1&gt;npu0 down");
  draws("train -t ring:4 --model resnet50 --npu v100 -a ring --draw", "t.svg", "an iteration");
  write_file(folder.file("jobs.toml"), "algorithms = [\"ring\"]\n"
                                       "[[job]]\nname = \"a\"\ncollective = \"all_reduce\"\n");
  draws("jobs -t ring:4 jobs.toml --draw", "j.svg", "1 job by");
  draws("show -t ring:4 --draw", "n.svg", "ring:4");
  const CommandResult none =
      run_tutti("synth -t ring:4 -c all_gather -a blink --size 1MiB --draw none.svg", folder);
  CHECK(none.code != 0);
  CHECK_FALSE(std::filesystem::exists(folder.file("none.svg")));
  CHECK(run_tutti("synth" + ring + "-a ring --draw x.gif", folder).code == 2);
  draws("synth" + ring + "-a ring --discipline fluid --draw-steps", "fs.svg",
        "share of the interval");
  draws("synth" + ring + "-a ring --start npu1=5us --draw-steps", "ls.svg",
        "share of the interval");
  CHECK(run_tutti("synth" + ring + "-a ring --draw x.svg --draw-steps x.svg", folder).code == 2);
}

TEST_CASE("an expectation of what has no schedule differs, whatever it is of") {
  const TemporaryFolder folder;
  for (const char* metric : {"chunks_per_shard", "synthesis_seconds", "gap"}) {
    write_file(folder.file("e.toml"),
               std::string("name = \"e\"\n[topologies]\nR = \"ring:4\"\n[[runs]]\n"
                           "collectives = [\"all_gather\"]\nalgorithms = [\"ring\", \"blink\"]\n"
                           "[[expect]]\nlabel = \"x\"\nof = {algorithm = \"blink\"}\nmetric = \"") +
                   metric + "\"\nat_most = " +
                   (std::string(metric) == "synthesis_seconds" ? "\"60s\"" : "100") + "\n");
    const CommandResult made = run_tutti("run e.toml", folder);
    INFO(metric);
    INFO(made.err);
    CHECK(made.code == 1);
    CHECK_THAT(made.out, ContainsSubstring("unexpected"));
  }
}

} // namespace cli_test
