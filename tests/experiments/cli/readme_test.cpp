// What README shows must work: every `./tutti ...` line of its shell blocks is run, in order, in a
// folder that looks like a fresh clone.
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

using namespace tutti;

namespace {

/// The arguments of each `./tutti ...` line between ```sh and ```. Those that the wrapper itself
/// answers (test, setup) are left out: they build; and what a machine with a GPU has measured isn't
/// here.
std::vector<std::string> commands_of(const std::string& readme) {
  constexpr std::string_view prompt = "./tutti ";
  std::vector<std::string> commands;
  bool in_shell = false;
  for (const std::string_view line : split(readme, '\n')) {
    if (line.starts_with("```")) in_shell = line == "```sh" || line == "```bash";
    if (!in_shell || !line.starts_with(prompt)) continue;
    const std::string_view arguments = line.substr(prompt.size());
    if (!arguments.starts_with("test") && !arguments.starts_with("setup") &&
        arguments.find(" --measured ") == std::string_view::npos)
      commands.emplace_back(arguments.substr(0, arguments.find(" #")));
  }
  return commands;
}

} // namespace

TEST_CASE("the commands of README run") {
  namespace fs = std::filesystem;
  const std::string source = TUTTI_SOURCE_DIR;
  const auto commands = commands_of(read_file(source + "/README.md"));
  REQUIRE_FALSE(commands.empty());
  CHECK(commands.front().starts_with("run ")); // the second of the two commands
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

TEST_CASE("README's program is the one that is built and run against the installed library") {
  const std::string source = TUTTI_SOURCE_DIR;
  const std::string program = read_file(source + "/tests/consumer/main.cpp");
  CHECK_THAT(read_file(source + "/README.md"), ContainsSubstring("```cpp\n" + program + "```"));
}
