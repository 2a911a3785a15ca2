// `tutti lint`: words, JSON, columns and exit codes; and what is odd in a file is told by whatever
// command uses it.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/nccl_dump.hpp"
#include "tests/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace lint_cli_test {

using namespace tutti;
using Catch::Matchers::StartsWith;
using Json = nlohmann::json;

namespace {

/// Its sixth GPU has lost its NVLinks.
std::string faulty_dump() {
  std::string text = dump_of_h100();
  const std::size_t gpu = text.find("dev=\"5\""), from = text.find("<nvlink", gpu);
  return text.erase(from, text.find("/>", from) + 2 - from);
}
// A GPU has four lines of its own, the second with its <gpu>; two CPUs and <system> come before.
const std::string fault =
    "bad.xml:26: GPU 5 (dev 5, rank 5, busid 0000:52:00.0) has no NVLink; the "
    "7 others have 18";

} // namespace

TEST_CASE("nothing is odd in a healthy network, which is said") {
  const TemporaryFolder folder;
  write_file(folder.file("good.xml"), dump_of_h100());
  for (const std::string network : {"ring:4", "dgx_h100:2", "good.xml", "good.xml:2"}) {
    CAPTURE(network);
    const CommandResult run = run_tutti("lint " + network, folder);
    CHECK(run.code == 0);
    CHECK_THAT(run.out, StartsWith(network + ": nothing odd\n"));
  }
  CHECK(Json::parse(run_tutti("lint ring:4 --json", folder).out)["runs"].empty());
  CHECK(run_tutti("lint ring:4", folder).out == "ring:4: nothing odd\n");
  CHECK(run_tutti("lint missing.xml", folder).code == 2);
}

TEST_CASE("lint says what NCCL makes of a machine, and where a program leaves rails") {
  const TemporaryFolder folder;
  const Json nccl = Json::parse(run_tutti("lint dgx_h100:2 --json", folder).out)["nccl"];
  REQUIRE(nccl.size() == 8);
  CHECK(nccl[0]["says"] == "2 of 8 h100, 8 NICs of 50 GB/s each");
  CHECK_THAT(nccl[1]["says"].get<std::string>(),
             StartsWith("8 found, 48 GB/s each in a node over"));
  CHECK(nccl[4]["what"] == "all_reduce");
  CHECK(Json::parse(run_tutti("lint mi300x:2 --json", folder).out)["nccl"][3]["says"] == "none");
  // By plain shortest paths each NPU uses its own card, and the other's is another.
  run_tutti("synth -t dgx_h100:2,fabric=switch -c all_to_all --size 16MiB -a direct --chunks 1 -o "
            "direct.json",
            folder);
  const CommandResult run =
      run_tutti("lint dgx_h100:2,fabric=switch --program direct.json --json", folder);
  CHECK(run.code == 1);
  const Json found = Json::parse(run.out)["runs"];
  REQUIRE_FALSE(found.empty());
  CHECK(found[0]["rule"] == "crossed-rails");
}

TEST_CASE("a fault is told by lint, which fails, and by every command that uses the file") {
  const TemporaryFolder folder;
  write_file(folder.file("bad.xml"), faulty_dump());
  const CommandResult run = run_tutti("lint -t bad.xml", folder);
  CHECK(run.code == 1);
  CHECK_THAT(run.out, StartsWith(fault + "\n\nunequal-links: "));
  const auto findings = [](const std::string& out) {
    return out.substr(0, out.find("\nwhat nccl"));
  };
  CHECK(findings(run_tutti("lint bad.xml:2", folder).out) == findings(run.out));
  const CommandResult json = run_tutti("lint bad.xml --json", folder);
  CHECK(json.code == 1);
  const Json rows = Json::parse(json.out)["runs"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["rule"] == "unequal-links");
  CHECK(rows[0]["finding"] == fault);
  CHECK_THAT(run_tutti("lint bad.xml --columns rule", folder).out,
             ContainsSubstring("unequal-links"));

  const CommandResult shown = run_tutti("show bad.xml", folder);
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, ContainsSubstring("odd: " + fault + "\n"));
  CHECK_THAT(shown.err, ContainsSubstring("tutti: " + fault + "\n"));
  const Json odd = Json::parse(run_tutti("show bad.xml --json", folder).out)["runs"][0]["odd"];
  CHECK(odd == Json::array({{{"rule", "unequal-links"}, {"finding", fault}}}));
  CHECK_THAT(run_tutti("bound -t bad.xml -c all_reduce", folder).err,
             ContainsSubstring("tutti: " + fault + "\n"));
}

} // namespace lint_cli_test
