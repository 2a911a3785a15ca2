// `tutti sketch` and `tutti show --sketch`: proposals that can be written, read back and
// synthesized by, logical topologies of sketches, and what is wrong with a sketch, with its place.
#include "sim/files/files.hpp"
#include "synth/taccl/sketch.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/command_answers.hpp"
#include "tests/experiments/cli/run_tutti.hpp"

#include <filesystem>
#include <string>

namespace sketch_cli_test {

using namespace tutti;
using Json = nlohmann::json;

namespace {

// TACCL's own file for two NDv2: GPU 0 of a machine sends to GPU 1 of the other one.
constexpr const char* ndv2_json = R"({"nnodes": 2,
"intranode_sketch": {"strategy": "none"},
"internode_sketch": {"strategy": "relay", "internode_conn": {"0": [1]}},
"symmetry_offsets": [[8, 16]],
"hyperparameters": {"input_chunkup": 1}})";

} // namespace

TEST_CASE("sketches are proposed in a table, as a text, and as files") {
  const TemporaryFolder folder;
  const CommandResult table = run_tutti("sketch -t dgx2x2", folder);
  CHECK(table.code == 0);
  CHECK_THAT(table.out, ContainsSubstring("8 senders to 8 receivers") &&
                            ContainsSubstring("uc-min") && ContainsSubstring("relay-small"));
  CHECK_THAT(run_tutti("sketch -t dgx2x2 --columns sketch,symmetry", folder).out,
             ContainsSubstring("relay-small"));
  CHECK_THAT(refusal("sketch -t dgx2x2 --columns time"), ContainsSubstring("\"time\""));

  const CommandResult text = run_tutti("sketch -t dgx2x2 relay", folder);
  CHECK(text.code == 0);
  CHECK_THAT(text.out, ContainsSubstring("# tutti sketch -t dgx2x2 relay > relay.toml\n"));
  const CommandResult files = run_tutti("sketch -t dgx2x2 -o sketches", folder);
  CHECK(files.code == 0);
  CHECK_THAT(files.out, ContainsSubstring("sketches/relay.toml"));
  CHECK(read_file(folder.file("sketches/relay.toml")) == text.out);
  const CommandResult one = run_tutti("sketch -t dgx2x2 relay --out one", folder);
  CHECK(std::filesystem::exists(folder.file("one/relay.toml")));
  CHECK_FALSE(std::filesystem::exists(folder.file("one/relay-small.toml")));

  const Json answer = json_of("sketch -t dgx2x2", folder);
  for (const Json& row : answer["runs"]) {
    INFO(row["sketch"]);
    const std::string toml = row["details"]["toml"];
    CHECK(parse_sketch(toml, "sketch").name == row["sketch"]);
    CHECK(row["details"]["file"].is_null());
    CHECK(row["machines"] == 2);
  }
  CHECK_THAT(refusal("sketch -t dgx2x2 relai"), ContainsSubstring("did you mean \"relay\"?"));
}

TEST_CASE("every machine's proposals are sketches of it") {
  const TemporaryFolder folder;
  for (const std::string network :
       {"dgx1", "dgx1x2", "dgx2", "ndv2x2", "ndv2x2_pcie", "dgx_a100", "z52_pcie", "ring:5",
        "dgx_h100:2", "mesh2d:4x4", "two_level_switch:4x2", "random:6,degree=3"}) {
    INFO(network);
    const CommandResult made = run_tutti("sketch -o s -t " + network, folder);
    INFO(made.err);
    REQUIRE(made.code == 0);
    CHECK(made.err.empty());
    for (const auto& file : std::filesystem::directory_iterator(folder.file("s"))) {
      const Json shown =
          run_of("show -t " + network + " --sketch '" + file.path().string() + "'", folder);
      CHECK(shown["sketch"]["name"] == file.path().stem().string());
      CHECK(shown["switches"] == 0);
      CHECK(shown["unreachable"].is_null());
    }
    std::filesystem::remove_all(folder.file("s"));
  }
}

