// Each command that prints JSON has a schema, which refuses what it doesn't say.
#include "tests/experiments/cli/json_schemas.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/command_answers.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/paths.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace json_schemas_test {

using namespace tutti;
using Json = nlohmann::json;

namespace {

/// Small commands, one of each that prints JSON; some need what an earlier one wrote.
const std::vector<std::string> answers{
    "synth -t ring:4 -c all_gather -a ring --size 4kB -o s.json",
    "replay -t ring:4 s.json",
    "verify -t ring:4 s.json",
    "lower -t ring:4 s.json -o s.xml",
    "import -t ring:4 s.xml --size 4kB",
    "bound -t ring:4 -c all_gather --size 4kB --chunks 2",
    "compare -t ring:4 measured.csv -a ring --cache none",
    "compare -t dgx_h100 eight.csv --explain --cache none",
    "predict -t ring:4 -a ring -c all_gather --size 4kB,8kB --cache none",
    "fit -t dgx_h100 eight.csv --free launch.h100",
    "show -t ring:4",
    "lint -t 'switch:8,without-link=npu7>switch0'", // which ends with 1
    "check-algorithm ring1 -t ring:2",
    "sketch -t ndv2x2 -o sketches",
    "show -t ndv2x2 --sketch sketches/relay.toml",
    "list engines",
    "list formats",
    "list runtimes",
    "frontier -t ring:4 -c all_gather --size 4kB",
    "jobs -t ring:4 jobs.toml",
    "failures -t ring:4 -c all_gather -a ring --size 4kB --event at=50%,link_down=npu0-npu1",
    "train -t ring:4 --workload two.txt --unit us -a ring --cache none",
    "exec -t ring:3 -c all_gather -a ring --size 12kB --links real --predicted-by nothing "
    "--repeat 1",
    "profile -t ring:3,bandwidth=100MB/s,latency=100us --repeat 1 --sizes 4kB,64kB --within 10000%",
    "run e.toml",
    "sweep sweep.toml",
    "sweep sweep.toml --where 'n > 4'"};

void write_inputs(const TemporaryFolder& folder) {
  write_file(folder.file("measured.csv"), "collective,bytes,time_us\nAllGather,4096,3.5\n");
  write_file(folder.file("eight.csv"), "collective,bytes,time_us\nAllReduce,1048576,35\n");
  write_file(folder.file("jobs.toml"), "algorithms = [\"ring\"]\n[[job]]\nname = \"a\"\n"
                                       "collective = \"all_gather\"\nsize = \"4kB\"\n");
  write_file(folder.file("two.txt"), "DATA\n1\na -1 10 NONE 0 0 NONE 0 40 ALLREDUCE 1000000 0\n");
  write_file(folder.file("e.toml"), "name = \"e\"\n[topologies]\nR = \"ring:4\"\n[[runs]]\n"
                                    "collectives = [\"all_gather\"]\nalgorithms = [\"ring\"]\n"
                                    "sizes = [\"4kB\"]\n");
  write_file(folder.file("sweep.toml"), R"(name = "s"
title = "s"
[parameters]
n = [4, 5]
[experiment.topologies]
R = "ring:${n}"
[[experiment.runs]]
collectives = ["all_gather"]
algorithms = ["ring"]
sizes = ["4kB"]
)");
}

} // namespace

TEST_CASE("every command's answer is as its schema says, and nothing else is") {
  const TemporaryFolder folder;
  write_inputs(folder);
  std::set<std::string> commands;
  for (const std::string& arguments : answers) {
    const CommandResult result = run_tutti(arguments + " --json", folder); // which checks it
    INFO(arguments);
    INFO(result.err);
    REQUIRE(result.code == (arguments.starts_with("lint") ? 1 : 0));
    CHECK(schema_errors(result.out) == "");
    Json answer = Json::parse(result.out);
    commands.insert(answer["command"].get<std::string>());
    REQUIRE_FALSE(answer["runs"].empty());
    const auto is_refused = [](const Json& json) { return !schema_errors(json.dump()).empty(); };
    for (const auto& [key, value] : answer.items()) {
      if (key == "command") continue;
      INFO(key);
      Json without = answer;
      without.erase(key);
      CHECK(is_refused(without));
    }
    for (const auto& [key, value] : answer["runs"][0].items()) {
      INFO(key);
      if (key.starts_with("fact:")) continue; // which may be missing
      Json without = answer;
      without["runs"][0].erase(key);
      CHECK(is_refused(without));
      Json other = answer;
      other["runs"][0][key] = Json::array({nullptr}); // no column has such lists
      CHECK(is_refused(other));
    }
    Json more = answer;
    more["runs"][0]["unheard_of"] = 1;
    CHECK(is_refused(more));
    more = answer;
    more["unheard_of"] = 1;
    CHECK(is_refused(more));
    more = answer;
    more["format"] = 1;
    CHECK(is_refused(more));
  }
  std::set<std::string> with_json, with_schema;
  std::istringstream help(run_tutti("--help").out);
  bool in_list = false;
  for (std::string line; std::getline(help, line);) {
    in_list |= line.find("ubcommands") != std::string::npos;
    const std::string name = line.substr(0, 2) == "  " ? line.substr(2, line.find(' ', 2) - 2) : "";
    if (in_list && !name.empty() &&
        run_tutti(name + " --help").out.find("--json") != std::string::npos)
      with_json.insert(name);
  }
  CHECK(with_json == commands);
  for (const auto& file : std::filesystem::directory_iterator(TUTTI_SOURCE_DIR "/docs/schemas"))
    if (const std::string name = file.path().stem().string();
        file.path().extension() == ".json" && name != "rows" && name != "details")
      with_schema.insert(name);
  CHECK(with_schema == commands);
}

TEST_CASE("results.json is an answer, too") {
  const TemporaryFolder folder;
  write_inputs(folder);
  REQUIRE(run_tutti("run e.toml", folder).code == 0);
  CHECK(schema_errors(read_file(folder.file("out/e/results.json"))) == "");
  REQUIRE(run_tutti("jobs -t ring:4 jobs.toml --out o", folder).code == 0);
  CHECK(schema_errors(read_file(folder.file("o/results.json"))) == "");
}

TEST_CASE("what isn't an answer is said so") {
  CHECK_THROWS_AS(schema_errors("{"), InputError);
  CHECK_THROWS_AS(schema_errors("[]"), InputError);
  CHECK_THROWS_AS(schema_errors("{\"format\": 2}"), InputError);
}

} // namespace json_schemas_test
