// `tutti exec`, `profile`, `lower` and `import`, as a user calls them.
#include "tests/catch.hpp"
#include "tests/experiments/run_tutti.hpp"
#include "tests/temporary_folder.hpp"

#include "sim/files.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <utility>

using namespace tutti;
using Json = nlohmann::json;

namespace {

const std::string line = "-t ring:3,bandwidth=100MB/s,latency=100us ";

Json json_of(const std::string& arguments, const TemporaryFolder& folder) {
  const CommandResult result = run_tutti(arguments + " --json", folder);
  INFO(arguments);
  INFO(result.err);
  REQUIRE(result.code == 0);
  return Json::parse(result.out);
}

void check_refused(const std::string& arguments, const std::string& words) {
  const CommandResult result = run_tutti(arguments);
  INFO(arguments);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, ContainsSubstring(words));
}

} // namespace

TEST_CASE("exec moves data, checks every element and predicts the time of throttled links") {
  const Json made = json_of(
      "exec " + line +
          "-c all_gather -a ring --size 300kB --chunks 1 --predicted-by topology --repeat 2",
      TemporaryFolder());
  REQUIRE(made["runs"].size() == 1);
  const Json& run = made["runs"][0];
  CHECK(run["wrong"] == 0);
  CHECK(run["checked"] == 3 * 300'000 / 4);
  CHECK(run["seconds"].size() == 2);
  CHECK(run["bytes_moved"] == 2 * 300'000); // each shard to two others
  // Halves of 50 kB both ways round the ring: two hops of 100 us + 0.5 ms.
  CHECK(run["predicted_ps"] == Json{1'200'000'000, 1'200'000'000});
  CHECK(run["median_seconds"].get<double>() >= 1.2e-3);
  CHECK(made["predicted_by"] == "topology");
}

TEST_CASE("exec predicts by the profile of what it measured") {
  const Json made =
      json_of("exec " + line + "-c broadcast -a ring --size 96kB --repeat 1", TemporaryFolder());
  CHECK(made["profile"]["links"].size() == 6);
  for (const Json& link : made["profile"]["links"]) {
    CHECK(link["timings"].size() >= 2);
    for (const Json& timing : link["timings"]) // no faster than it is throttled to
      CHECK(timing["at_once_seconds"].get<double>() >=
            0.999 * (1e-4 + 8e-8 * timing["size_bytes"].get<double>()));
  }
  CHECK(made["runs"][0]["wrong"] == 0);
  CHECK(made["runs"][0]["predicted_ps"].size() == 2);
}

TEST_CASE("exec combines by maximum, in place, a copy for each step") {
  const Json made = json_of("exec -t ring:4 -c all_reduce -a ring,dbt --size 64kB --links real "
                            "--predicted-by nothing --type int32 --op max --in-place "
                            "--copy-per-step --instances 2 --repeat 1",
                            TemporaryFolder());
  REQUIRE(made["runs"].size() == 2);
  for (const Json& run : made["runs"]) {
    CHECK(run["wrong"] == 0);
    CHECK(run["checked"] == 4 * 64'000 / 4);
    CHECK(run["predicted_ps"].empty());
  }
}

TEST_CASE("exec prints nccl-tests' columns") {
  const CommandResult result =
      run_tutti("exec " + line +
                "-c all_reduce -a ring --size 12kB,24kB --predicted-by topology "
                "--repeat 1 --nccl-tests");
  CHECK(result.code == 2); // a list isn't a range
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
  const Json made = json_of(exec + "1002B..1024B", TemporaryFolder());
  CHECK_FALSE(made["runs"][0].contains("wrong"));
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
    const Json made = json_of("synth -t " + network + " -c all_gather -a " + algorithm +
                                  " --chunks 2 --size 256kB -o s.json",
                              folder);
    const Json program = json_of("lower -t " + network + " s.json -o s.xml", folder);
    CHECK(program["verified"] == true);
    CHECK(program["units"] == made["chunks"]);
    const Json back = json_of("import -t " + network + " s.xml --size 256kB -o back.json", folder);
    CHECK(back["collective_time_ps"] == made["collective_time_ps"]);
    CHECK(back["verified"] == true);
    const Json replayed = json_of("replay -t " + network + " back.json --engine native", folder);
    CHECK(replayed["collective_time_ps"] == made["collective_time_ps"]);
    const Json run = json_of("exec -t " + network +
                                 " s.xml --size 256kB --links real "
                                 "--predicted-by nothing --repeat 1",
                             folder);
    CHECK(run["runs"][0]["wrong"] == 0);
    CHECK(run["runs"][0]["checked"] == 8 * 64'000);
  }
}

TEST_CASE("a profile is a topology") {
  const TemporaryFolder folder;
  const Json made = json_of("profile " + line + "--repeat 1 --sizes 4kB,64kB -o p.toml", folder);
  CHECK(made["links"].size() == 6);
  const Json shown = json_of("show -t p.toml", folder);
  CHECK(shown["links"].size() == 6);
  for (std::size_t l = 0; l < 6; ++l)
    CHECK(shown["links"][l]["bandwidth_bytes_per_s"].get<double>() *
              made["links"][l]["seconds_per_byte"].get<double>() ==
          Approx(1).epsilon(1e-6));
}

TEST_CASE("what executions can't do is said before anything runs") {
  check_refused("exec -t ring:4", "give a schedule or MSCCL XML, or -c and -a");
  check_refused("exec -t ring:4 -c all_gather -a ring --backend gpu", "unknown backend \"gpu\"");
  check_refused("exec -t ring:4 -c all_gather -a ring --links real --predicted-by topology",
                "real links aren't the topology's");
  check_refused("exec -t ring:4 -c all_to_all -a ring --in-place", "can't be in place");
  check_refused("exec -t ring:4 -c all_gather -a ring --type half", "unknown element type");
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
