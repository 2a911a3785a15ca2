// Man pages against what `--help` says, and against the program that formats them.
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/temporary_folder.hpp"

#include "sim/files/files.hpp"
#include "tests/paths.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace man_page_test {

using namespace tutti;

namespace {

std::vector<std::string> lines_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The commands, and nothing for tutti itself.
std::vector<std::string> commands(const TemporaryFolder& folder) {
  std::vector<std::string> names = lines_in(run_tutti("--complete ''", folder).out);
  names.emplace_back();
  return names;
}

std::string without_escapes(std::string page) {
  page = std::regex_replace(page, std::regex(R"(\\f[BIR])"), "");
  return std::regex_replace(page, std::regex(R"(\\-)"), "-");
}

} // namespace

TEST_CASE("every command has a man page with the options of its help") {
  const TemporaryFolder folder;
  REQUIRE(commands(folder).size() > 15);
  for (const std::string& command : commands(folder)) {
    INFO(command);
    const CommandResult page = run_tutti("man " + command, folder);
    CHECK(page.code == 0);
    const std::string text = without_escapes(page.out);
    CHECK_THAT(text, ContainsSubstring(command.empty() ? "tutti - " : "tutti-" + command + " - "));
    const std::string help = run_tutti(command + " --help", folder).out;
    const std::regex option("(^|[ ,])(--[a-z][a-z-]*)");
    std::size_t options = 0;
    for (std::sregex_iterator each(help.begin(), help.end(), option), end; each != end; ++each) {
      CHECK_THAT(text, ContainsSubstring((*each)[2].str()));
      ++options;
    }
    CHECK(options > 0);
  }
  CHECK_THAT(run_tutti("man synth", folder).out,
             ContainsSubstring(".SH EXAMPLES\n.nf\ntutti synth"));
  const CommandResult unknown = run_tutti("man snyth", folder);
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, ContainsSubstring("did you mean \"synth\""));
}

TEST_CASE("man pages are roff without warnings, in which no text is a request") {
  const TemporaryFolder folder;
  const std::array<std::string, 6> requests{".TH ", ".SH ", ".SS ", ".TP", ".nf", ".fi"};
  const bool has_groff = std::system("command -v groff >/dev/null 2>&1") == 0; // NOLINT
  for (const std::string& command : commands(folder)) {
    INFO(command);
    const std::string page = run_tutti("man " + command, folder).out;
    write_file(folder.file("page.1"), page);
    for (const std::string& line : lines_in(page))
      if (line.starts_with('.') || line.starts_with('\''))
        CHECK(std::ranges::any_of(requests,
                                  [&line](const auto& each) { return line.starts_with(each); }));
    if (!has_groff) continue;
    const std::string check =
        "test -z \"$(groff -man -Tutf8 -ww -z '" + folder.file("page.1") + "' 2>&1)\"";
    CHECK(std::system(check.c_str()) == 0); // NOLINT
  }
}

TEST_CASE("the documentation's page of options is what the program knows") {
  const std::string page = run_tutti("man --reference", TemporaryFolder()).out;
  CHECK(page == read_file(TUTTI_SOURCE_DIR "/docs/commands.md"));
  // else: ./tutti man --reference > docs/commands.md
  CHECK_THAT(page, ContainsSubstring("| `--micro-batch` | `micro_batch` |"));
}

TEST_CASE("the schema of rows is what the columns say") {
  const std::string schema = run_tutti("man --schema", TemporaryFolder()).out;
  CHECK(schema == read_file(TUTTI_SOURCE_DIR "/docs/schemas/rows.json"));
  // else: ./tutti man --schema > docs/schemas/rows.json
  CHECK_THAT(schema, ContainsSubstring("^lower_bound_at_.+_ps$"));
}

} // namespace man_page_test
