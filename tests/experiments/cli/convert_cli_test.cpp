// `tutti convert`, `tutti list formats`, and networks of other programs in commands (among them
// `tutti compare`): what was assumed is told on stderr.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/nccl_dump.hpp"
#include "tests/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace convert_cli_test {

using namespace tutti;

namespace {

const std::string ring = "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\n"
                         "latency: [ 500.0 ]\n";

} // namespace

TEST_CASE("a network of another program is simulated, shown and written as Tutti's") {
  const TemporaryFolder folder;
  write_file(folder.file("ring.yml"), ring);
  const CommandResult run =
      run_tutti("synth -t ring.yml -c all_gather --size 1MiB -a ring", folder);
  CHECK(run.code == 0);
  CHECK_THAT(run.err, ContainsSubstring("tutti: ring.yml: assumed: GB/s: 2^30 bytes a second"));
  const CommandResult made = run_tutti("convert ring.yml ring.toml", folder);
  CHECK(made.code == 0);
  CHECK_THAT(made.err, ContainsSubstring("assumed: GB/s"));
  CHECK(made.out == "ring.toml: 4 nodes (4 NPUs), 8 links\n");
  const auto shown = [&](const std::string& file) {
    return nlohmann::json::parse(run_tutti("show -t " + file + " --json", folder).out)["runs"][0];
  };
  CHECK(shown("ring.toml")["fingerprint"] == shown("ring.yml")["fingerprint"]);
  CHECK(shown("ring.yml")["assumed"].size() == 2);
  CHECK(run_tutti("show -t ring.toml", folder).err.empty());
  // A family, too.
  CHECK(run_tutti("convert dgx_h100:2 two.toml", folder).code == 0);
  CHECK(shown("two.toml")["fingerprint"] == shown("dgx_h100:2")["fingerprint"]);
}

TEST_CASE("a log is laid beside what NCCL dumped of its machine") {
  const TemporaryFolder folder;
  write_file(folder.file("node.xml"), dump_of_h100());
  write_file(folder.file("log"),
             "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 1073741824 step: 2(factor)\n"
             "# Collective test starting: all_reduce_perf\n"
             "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
             "  1048576 262144 float sum -1 34.07 30.78 53.86 0 N/A N/A N/A N/A\n"
             "  1073741824 268435456 float sum -1 3924.0 273.63 478.86 0 N/A N/A N/A N/A\n");
  const auto compared = [&](const std::string& machine, const std::string& options) {
    const CommandResult run =
        run_tutti("compare -t " + machine + " log --json --transport " + options, folder);
    CHECK(run.code == 0);
    nlohmann::json rows = nlohmann::json::parse(run.out)["runs"];
    for (nlohmann::json& row : rows) {
      row.erase("topology");       // its name
      row.erase("lower_bound_ps"); // PCIe is there as well, and could carry some
    }
    return rows;
  };
  for (const std::string transport : {"ideal", "nccl"}) {
    const nlohmann::json dumped = compared("node.xml", transport);
    REQUIRE(dumped.size() >= 2);
    CHECK(dumped[0]["size_bytes"] == 1 << 20);
    CHECK(dumped[0]["predicted_time_ps"] > 0);
    CHECK(dumped == compared("dgx_h100", transport));
  }
}

TEST_CASE("what can't be written or read leaves nothing, and says what is known") {
  const TemporaryFolder folder;
  write_file(folder.file("ring.yml"), ring);
  const CommandResult unknown = run_tutti("convert ring.yml ring.visio", folder);
  CHECK(unknown.code == 2);
  CHECK_THAT(
      unknown.err,
      ContainsSubstring("ring.visio: the ending says what is written (known: .yml, .dot, .gv, "
                        ".graphml, .yaml, .xml, .toml)"));
  CHECK_FALSE(std::filesystem::exists(folder.file("ring.visio")));
  CHECK(run_tutti("convert ring.yml ring.yml.toml/x.toml", folder).code == 0);
  write_file(folder.file("system.json"),
             "{\"scheduling-policy\": \"LIFO\", \"preferred-dataset-splits\": 4}");
  CHECK_THAT(run_tutti("show -t system.json", folder).err,
             ContainsSubstring("system.json: this is an ASTRA-sim system file; -t wants its "
                               "network yml"));
  write_file(folder.file("log"), "# size count type redop root time algbw busbw #wrong\n");
  CHECK_THAT(run_tutti("show log", folder).err,
             ContainsSubstring("log: this is a log of nccl-tests; tutti compare"));
  CHECK_THAT(run_tutti("show ring.yml:two", folder).err,
             ContainsSubstring("number of nodes \"two\" is not a whole number"));
  write_file(folder.file("plain"), ring); // known by what is in it alone
  CHECK(run_tutti("show plain", folder).code == 0);
  write_file(folder.file("ring:8"), ring); // a family, whatever files there are
  CHECK_THAT(run_tutti("show ring:8", folder).out, ContainsSubstring("8 NPUs"));
  CHECK_THAT(run_tutti("show -t ring.yml:2", folder).err,
             ContainsSubstring("a whole network (astra)"));
}

TEST_CASE("formats of networks are listed with their sources") {
  const TemporaryFolder folder;
  const CommandResult listed = run_tutti("list formats", folder);
  CHECK(listed.code == 0);
  for (const char* name : {"astra", "csv", "htsim", "ns3", "taccl"})
    CHECK_THAT(listed.out, ContainsSubstring(name));
}

} // namespace convert_cli_test
