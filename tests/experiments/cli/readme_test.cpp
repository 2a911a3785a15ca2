// What README shows must work: every `./tutti ...` line of its shell blocks is run, in order, in a
// folder that looks like a fresh clone.
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace tutti;

namespace {

/// The arguments of each `./tutti ...` line between ```sh and ```, block by block. Those that the
/// wrapper itself answers (test, setup) are left out: they build; and what a machine with a GPU has
/// measured isn't here.
std::vector<std::vector<std::string>> blocks_of(const std::string& readme) {
  constexpr std::string_view prompt = "./tutti ";
  std::vector<std::vector<std::string>> blocks;
  bool in_shell = false;
  for (const std::string_view line : split(readme, '\n')) {
    if (line.starts_with("```")) {
      in_shell = line == "```sh" || line == "```bash";
      if (in_shell) blocks.emplace_back();
    }
    if (!in_shell || !line.starts_with(prompt)) continue;
    const std::string_view arguments = line.substr(prompt.size());
    if (!arguments.starts_with("test") && !arguments.starts_with("setup") &&
        arguments.find(" --measured ") == std::string_view::npos)
      blocks.back().emplace_back(arguments.substr(0, arguments.find(" #")));
  }
  return blocks;
}

std::vector<std::vector<std::string>> blocks_of_readme() {
  const std::string source = TUTTI_SOURCE_DIR;
  return blocks_of(read_file(source + "/README.md"));
}

/// Each block in a folder that looks like a fresh clone.
void run_blocks(std::span<const std::vector<std::string>> blocks) {
  namespace fs = std::filesystem;
  const std::string source = TUTTI_SOURCE_DIR;
  for (const std::vector<std::string>& commands : blocks) {
    const TemporaryFolder clone;
    for (const char* folder : {"experiments", "topologies"})
      fs::create_directory_symlink(source + "/" + folder, clone.file(folder));
    for (const std::string& command : commands) {
      INFO(command);
      const CommandResult result = run_tutti(command, clone);
      INFO(result.err);
      CHECK(result.code == 0);
      CHECK_FALSE(result.out.empty());
    }
  }
}

} // namespace

// Three cases, so that they run at the same time.
TEST_CASE("the two commands of README run") {
  const auto blocks = blocks_of_readme();
  REQUIRE_FALSE(blocks.empty());
  REQUIRE(blocks.front().size() == 1); // the other one is `./tutti test`
  CHECK(blocks.front().front().starts_with("run "));
  run_blocks(std::span(blocks).first(1));
}

TEST_CASE("the commands of README's tour run") {
  const auto blocks = blocks_of_readme();
  REQUIRE(blocks.size() > 2);
  CHECK(blocks[1].size() >= 10);
  run_blocks(std::span(blocks).subspan(1, 1));
}

TEST_CASE("the commands of README's chapters run") {
  const auto blocks = blocks_of_readme();
  REQUIRE(blocks.size() > 2);
  run_blocks(std::span(blocks).subspan(2));
}

TEST_CASE("README's program is the one that is built and run against the installed library") {
  const std::string source = TUTTI_SOURCE_DIR;
  const std::string program = read_file(source + "/tests/consumer/main.cpp");
  CHECK_THAT(read_file(source + "/README.md"), ContainsSubstring("```cpp\n" + program + "```"));
}
