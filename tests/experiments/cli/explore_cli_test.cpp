// Pages that commands write: each shows what the command's own answer says.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/command_answers.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/explored_page.hpp"
#include "tests/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace explore_cli_test {

using namespace tutti;
using explored_page::values_of;
using Json = nlohmann::json;

namespace {

Json data_in(const TemporaryFolder& folder, const std::string& file) {
  return explored_page::data_of(read_file(folder.file(file)));
}

Json results_in(const TemporaryFolder& folder, const std::string& file) {
  return explored_page::results_of(data_in(folder, file));
}

Json table_in(const TemporaryFolder& folder, const std::string& file, const std::string& title) {
  return explored_page::table_of(results_in(folder, file), title);
}

void run_well(const std::string& arguments, const TemporaryFolder& folder) {
  const CommandResult result = run_tutti(arguments, folder);
  INFO(arguments);
  INFO(result.err);
  REQUIRE(result.code == 0);
}

} // namespace

TEST_CASE("a page plays what synth and replay made, and what is in files") {
  const TemporaryFolder folder;
  const std::string ring = " -t ring:4 -c all_gather --size 1MiB ";
  REQUIRE(run_tutti("synth" + ring + "-a direct,tacos --explore both.html", folder).code == 0);
  const Json both = data_in(folder, "both.html");
  CHECK(both["title"] == "all_gather on ring:4");
  REQUIRE(both["runs"].size() == 2); // the faster one first
  CHECK(both["runs"][0]["label"] == "tacos, all_gather 1MiB");
  CHECK(both["runs"][0]["completion_ps"] <= both["runs"][1]["completion_ps"]);
  CHECK(both["command"] == "tutti synth" + ring + "-a direct,tacos --explore both.html");
  CHECK(run_of("synth" + ring + "-a tacos", folder)["collective_time_ps"] ==
        both["runs"][0]["completion_ps"]);
  REQUIRE(run_tutti("synth -t ring:4 -c all_gather --size 1MiB -a tacos --start npu3=200us "
                    "--explore late.html --discipline fluid --engine simgrid",
                    folder)
              .code == 0);
  const Json late = data_in(folder, "late.html")["runs"][0];
  CHECK(late["bound_kind"] == "late-start");
  CHECK(late["bound_ps"].get<std::int64_t>() > 200'000'000);
  for (const std::string name : {"tacos", "direct"})
    REQUIRE(run_tutti("synth" + ring + "-a " + name + " -o " + name + ".tutti", folder).code == 0);
  REQUIRE(run_tutti("explore -t ring:4 direct.tutti tacos.tutti", folder).code == 0);
  const Json files = data_in(folder, "explore.html");
  REQUIRE(files["runs"].size() == 2);
  CHECK(files["runs"][0]["completion_ps"] == both["runs"][0]["completion_ps"]);
  REQUIRE(run_tutti("replay -t ring:4 tacos.tutti --explore one.html", folder).code == 0);
  CHECK(data_in(folder, "one.html")["title"] == "tacos, all_gather 1MiB on ring:4");
  const CommandResult wrong = run_tutti("explore -t ring:4 tacos.tutti -o page.svg", folder);
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.err, ContainsSubstring("page.svg: a page is a file that ends with .html"));
}

TEST_CASE("a page of failures plays each policy, with what happened on the way") {
  const TemporaryFolder folder;
  const std::string failures =
      "failures -t ring:4 -c all_gather --size 4MiB -a tacos "
      "--event 'at=40%,link_down=npu0>npu1' --detection 1us --decision 1us";
  const Json answer = json_of(failures + " --explore page.html", folder);
  const Json data = data_in(folder, "page.html");
  const Json failed = table_in(folder, "page.html", "failures");
  REQUIRE(data["runs"].size() == 1 + answer["runs"].size()); // the undisturbed one first
  for (std::size_t r = 0; r < answer["runs"].size(); ++r) {
    const Json& row = answer["runs"][r];
    INFO(row["policy"]);
    const Json& run = data["runs"][failed["runs"][r].get<std::size_t>()];
    CHECK(run["label"] == "tacos, " + row["policy"].get<std::string>());
    if (row["complete"] == true) CHECK(run["completion_ps"] == row["collective_time_ps"]);
    CHECK(run["hops"]["count"] > 0);
    REQUIRE_FALSE(run["moments"].empty());
    CHECK(run["moments"][0]["words"] == "npu0>npu1 down");
    CHECK(run["moments"][0]["links_down"].size() == 1);
    const bool plans = row["policy"] == "resynthesize" || row["policy"] == "restart";
    if (plans) CHECK(run["moments"].size() > 1); // a decision
  }
  CHECK_FALSE(data["runs"][0]["critical"].empty());
  // Where there are several scenarios, the first is played.
  run_well(
      "failures -t mesh2d:3x3 -c all_gather --size 1MiB -a tacos --failed-links 0,1 --seeds 1,2 "
      "--explore several.html",
      folder);
  CHECK(data_in(folder, "several.html")["runs"].size() == 5);
  // Crossings of every plan are there: links carried as much.
  for (const Json& run : data["runs"]) {
    std::uint64_t crossings = 0;
    for (const Json& transfers : run["network"]["links"]["transfers"])
      crossings += transfers.get<std::uint64_t>();
    CHECK(run["hops"]["count"] == crossings);
  }
}

