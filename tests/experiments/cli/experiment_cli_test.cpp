// `tutti run`: an experiment leaves tables, figures and verdicts, and its exit code says whether
// the verdicts are good.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/command_answers.hpp"
#include "tests/experiments/cli/run_tutti.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace experiment_cli_test {

using namespace tutti;
using Json = nlohmann::json;

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
label = "Torus: restart"
of = {policy = "restart", failed_links = 0}
value = 1
tolerance = "0%"
)";
  write_file(folder.file("e.toml"), failures);
  const CommandResult result = run_tutti("run e.toml --out here", folder);
  INFO(result.err);
  CHECK(result.code == 0);
  CHECK(result.out.starts_with("A torus that loses cables\n\nTorus: T, all_reduce 1MB"));
  CHECK_THAT(read_file(folder.file("here/verdicts.md")),
             ContainsSubstring("| Torus: restart | 1 | 1 | +0.00 % | "
                               "match |"));
  const Json json = Json::parse(read_file(folder.file("here/results.json")));
  REQUIRE(json["studies"].size() == 1);
  CHECK(json["studies"][0]["kind"] == "failures");
  CHECK(json["studies"][0]["scenarios"].size() == 3);
  CHECK(std::filesystem::exists(folder.file("here/failures.csv")));
  CHECK(std::filesystem::exists(folder.file("here/failures_torus.svg")));

  write_file(folder.file("e.toml"),
             failures + "[[failures.expect]]\nlabel = \"x\"\nof = {policy = \"restart\", "
                        "failed_links = 2}\nat_most = 0.5\n");
  const CommandResult differs = run_tutti("run e.toml --out here", folder);
  CHECK(differs.code == 1);
  CHECK_THAT(differs.out, ContainsSubstring("unexpected"));
  CHECK(differs.err == "tutti: an expected value differs, and isn't what \"ours\" says\n");
}

TEST_CASE(
    "runs may have another size, algorithm and setting than the file says; nothing is judged") {
  const TemporaryFolder folder;
  write_file(folder.file("e.toml"),
             "name = \"e\"\n[topologies]\nR = \"ring:4\"\n[[runs]]\n"
             "collectives = [\"all_gather\"]\nsizes = [\"4kB\"]\n"
             "algorithms = [\"ring\"]\nengine = \"native\"\n[[expect]]\n"
             "label = \"x\"\nmetric = \"collective_time\"\nat_most = \"1ps\"\n");
  const CommandResult changed =
      run_tutti("run e.toml --size 8kB --algorithm direct --set starts=3", folder);
  CHECK(changed.code == 2);
  CHECK_THAT(changed.err, ContainsSubstring("--set: unknown setting \"starts\""));
  const CommandResult result =
      run_tutti("run e.toml --size 8kB --algorithm tacos --set starts=3", folder);
  INFO(result.err);
  CHECK(result.code == 0);
  const std::string csv = read_file(folder.file("out/e_changed/results.csv"));
  CHECK_THAT(csv, ContainsSubstring(",8000,tacos,") && !ContainsSubstring("ring,"));
  CHECK(read_file(folder.file("out/e_changed/e.toml"))
            .starts_with("# Run with --size 8kB --algorithm tacos --set starts=3\n"));
  CHECK_FALSE(std::filesystem::exists(folder.file("out/e_changed/verdicts.md")));
  CHECK_THAT(run_tutti("run e.toml --size 8", folder).err, ContainsSubstring("--size: "));
  CHECK_THAT(run_tutti("run e.toml --set x", folder).err,
             ContainsSubstring("--set: expected key=value, found \"x\""));
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
  CHECK(json["studies"][0]["paper"].size() == 2);
  CHECK(json["verdicts"].size() == 2);
  for (const Json& run : json["runs"]) CHECK(run["kind"] == "frontiers");
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
  CHECK_THAT(refuted.err, ContainsSubstring("an expected value differs"));
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
[[figures]]
kind = "sizes"
file = "times"
metric = "collective_time"
[[figures]]
kind = "bars"
file = "bars"
metric = "collective_time"
sizes = ["4kB"]
[[expect]]
label = "unidirectional time"
of = {topology = "R", algorithm = "ring1", size = "4kB"}
metric = "collective_time"
value = "1.56us"
tolerance = "0%"
[[expect]]
label = "wrong"
of = {topology = "R", algorithm = "ring1", size = "4kB"}
over = {topology = "R", algorithm = "ring1", size = "8kB"}
metric = "collective_time"
value = 2
tolerance = "2%"
ours = 0.963
explanation = "latency doesn't double"
)");
  const CommandResult result = run_tutti("run e.toml --out results/here", folder);
  INFO(result.err);
  CHECK(result.code == 0);
  CHECK(result.out.starts_with("Two rings\n"));
  // 3 (0.5 us + 20 ns) over 3 (0.5 us + 40 ns) = 0.963
  CHECK(read_file(folder.file("results/here/verdicts.md")) ==
        "# Two rings\n\n"
        "| what | paper | ours | difference | verdict | note |\n"
        "| --- | ---: | ---: | ---: | --- | ---: |\n"
        "| unidirectional time | 1.560 us | 1.560 us | +0.00 % | match |  |\n"
        "| wrong | 2.00 | 0.96 | -51.85 % | differs | 1 |\n\n"
        "2 rows: 1 match, 1 differ\n\n"
        "1. latency doesn't double\n");
  CHECK(read_file(folder.file("results/here/e.toml")) == read_file(folder.file("e.toml")));
  const std::string csv = read_file(folder.file("results/here/results.csv"));
  CHECK(csv.starts_with("label,topology,npus,collective,size_bytes,algorithm,"));
  CHECK_THAT(csv, ContainsSubstring(",R,4,all_gather,4000,ring1,"));
  // What is printed of a case stands in figures of its metric.
  CHECK_THAT(read_file(folder.file("results/here/bars.csv")),
             ContainsSubstring("\n\"ring1, paper\",R,1.56\n"));
  CHECK_THAT(read_file(folder.file("results/here/times.csv")),
             ContainsSubstring("\n\"ring1, paper\",4000,1.56\n"));
  CHECK_THAT(read_file(folder.file("results/here/sizes.csv")), !ContainsSubstring("paper"));
  const Json json = Json::parse(read_file(folder.file("results/here/results.json")));
  CHECK(json["seed"] == 1);
  CHECK(json["runs"].size() == 4);
  CHECK(json["verdicts"][0]["verdict"] == "match");
  for (const char* name : {"tutti", "commit", "simgrid"}) CHECK(json["versions"].contains(name));
  for (const char* name : {"heat.svg", "heat.csv", "sizes.svg", "sizes.csv"}) {
    INFO(name);
    CHECK(std::filesystem::exists(folder.file(std::string("results/here/") + name)));
  }
}

