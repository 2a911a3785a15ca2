// Whoever runs an experiment, on however many processors, gets the same pictures.
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace figures_cli_test {

using namespace tutti;

namespace {

std::map<std::string, std::string> pictures_in(const std::string& folder) {
  std::map<std::string, std::string> pictures;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".svg")
      pictures[entry.path().filename().string()] = read_file(entry.path().string());
  return pictures;
}

} // namespace

TEST_CASE("pictures of one experiment are the same bytes for any number of jobs") {
  const TemporaryFolder folder;
  write_file(folder.file("e.toml"), R"(name = "e"
title = "E"
[topologies]
ring = "ring:6"
mesh = "mesh2d:3x2"
[[runs]]
collectives = ["all_gather"]
sizes = ["1KiB", "1MiB"]
algorithms = ["ring", "direct", "tacos"]
[[figures]]
kind = "sizes"
file = "sizes"
title = "Sizes"
metric = "collective_time"
[[figures]]
kind = "heatmap"
file = "links"
title = "Links"
topologies = ["mesh"]
[[frontiers]]
label = "frontier"
topology = "ring"
collective = "all_gather"
sizes = ["1KiB", "1MiB"]
[[failures]]
label = "dies"
topology = "mesh"
collective = "all_gather"
size = "1MiB"
algorithms = ["tacos"]
events = [{at = "50%", link_down = "npu0-npu1"}]
[[training]]
label = "train"
topologies = ["ring"]
algorithms = ["ring", "tacos"]
model = "resnet50"
npu = "v100"
)");
  std::map<std::string, std::string> first;
  for (const char* jobs : {"1", "3"}) {
    const std::string out = std::string("out") + jobs;
    const CommandResult result =
        run_tutti(std::string("run e.toml --jobs ") + jobs + " --out " + out, folder);
    CAPTURE(result.err);
    REQUIRE(result.code == 0);
    const auto pictures = pictures_in(folder.file(out));
    REQUIRE(pictures.size() == 4 + 1 + 2 + 4); // training: its bars twice, links, the network
    if (first.empty()) first = pictures;
    CHECK(pictures == first);
  }
}

TEST_CASE("two networks of one file stem, and a figure called as the verdicts are, stay apart") {
  const TemporaryFolder folder;
  write_file(folder.file("e.toml"), R"(name = "e"
title = "E"
[topologies]
"A 1" = "ring:3"
a-1 = "ring:4"
[[runs]]
collectives = ["all_gather"]
algorithms = ["ring"]
[[figures]]
kind = "bars"
file = "verdicts"
)");
  REQUIRE(run_tutti("run e.toml --out out", folder).code == 0);
  std::set<std::string> names, contents;
  for (const auto& [name, content] : pictures_in(folder.file("out"))) {
    names.insert(name);
    contents.insert(content);
  }
  CHECK(names == std::set<std::string>{"network_a_1.svg", "network_a_1_2.svg", "verdicts_2.svg"});
  CHECK(contents.size() == 3);
}

} // namespace figures_cli_test