TEST_CASE("a page of training says where an iteration goes, and what each NPU does") {
  const TemporaryFolder folder;
  const Json row = run_of("train -t ring:4 --model resnet50 --npu v100 -a ring --cache none "
                          "--explore page.html",
                          folder);
  const Json results = results_in(folder, "page.html");
  const Json training = explored_page::table_of(results, "training");
  CHECK(values_of(training, "iteration_time_ps") == Json::array({row["iteration_time_ps"]}));
  CHECK(training["chart"]["kind"] == "parts");
  REQUIRE(results["timelines"].size() == 1);
  const Json& timeline = results["timelines"][0];
  CHECK(timeline["length_ps"] == row["duration_ps"]);
  CHECK(timeline["npus"] == Json::array({"npu0"}));
  CHECK_THAT(timeline["title"].get<std::string>(), ContainsSubstring("(1 of 4 NPUs)"));
  run_well("train -t ring:4 --model resnet50 --npu v100 -a ring --cache none --straggler npu3=0.5 "
           "--explore slow.html",
           folder);
  CHECK(results_in(folder, "slow.html")["timelines"][1]["npus"] == Json::array({"npu0", "npu3"}));
  std::int64_t computing = 0;
  for (std::size_t s = 0; s < timeline["start"].size(); ++s)
    if (timeline["kind"][s] == 0) computing += timeline["duration"][s].get<std::int64_t>();
  CHECK(4 * computing == row["sum_compute_ps"]);
  CHECK(data_in(folder, "page.html")["runs"].size() == 1); // what the network was used for
}

TEST_CASE("an experiment's page has verdicts, rows and runs that are played") {
  const TemporaryFolder folder;
  write_file(folder.file("e.toml"),
             "name = \"e\"\ntitle = \"An <experiment>\"\n"
             "[topologies]\nR = \"ring:4\"\nM = \"mesh2d:2x3\"\n"
             "[[runs]]\ntopologies = [\"R\", \"M\"]\ncollectives = [\"all_gather\"]\n"
             "sizes = [\"1MiB\", \"2MiB\"]\nalgorithms = [\"ring\", \"tacos\"]\n"
             "[[expect]]\nlabel = \"a row\"\nof = {topology = \"R\", "
             "size = \"1MiB\", algorithm = \"ring\"}\n"
             "metric = \"gap\"\nvalue = 9\ntolerance = \"1%\"\nours = 2\nours_tolerance = \"99%\"\n"
             "explanation = \"why <not>\"\n");
  run_well("run e.toml", folder);
  const Json data = data_in(folder, "out/e/index.html"),
             answer = Json::parse(read_file(folder.file("out/e/results.json")));
  CHECK(data["title"] == "An <experiment>");
  const Json verdicts = table_in(folder, "out/e/index.html", "verdicts");
  CHECK(values_of(verdicts, "verdict") == Json::array({"differs"}));
  CHECK(values_of(verdicts, "explanation") == Json::array({"why <not>"}));
  const Json rows = table_in(folder, "out/e/index.html", "results");
  REQUIRE(rows["runs"].size() == 8);
  std::size_t played = 0;
  for (std::size_t r = 0; r < 8; ++r) {
    const auto run = rows["runs"][r].get<std::int64_t>();
    if (run < 0) continue;
    ++played;
    CHECK(data["runs"][static_cast<std::size_t>(run)]["completion_ps"] ==
          answer["runs"][r]["collective_time_ps"]);
  }
  CHECK(played == data["runs"].size());
  CHECK(played == 8);
  // What is in its folder opens as well, one beside another.
  run_well("explore out/e", folder);
  const Json one = table_in(folder, "explore.html", "results");
  CHECK(values_of(one, "collective_time_ps") == values_of(rows, "collective_time_ps"));
  for (const Json& column : one["columns"])
    if (column["name"] == "lower_bound_ps") CHECK(column["quantity"] == "time");
  run_well("run e.toml --out twice", folder);
  run_well("explore out/e twice/results.json -o both.html", folder);
  const Json both = table_in(folder, "both.html", "results");
  CHECK(values_of(both, "file").size() == 16);
  CHECK(values_of(both, "file")[15] == "twice/results.json");
}

