// What README and the manual show is what a reader gets who does the same.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/shown_commands.hpp"
#include "tests/paths.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace manual_test {

using namespace tutti;

namespace {

std::vector<std::string> pages_in(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path source = TUTTI_SOURCE_DIR;
  std::vector<std::string> pages;
  for (const fs::directory_entry& entry : fs::directory_iterator(source / folder))
    if (entry.path().extension() == ".md")
      pages.push_back(fs::relative(entry.path(), source).string());
  std::ranges::sort(pages);
  return pages;
}

std::size_t check_pages(const std::vector<std::string>& pages) {
  std::size_t commands = 0;
  for (const std::string& page : pages) commands += check_shown_commands(page, {});
  return commands;
}

} // namespace

TEST_CASE("a page's files and commands are read in their order") {
  const std::vector<ShownStep> steps = shown_steps(R"(text
```{code-block} toml
:caption: a.toml

x = 1
```
```toml
y = 2
```
```console
$ cat a.toml \
  b.toml
x = 1
$ true
```
)");
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].file == "a.toml");
  CHECK(steps[0].text == "x = 1\n");
  CHECK(steps[1].line == 11);
  CHECK(steps[1].text == "cat a.toml \\\n  b.toml\n");
  CHECK(steps[1].output == std::vector<std::string>{"x = 1"});
  CHECK(steps[2].output.empty());
}

TEST_CASE("what is printed is held against what is shown") {
  CHECK(difference({"a  b", "----"}, "a b\n------\n") == "");
  CHECK(difference({"a ... c", "..."}, "a b c\nd\ne\n") == "");
  CHECK(difference({"...", "end"}, "1\n2\nend\n") == "");
  CHECK(difference({}, "\n") == "");
  CHECK(difference({"a", "b"}, "a\nc\n") == "shown:   b\nprinted: c");
  CHECK(difference({"a"}, "a\nb\n") == "shown:   (nothing more)\nprinted: b");
  CHECK(difference({"a", "b"}, "a\n") == "shown:   b\nprinted: (nothing more)");
  CHECK(difference({"a ... c"}, "a b d\n") != "");
  CHECK(difference({"1.0"}, "1.00\n") != "");
}

TEST_CASE("the programs of the library's guide are those that are built against it") {
  const std::string source = TUTTI_SOURCE_DIR;
  const std::string guide = read_file(source + "/docs/guide/library.md");
  for (const char* program : {"main.cpp", "compare.cpp"})
    CHECK_THAT(guide, ContainsSubstring("```cpp\n" +
                                        read_file(source + "/tests/consumer/" + program) + "```"));
}

TEST_CASE("README's examples give what it shows") {
  CHECK(check_shown_commands("README.md", {"experiments", "topologies"}) >= 6);
}

// Four cases, so that they run at the same time.
TEST_CASE("the tutorials' steps give what they show", "[slow]") {
  CHECK(check_pages(pages_in("docs/tutorials")) >= 40);
}

TEST_CASE("the guides' examples give what they show", "[slow]") {
  CHECK(check_pages(pages_in("docs/guide")) >= 20);
}

TEST_CASE("the examples of formats give what their pages show", "[slow]") {
  CHECK(check_pages(pages_in("docs/formats")) >= 10);
}

TEST_CASE("the examples of the manual's other pages give what these show", "[slow]") {
  std::vector<std::string> pages{"algorithms/README.md", "synth/README.md", "workloads/README.md"};
  for (const char* folder : {"docs", "docs/methods"})
    for (const std::string& page : pages_in(folder)) pages.push_back(page);
  CHECK(check_pages(pages) >= 10);
}

} // namespace manual_test
