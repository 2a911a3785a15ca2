// `tutti exec`, `profile`, `lower` and `import`, as a user calls them.
#include "tests/catch.hpp"
#include "tests/experiments/cli/command_answers.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/temporary_folder.hpp"

#include "sim/files/files.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace execution_cli_test {

using namespace tutti;
using Json = nlohmann::json;

namespace {

const std::string line = "-t ring:3,bandwidth=100MB/s,latency=100us ";

void check_refused(const std::string& arguments, const TemporaryFolder& folder,
                   const std::string& words) {
  const CommandResult result = run_tutti(arguments, folder);
  INFO(arguments);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, ContainsSubstring(words));
}

void check_refused(const std::string& arguments, const std::string& words) {
  check_refused(arguments, TemporaryFolder(), words);
}

} // namespace

TEST_CASE("exec moves data, checks every element and predicts the time of throttled links") {
  const Json made =
      json_of("exec " + line +
              "-c all_gather -a ring --size 300kB --chunks 1 --predicted-by topology --repeat 2");
  REQUIRE(made["runs"].size() == 1);
  const Json& run = made["runs"][0];
  CHECK(run["wrong"] == 0);
  CHECK(run["checked"] == 3 * 300'000 / 4);
  CHECK(run["details"]["seconds"].size() == 2);
  CHECK(run["details"]["bytes_moved"] == 2 * 300'000); // each shard to two others
  // Halves of 50 kB both ways round the ring: two hops of 100 us + 0.5 ms.
  CHECK(run["predicted_time_ps"] == 1'200'000'000);
  CHECK(run["details"]["predicted_ps"] == Json{1'200'000'000, 1'200'000'000});
  CHECK(run["measured_seconds"].get<double>() >= 1.2e-3);
  CHECK(made["studies"][0]["predicted_by"] == "topology");
}

TEST_CASE("exec predicts by the profile of what it measured") {
  const Json made = json_of("exec " + line + "-c broadcast -a ring --size 96kB --repeat 1");
  CHECK(made["studies"][0]["profile"]["links"].size() == 6);
  for (const Json& link : made["studies"][0]["profile"]["links"]) {
    CHECK(link["timings"].size() >= 2);
    for (const Json& timing : link["timings"]) // no faster than it is throttled to
      CHECK(timing["at_once_seconds"].get<double>() >=
            0.999 * (1e-4 + 8e-8 * timing["size_bytes"].get<double>()));
  }
  CHECK(made["runs"][0]["wrong"] == 0);
  CHECK(made["runs"][0]["details"]["predicted_ps"].size() == 2);
}

TEST_CASE("exec combines by maximum, in place, a copy for each step") {
  const Json made = json_of("exec -t ring:4 -c all_reduce -a ring,dbt --size 64kB --links real "
                            "--predicted-by nothing --type int32 --op max --in-place "
                            "--copy-per-step --instances 2 --repeat 1");
  REQUIRE(made["runs"].size() == 2);
  for (const Json& run : made["runs"]) {
    CHECK(run["wrong"] == 0);
    CHECK(run["checked"] == 4 * 64'000 / 4);
    CHECK(run["predicted_time_ps"].is_null());
    CHECK(run["details"]["predicted_ps"].empty());
  }
}

TEST_CASE("exec prints nccl-tests' columns") {
  const CommandResult result =
      run_tutti("exec " + line +
                "-c all_reduce -a ring --size 24kB,12kB --predicted-by topology "
                "--repeat 1 --nccl-tests");
  CHECK(result.code == 2); // sizes fall
  const CommandResult made = run_tutti("exec " + line +
                                       "-c all_gather -a ring --size 12kB "
                                       "--predicted-by topology --repeat 1 --nccl-tests");
  REQUIRE(made.code == 0);
  std::istringstream rows(made.out);
  std::string row;
  while (std::getline(rows, row) && row.starts_with("#")) {
  }
  std::istringstream cells(row);
  std::int64_t size = 0, count = 0, root = 0;
  std::string type, operation;
  double time = 0, algbw = 0, busbw = 0;
  std::uint64_t wrong = 1;
  cells >> size >> count >> type >> operation >> root >> time >> algbw >> busbw >> wrong;
  REQUIRE(cells);
  CHECK(size == 12'000);
  CHECK(count == 1000); // of a rank
  CHECK(type == "float32");
  CHECK(operation == "sum");
  CHECK(root == -1);
  CHECK(wrong == 0);
  CHECK(algbw == Approx(12'000 / time * 1e-3).margin(0.01));
  CHECK(busbw <= algbw);
  CHECK_THAT(made.out, ContainsSubstring("# Out of bounds values : 0 OK"));
}

TEST_CASE("a size that doesn't divide is told, with the next that does") {
  const std::string exec = "exec -t ring:4 -c all_reduce -a ring --links real "
                           "--predicted-by nothing --repeat 1 --size ";
  const Json made = json_of(exec + "1002B..1024B");
  CHECK(made["runs"][0]["wrong"].is_null());
  CHECK_THAT(made["runs"][0]["note"].get<std::string>(), ContainsSubstring("1024 bytes"));
  CHECK(made["runs"].back()["wrong"] == 0);
}

TEST_CASE("where nothing runs, exec and run say so and exit with 1") {
  const TemporaryFolder folder;
  for (const char* work :
       {"-t ring:4 -c all_reduce -a ring --size 1002B", "-t ring:6 -c all_reduce -a rhd --size 6MB",
        "-t ring:6 -c all_gather -a rhd --size 6MB..24MB"}) {
    const CommandResult result = run_tutti(
        std::string("exec --links real --predicted-by nothing ") + work + " --json", folder);
    INFO(work);
    INFO(result.err);
    CHECK(result.code == 1);
    CHECK_THAT(result.err, ContainsSubstring("nothing ran: "));
    for (const Json& run : Json::parse(result.out)["runs"]) CHECK(run["note"].is_string());
  }
  write_file(folder.file("e.toml"), R"(name = "e"
[topologies]
R = "ring:6"
[[executions]]
label = "Halving"
topology = "R"
collective = "all_reduce"
algorithms = ["rhd"]
sizes = ["6MB"]
predicted_by = "nothing"
)");
  const CommandResult result = run_tutti("run e.toml --out results", folder);
  CHECK(result.code == 1);
  CHECK_THAT(result.err, ContainsSubstring("Halving: nothing ran: rhd, "));
}

TEST_CASE("a schedule goes through MSCCL's XML and comes back with its time") {
  const TemporaryFolder folder;
  // Messages over one link each: of a way over several, XML doesn't say which.
  for (const auto& [network, algorithm] : {std::pair<std::string, std::string>{"ring:8", "ring"},
                                           {"dgx1", "sccl"},
                                           {"dgx1", "tacos"}}) {
    INFO(algorithm);
    const Json made = run_of("synth -t " + network + " -c all_gather -a " + algorithm +
                                 " --chunks 2 --size 256kB -o s.json",
                             folder);
    const Json program = run_of("lower -t " + network + " s.json -o s.xml", folder);
    CHECK(program["verified"] == true);
    CHECK(program["units"] == made["chunks"]);
    const Json back =
        json_of("import -t " + network + " s.xml --size 256kB -o back.json", folder)["runs"][0];
    CHECK(back["collective_time_ps"] == made["collective_time_ps"]);
    CHECK(back["verified"] == true);
    const Json replayed = run_of("replay -t " + network + " back.json --engine native", folder);
    CHECK(replayed["collective_time_ps"] == made["collective_time_ps"]);
    const Json run = json_of("exec -t " + network +
                                 " s.xml --size 256kB --links real "
                                 "--predicted-by nothing --repeat 1",
                             folder);
    CHECK(run["runs"][0]["wrong"] == 0);
    CHECK(run["runs"][0]["checked"] == 8 * 64'000);
  }
}

TEST_CASE("a program fits the runtime that it is lowered for, or is refused with the number") {
  const TemporaryFolder folder;
  run_of("synth -t torus2d:8x8 -c all_reduce --size 8MiB --chunks 1 -a ring -o x.json", folder);
  const std::string lower = "lower -t torus2d:8x8 x.json -o x.xml ";
  const Json all = run_of(lower, folder), msccl = run_of(lower + "--runtime msccl", folder);
  CHECK(all["details"]["runtimes"].size() == 3);
  CHECK(all["most_steps_of_a_block"] <= 64);
  CHECK_FALSE(all["details"]["changes"].empty());
  CHECK(msccl["details"]["runtimes"].size() == 1);
  CHECK(msccl["most_steps_of_a_block"] > 64);
  CHECK(msccl["most_steps_of_a_block"] <= 256);

  run_of("synth -t fully_connected:72 -c all_gather --size 8MiB --chunks 1 -a direct -o y.json",
         folder);
  const CommandResult wide =
      run_tutti("lower -t fully_connected:72 y.json --runtime rccl -o y.xml", folder);
  CHECK(wide.code == 1);
  CHECK(wide.out.empty());
  CHECK_THAT(wide.err, ContainsSubstring("y.json: refused: rccl 2.21: gpu 0: ") &&
                           ContainsSubstring("blocks, and rccl 2.21 has 64 at most"));
  CHECK_FALSE(std::filesystem::exists(folder.file("y.xml")));
  CHECK_FALSE(std::filesystem::exists(folder.file("y.xml.paths.json")));

  run_of("synth -t ring:4 -c gather --size 1MiB --chunks 1 -a tacos -o g.json", folder);
  const CommandResult gather = run_tutti("lower -t ring:4 g.json -o g.xml", folder);
  CHECK(gather.code == 1);
  CHECK_THAT(gather.err, ContainsSubstring("msccl 2.12 doesn't know gather: name another one"));
  const CommandResult rooted = run_tutti("lower -t ring:4 g.json --runtime rccl -o g.xml", folder);
  CHECK(rooted.code == 0);
  CHECK_THAT(rooted.err, ContainsSubstring("another root than 0"));
  check_refused("lower -t ring:4 g.json --runtime nccl", folder, "unknown runtime \"nccl\"");
  CHECK_THAT(run_tutti("list runtimes", folder).out,
             ContainsSubstring("rccl@2.21") && ContainsSubstring("msccl_parser.cc"));
}

TEST_CASE("the paths of connections are kept beside the XML") {
  const TemporaryFolder folder;
  const std::string rails = "-t dgx_a100x2 ";
  const Json made =
      run_of("synth " + rails + "-c all_gather --size 64MiB --chunks 4 -a flows -o s.json", folder);
  const CommandResult lowered = run_tutti("lower " + rails + "s.json -o s.xml", folder);
  CHECK(lowered.code == 0);
  CHECK_THAT(lowered.err, ContainsSubstring("connections are planned on paths that the XML can't "
                                            "name"));
  const std::string import = "import " + rails + "s.xml --size 64MiB ";
  const Json kept = json_of(import + "-o kept.json", folder)["runs"][0];
  CHECK(kept["collective_time_ps"] == made["collective_time_ps"]);
  const auto paths_of = [&](const std::string& file) {
    const Json schedule = Json::parse(read_file(folder.file(file)));
    std::set<Json> paths;
    for (const Json& transfer : schedule["transfers"]) paths.insert(transfer[1]);
    CHECK(paths.size() > 100);
    return paths;
  };
  CHECK(paths_of("kept.json") == paths_of("s.json"));
  json_of(import + "--paths none -o taken.json", folder);
  CHECK(paths_of("taken.json") != paths_of("s.json"));
  json_of(import + "--paths none --routing shortest", folder);
  check_refused(import + "--routing fastest", folder, "--routing");
  check_refused(import + "-o s.xml", folder, "s.xml: one file is named twice");
  check_refused("lower " + rails + "s.json -o ./s.json", folder, "one file is named twice");
  check_refused("replay " + rails + "s.json --trace s.json", folder, "one file is named twice");
  write_file(folder.file("late.toml"), "npu1 = \"2us\"\n");
  for (const std::string& command : {"replay " + rails + "s.json --export-case late.toml",
                                     "synth " + rails + "-c all_gather -a ring -o ./late.toml"})
    check_refused(command + " --start-file late.toml", folder, "one file is named twice");
  check_refused("synth " + rails + "-c all_gather -a ring --trace t.json -o t.json", folder,
                "t.json: one file is named twice");

  Json some = Json::parse(read_file(folder.file("s.xml.paths.json")));
  some["connections"] = Json::array();
  write_file(folder.file("none.json"), some.dump());
  CHECK_THAT(run_tutti(import + "--paths none.json", folder).err,
             ContainsSubstring("none.json: ") && ContainsSubstring(" connections of s.xml aren't "
                                                                   "there"));

  // Of another program, of another network, or damaged.
  const std::string paths = read_file(folder.file("s.xml.paths.json"));
  write_file(folder.file("other.xml"), read_file(folder.file("s.xml")) + "\n");
  write_file(folder.file("damaged.json"), paths.substr(0, paths.size() / 2));
  check_refused("import " + rails + "other.xml --size 64MiB --paths s.xml.paths.json", folder,
                "s.xml.paths.json: these are the paths of another program");
  check_refused("import -t switch:16 s.xml --size 64MiB", folder,
                "not on switch:16 (--paths none leaves the file out)");
  check_refused(import + "--paths damaged.json", folder, "damaged.json: malformed JSON");
  check_refused(import + "--paths missing.json", folder, "missing.json");
}

TEST_CASE("exec takes the paths beside a program, and says where they are of another network") {
  const TemporaryFolder folder;
  CHECK(run_tutti("synth -t ring:4 -c all_gather --size 64KiB -a ring -o s.json", folder).code ==
        0);
  CHECK(run_tutti("lower -t ring:4 s.json -o s.xml", folder).code == 0);
  REQUIRE(std::filesystem::exists(folder.file("s.xml.paths.json")));
  const std::string exec = " s.xml --size 64KiB --links real --predicted-by nothing";
  const CommandResult taken = run_tutti("exec -t ring:4" + exec, folder);
  CHECK(taken.code == 0);
  CHECK(taken.err.find("paths") == std::string::npos);
  CHECK_THAT(taken.out, ContainsSubstring("all_gather (4 NPUs), float32, "));
  const CommandResult other = run_tutti("exec -t fully_connected:4" + exec, folder);
  CHECK(other.code == 0);
  CHECK_THAT(other.err, ContainsSubstring("s.xml.paths.json: these are paths on ring:4, not on "
                                          "fully_connected:4: left out"));
}

TEST_CASE("a program that is slower than its schedule is lowered with a warning") {
  const TemporaryFolder folder;
  // Much arrives at a switch at one instant, and the list decides: a program has none.
  const std::string rings = "-t teccl_internal:2x4 ";
  const Json made = run_of(
      "synth " + rings + "-c all_gather --size 16MB --chunks 2 -a tree_packing -o s.json", folder);
  const Json lowered = run_of("lower " + rings + "s.json -o s.xml", folder);
  const Json back = run_of("import " + rings + "s.xml --size 16MB --discipline fifo", folder);
  const bool slower =
      back["collective_time_ps"].get<double>() > 1.01 * made["collective_time_ps"].get<double>();
  CHECK(slower);
  CHECK_FALSE(lowered["details"]["warnings"].empty());
}

TEST_CASE("of several schedules that one is lowered which is the fastest where runtimes send") {
  const TemporaryFolder folder;
  for (const std::string algorithm : {"ring", "direct"})
    run_of("synth -t ring:8 -c all_gather --size 8MiB --chunks 1 -a " + algorithm + " -o " +
               algorithm + ".json",
           folder);
  const Json made = run_of("lower -t ring:8 direct.json ring.json -o best.xml", folder);
  CHECK(made["algorithm"] == "ring");
  run_of("synth -t ring:8 -c all_reduce --size 8MiB --chunks 1 -a ring -o other.json", folder);
  check_refused("lower -t ring:8 ring.json other.json", folder, "other.json is a schedule of");
}

TEST_CASE("a file may have several programs, each replayed by both disciplines") {
  const TemporaryFolder folder;
  const std::string full = "-t fully_connected:4 ";
  for (const std::string collective : {"all_gather", "all_reduce"}) {
    run_of("synth " + full + "-c " + collective + " --size 1MiB --chunks 1 -a direct -o s.json",
           folder);
    run_of("lower " + full + "s.json -o " + collective + ".xml", folder);
  }
  write_file(folder.file("two.xml"),
             read_file(folder.file("all_gather.xml")) + read_file(folder.file("all_reduce.xml")));
  const std::string import = "import " + full + "two.xml --size 1MiB ";
  const Json both = json_of(import, folder)["runs"];
  REQUIRE(both.size() == 4);
  for (const std::size_t row : {0U, 1U, 2U, 3U}) {
    CHECK(both[row]["collective"] == (row < 2 ? "all_gather" : "all_reduce"));
    CHECK(both[row]["discipline"] == (row % 2 == 0 ? "fifo" : "fluid"));
  }
  const Json second =
      json_of(import + "--program 2 --discipline fluid -o two.json", folder)["runs"];
  REQUIRE(second.size() == 1);
  CHECK(second[0]["collective"] == "all_reduce");
  CHECK(second[0]["discipline"] == "fluid");
  check_refused(import + "-o two.json", folder, "two.xml has 2 programs");
  check_refused(import + "--program 3", folder, "--program 3: two.xml has 2");
  check_refused(import + "--program 0", folder, "--program");
  check_refused(import + "--discipline lifo", folder, "--discipline");
}

TEST_CASE("a profile is a topology") {
  const TemporaryFolder folder;
  const Json made =
      run_of("profile " + line + "--repeat 2 --sizes 4kB,8MB --within 10000% -o p.toml", folder);
  CHECK(made["details"]["links"].size() == 6);
  const Json shown = run_of("show -t p.toml", folder);
  CHECK(shown["details"]["links"].size() == 6);
  for (std::size_t l = 0; l < 6; ++l)
    CHECK(shown["details"]["links"][l]["bandwidth_bytes_per_s"].get<double>() *
              made["details"]["links"][l]["seconds_per_byte"].get<double>() ==
          Approx(1).epsilon(1e-6));
}

TEST_CASE("links that no latency and rate describe are no topology") {
  const TemporaryFolder folder;
  const CommandResult result = run_tutti(
      "profile " + line + "--repeat 1 --sizes 4kB,64kB --within 0% -o " + folder.file("p.toml"));
  CHECK(result.code == 1);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, ContainsSubstring("no latency and rate describe these links"));
  CHECK_FALSE(std::filesystem::exists(folder.file("p.toml")));
}

TEST_CASE("an experiment executes a schedule or a program from a file beside it") {
  const TemporaryFolder folder;
  run_of("synth -t ring:4 -c all_gather -a ring --chunks 1 --size 64kB -o s.json", folder);
  run_of("lower -t ring:4 s.json -o s.xml", folder);
  const std::string head = "name = \"e\"\n[topologies]\nR = \"ring:4\"\n";
  const std::string fast = "links = \"real\"\npredicted_by = \"nothing\"\nrepetitions = 1\n";
  write_file(folder.file("e.toml"),
             head + "[[executions]]\nlabel = \"schedule\"\nfile = \"s.json\"\n" + fast +
                 "[[executions]]\nlabel = \"program\"\nfile = \"s.xml\"\nsizes = \"64kB\"\n" +
                 fast);
  const Json made = json_of("run e.toml --out results", folder);
  REQUIRE(made["runs"].size() == 2);
  for (const Json& run : made["runs"]) {
    CHECK(run["collective"] == "all_gather");
    CHECK(run["size_bytes"] == 64'000);
    CHECK(run["checked"] == 4 * 64'000 / 4);
    CHECK(run["wrong"] == 0);
  }
  for (const auto& [rest, words] :
       {std::pair<std::string, std::string>{"file = \"s.json\"\nsizes = \"64kB\"",
                                            "6:9: the schedule file says its size"},
        {"file = \"s.json\"\nalgorithms = \"ring\"", "6:14: for algorithms, not for a file"},
        {"file = \"s.xml\"", "5:8: a program doesn't say its size"},
        {"file = \"s.xml\"\nsizes = [\"1kB\", \"2kB\"]", "a program runs at one size"},
        {"file = \"none.json\"", "none.json"},
        {"collective = \"all_gather\"", "what runs?"}}) {
    write_file(folder.file("bad.toml"), head + "[[executions]]\n" + rest + "\n");
    check_refused("run bad.toml", folder, words);
  }
}

TEST_CASE("a program that says its collective takes none") {
  const TemporaryFolder folder;
  run_of("synth -t ring:4 -c all_gather -a ring --chunks 1 --size 64kB -o s.json", folder);
  run_of("lower -t ring:4 s.json -o s.xml", folder);
  for (const char* command : {"exec -t ring:4 s.xml --size 64kB -c all_reduce",
                              "import -t ring:4 s.xml --size 64kB -c all_reduce"})
    check_refused(command, folder, "a collective is given to custom ones only");
}

TEST_CASE("what executions can't do is said before anything runs") {
  check_refused("exec -t ring:4", "give a file, or --collective and --algorithm");
  check_refused("exec -t ring:4 -c all_gather -a ring --backend gpu", "unknown backend \"gpu\"");
  check_refused("exec -t ring:4 -c all_gather -a ring --links real --predicted-by topology",
                "real links aren't the topology's");
  check_refused("exec -t ring:4 -c all_to_all -a ring --in-place", "can't be in place");
  check_refused("exec -t ring:4 -c all_gather -a ring --type half", "unknown element type");
  check_refused("exec -t ring:4 -c all_gather -a ring --watchdog 0s", "--watchdog: it needs more");
  check_refused("exec -t ring:4 -c all_gather -a ring --repeat 0", "--repeat");
  check_refused("profile -t switch:4", "NPU");
  check_refused("profile -t ring:4 --sizes 4kB", "two sizes");
  check_refused("import -t ring:4 missing.xml --size 1kB", "missing.xml");
  check_refused("lower -t ring:4 missing.json", "missing.json");
}

TEST_CASE("without a GPU the CUDA backend says so") {
  const CommandResult result =
      run_tutti("exec -t ring:4 -c all_gather -a ring --size 64kB --backend cuda --links real "
                "--predicted-by nothing");
  if (result.code == 0) return; // there is one
  CHECK(result.code == 2);
  CHECK_THAT(result.err, ContainsSubstring("backend cuda: "));
}

} // namespace execution_cli_test