TEST_CASE("pages of logs, programs, frontiers, jobs and stores") {
  const TemporaryFolder folder;
  write_file(
      folder.file("log"),
      "# Collective test starting: all_gather_perf\n"
      "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 4194304\n"
      "     1048576         32768     float    none      -1    60.0   17.00   14.00       0    "
      "60.0   17.00   14.00       0\n"
      "     4194304        131072     float    none      -1    90.0   46.00   40.00       0    "
      "90.0   46.00   40.00       0\n");
  const CommandResult compared =
      run_tutti("compare -t dgx_h100 log --explain --cache none --json --explore c.html", folder);
  INFO(compared.err);
  REQUIRE(compared.code == 0);
  const Json answer = Json::parse(compared.out), rows = table_in(folder, "c.html", "rows");
  REQUIRE(values_of(rows, "measured_seconds").size() == answer["runs"].size());
  for (std::size_t r = 0; r < answer["runs"].size(); ++r) {
    CHECK(values_of(rows, "predicted_time_ps")[r] == answer["runs"][r]["predicted_time_ps"]);
    CHECK(values_of(rows, "busbw_low_bytes_per_s")[r] <=
          values_of(rows, "predicted_busbw_bytes_per_s")[r]);
  }
  CHECK(values_of(table_in(folder, "c.html", "causes"), "cause").size() ==
        answer["explanation"]["findings"].size());
  run_well("synth -t ring:4 -c all_gather -a ring --size 64KiB -o s.tutti", folder);
  run_well("lower -t ring:4 s.tutti -o p.xml", folder);
  run_well("import -t ring:4 p.xml --size 64KiB --discipline fifo --explore i.html", folder);
  CHECK(data_in(folder, "i.html")["runs"][0]["hops"]["count"] > 0);
  run_well("frontier -t ring:4 -c all_gather --explore f.html", folder);
  CHECK(values_of(table_in(folder, "f.html", "frontier"), "steps").size() >= 2);
  write_file(folder.file("jobs.toml"), "algorithms = [\"ring\"]\n[[job]]\nname = \"a\"\n"
                                       "collective = \"all_reduce\"\nsize = \"1MiB\"\n");
  run_well("jobs -t ring:4 jobs.toml --explore j.html", folder);
  CHECK_FALSE(table_in(folder, "j.html", "jobs").is_null());
  write_file(folder.file("w.toml"),
             "name = \"w\"\n[parameters]\nn = [3, 4]\n[objectives]\ntime = \"collective_time_s\"\n"
             "[experiment]\ntopologies = {T = \"ring:${n}\"}\n[[experiment.runs]]\n"
             "collectives = [\"all_gather\"]\nsizes = [\"1MiB\"]\nalgorithms = [\"ring\"]\n");
  run_well("sweep w.toml --cache none", folder);
  run_well("explore out/w/sweep.sqlite -o w.html", folder);
  const Json points = table_in(folder, "w.html", "points");
  CHECK(values_of(points, "n") == Json::array({3, 4}));
  CHECK(points["runs"].size() == 2);
  CHECK(data_in(folder, "w.html")["runs"].size() == 2);
  const CommandResult none = run_tutti("explore s.tutti", folder);
  CHECK(none.code == 2);
  CHECK_THAT(none.err, ContainsSubstring("a schedule needs its network: -t TOPOLOGY"));
  CHECK_THAT(run_tutti("explore nothing", folder).err,
             ContainsSubstring("nothing: there is no such file or folder"));
  // The same column may be a number here and a text there.
  for (const char* const sub : {"u1", "u2"}) std::filesystem::create_directory(folder.file(sub));
  write_file(folder.file("u1/q.csv"), "a,b,c,c\n1,2,3,4\n");
  write_file(folder.file("u2/q.csv"), "a,b,c,file\nx,2.5,3,4\n");
  run_well("explore u1 u2 -o u.html", folder);
  const Json mixed = table_in(folder, "u.html", "q");
  CHECK(values_of(mixed, "a") == Json::array({"1", "x"}));
  CHECK(values_of(mixed, "b") == Json::array({2.0, 2.5}));
  CHECK(values_of(mixed, "c_2") == Json::array({4, nullptr}));
  std::filesystem::create_directory(folder.file("empty"));
  CHECK_THAT(run_tutti("explore empty", folder).err,
             ContainsSubstring("empty: there are no results in it"));
}

} // namespace explore_cli_test