TEST_CASE("each experiment has a folder of its own, and another's is refused") {
  const TemporaryFolder folder;
  const std::string body = "[topologies]\nR = \"ring:4\"\n[[runs]]\nalgorithms = [\"ring\"]\n"
                           "collectives = [\"all_gather\"]\nsizes = [\"4kB\"]\n";
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directory(folder.file(name));
    write_file(folder.file(std::string(name) + "/table6_1.toml"),
               std::string("name = \"table6_1\"\ntitle = \"Of ") + name + "\"\n" + body);
  }
  // Two experiments that come with Tutti may share a name: their paths tell them apart.
  const CommandResult known = run_tutti("run flows/table6_1", folder);
  INFO(known.err);
  REQUIRE(known.code == 0);
  CHECK(std::filesystem::exists(folder.file("out/flows/table6_1/results.json")));
  CHECK(run_tutti("run a/table6_1.toml", folder).code == 0);
  CHECK(run_tutti("run a/table6_1.toml", folder).code == 0); // once more
  for (const char* refused :
       {"run b/table6_1.toml", "run b/table6_1.toml --out out/flows/table6_1"}) {
    const CommandResult other = run_tutti(refused, folder);
    CHECK(other.code == 2);
    CHECK_THAT(other.err, ContainsSubstring("it has the results of the experiment table6_1"));
  }
  CHECK(read_file(folder.file("out/table6_1/table6_1.toml")).find("Of a") != std::string::npos);
  const Json results = Json::parse(read_file(folder.file("out/table6_1/results.json")));
  CHECK(results.at("title") == "Of a");
}

TEST_CASE("a column that is known, and that nothing in a table has, is left out of it") {
  // No schedule, no replay: the column is there no more, which is no mistake of who asked for it.
  const CommandResult found =
      run_tutti("synth -t ring:5 -c all_gather -a rhd --columns algorithm,time_fifo,status",
                TemporaryFolder());
  CHECK(found.code == 1);
  CHECK_THAT(found.out, ContainsSubstring("rhd        unsupported"));
  CHECK(found.out.find("time") == std::string::npos);
  CHECK_THAT(found.err, ContainsSubstring("rhd needs a power of two of NPUs"));
}

TEST_CASE("a column that no table of an experiment can have is refused before anything runs") {
  const TemporaryFolder folder;
  const std::string runs =
      "name = \"e\"\n[topologies]\nR = \"ring:4\"\n[[runs]]\nalgorithms = [\"ring\"]\n"
      "collectives = [\"all_gather\"]\nsizes = [\"4kB\"]\n";
  const std::string failures = "name = \"e\"\n[topologies]\nR = \"ring:4\"\n[[failures]]\n"
                               "collective = \"all_gather\"\nsize = \"4kB\"\n"
                               "algorithms = [\"ring\"]\nfailed_links = [1]\nat = \"50%\"\n";
  const auto code = [&](const std::string& text, const std::string& columns) {
    write_file(folder.file("e.toml"), text);
    std::filesystem::remove_all(folder.file("out"));
    const CommandResult result = run_tutti("run e.toml --columns " + columns, folder);
    INFO(result.err);
    CHECK(std::filesystem::exists(folder.file("out")) == (result.code == 0));
    return result.code;
  };
  for (const char* column : {"low", "time_low", "over_nccl", "skew", "p95"})
    CHECK(code(runs, column) == 2);
  CHECK(code(runs, "time,gap") == 0);
  CHECK(code(runs + "skews = [\"uniform:1us\"]\ndraws = 3\n", "skew") == 0);
  CHECK(code(failures, "skew") == 2);
  CHECK(code(failures, "policy") == 0);
}

} // namespace experiment_cli_test