TEST_CASE("a sketch that was proposed is synthesized by") {
  const TemporaryFolder folder;
  write_file(folder.file("mine.toml"), run_tutti("sketch -t ndv2x2_pcie relay", folder).out);
  const Json run = run_of("synth -t ndv2x2_pcie -c all_gather --size 1MiB -a taccl "
                          "--set sketch=mine.toml --link-busy latency+serialization",
                          folder);
  CHECK(run["verified"] == true);
}

TEST_CASE("show has the logical topology of a sketch") {
  const TemporaryFolder folder;
  write_file(folder.file("sk.json"), ndv2_json);
  const std::string show = "show -t ndv2x2_pcie --sketch sk.json";
  const CommandResult text = run_tutti(show + " --draw logical.svg", folder);
  CHECK(text.code == 0);
  CHECK_THAT(text.out, ContainsSubstring("ndv2x2_pcie, sk: 16 NPUs, 0 switches"));
  CHECK_THAT(text.out,
             ContainsSubstring("2 machines of 8 NPUs (npu0 to npu7, npu8 to npu15), 1 chunk"));
  CHECK_THAT(text.out, ContainsSubstring("2 links (1 sender to 1 receiver)"));
  CHECK_THAT(text.out, ContainsSubstring("symmetric by rotations of 8 in 16: 2 elements"));
  CHECK_THAT(read_file(folder.file("logical.svg")), ContainsSubstring("<svg"));

  // 16 links of each machine's hybrid cube mesh, both ways, and one from machine to machine.
  const Json row = run_of(show, folder);
  CHECK(row["link_count"] == 2 * 32 + 2);
  CHECK(row["sketch"]["links_within"] == 64);
  CHECK(row["sketch"]["links_between"] == 2);
  CHECK(row["sketch"]["rotations"] == Json::array({{8, 16}}));
  CHECK(row["sketch"]["least_split"] == 1.0);
  CHECK(run_of("show -t ndv2x2_pcie", folder)["sketch"].is_null());

  // Each NPU to all eight of the other machine, of which 64 share its only NIC.
  write_file(folder.file("full.toml"), "machines = 2\n[between]\nconnections = \"full\"\n");
  CHECK_THAT(run_tutti("show -t ndv2x2_pcie --sketch full.toml", folder).out,
             ContainsSubstring("128 links (full), with 1/64 of the bandwidth of their paths") &&
                 ContainsSubstring("no symmetry"));
}

TEST_CASE("what is wrong with a sketch is said with its place") {
  const TemporaryFolder folder;
  const auto said = [&](const std::string& file, const std::string& text) {
    write_file(folder.file(file), text);
    const CommandResult result = run_tutti("show -t ndv2x2_pcie --sketch " + file, folder);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK_THAT(said("a.toml", "machines = 2\nbetwen = 1\n"),
             ContainsSubstring("a.toml:2:1: unknown key \"betwen\""));
  CHECK_THAT(said("a.toml", "machines = 3\n[between]\nconnections = \"direct\"\n"),
             ContainsSubstring("a.toml:1:12: 16 NPUs of ndv2x2_pcie aren't 3 equal machines"));
  CHECK_THAT(said("a.toml", "machines = 2\n[between]\nconnections = { 8 = [0] }\n"),
             ContainsSubstring("a.toml:3:") && ContainsSubstring("a machine has NPUs 0 to 7"));
  CHECK_THAT(said("a.toml", "machines = 2\nsymmetry = [[1, 8]]\n[between]\n"
                            "connections = \"direct\"\n"),
             ContainsSubstring("a.toml:2:13: ") && ContainsSubstring("isn't symmetric by 1 in"));
  CHECK_THAT(said("b.json", "{\"nnodes\": 2, \"intranode_sketch\": {\"strategy\": \"rely\"}}"),
             ContainsSubstring("b.json:1:48: intranode_sketch.strategy") &&
                 ContainsSubstring("unknown strategy \"rely\""));
  CHECK_THAT(refusal("show -t ring:4 --sketch nosuch.toml"), ContainsSubstring("cannot read"));
  write_file(folder.file("a.toml"), "machines = 1\n");
  const CommandResult lost = run_tutti("show -t ring:4 --sketch a.toml --draw a.toml", folder);
  CHECK(lost.code == 2);
  CHECK(read_file(folder.file("a.toml")) == "machines = 1\n");
}

} // namespace sketch_cli_test
