// `tutti run` of a folder, a pattern or all, and `tutti paper`.
#include "experiments/driver/results/paper_page.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace run_many_test {

using namespace tutti;

TEST_CASE("a pattern of experiments is one summary, and what is finished isn't run again") {
  const TemporaryFolder folder;
  const CommandResult first = run_tutti("run 'tacos/fig0[59]' --out here --jobs 2", folder);
  INFO(first.out << first.err);
  CHECK(first.code == 0);
  CHECK_THAT(first.out, ContainsSubstring("2 experiments"));
  CHECK_THAT(first.out, ContainsSubstring("tacos/fig05"));
  CHECK_THAT(first.out, ContainsSubstring("done"));
  CHECK_THAT(read_file(folder.file("here/tacos/fig09/verdicts.md")), ContainsSubstring("match"));
  CHECK_THAT(read_file(folder.file("here/tacos/fig09/log.txt")), ContainsSubstring("written: "));

  const CommandResult again = run_tutti("run 'tacos/fig0[59]' --out here", folder);
  CHECK(again.code == 0);
  CHECK_THAT(again.out, ContainsSubstring("2 finished before"));
  CHECK_THAT(again.out, !ContainsSubstring("done"));
  write_file(folder.file("here/tacos/fig05/finished.txt"), "1 0 0.5\n"); // of another program
  const CommandResult one = run_tutti("run 'tacos/fig0[59]' --out here", folder);
  CHECK_THAT(one.out, ContainsSubstring("1 finished before, about "));
  CHECK_THAT(one.out, ContainsSubstring("done"));
  CHECK_THAT(one.out, ContainsSubstring("as before"));
  // What has no sound results isn't finished; what ran alone isn't remembered.
  write_file(folder.file("here/tacos/fig05/results.json"),
             read_file(folder.file("here/tacos/fig05/results.json")).substr(0, 99));
  std::filesystem::remove(folder.file("here/tacos/fig05/results.json"));
  CHECK(run_tutti("run tacos/fig09 --out here/tacos/fig09", folder).code == 0);
  const CommandResult both = run_tutti("run 'tacos/fig0[59]' --out here", folder);
  CHECK(both.code == 0);
  CHECK_THAT(both.out, !ContainsSubstring("as before"));
}

TEST_CASE("an experiment that fails costs no other, and the exit code says so") {
  const TemporaryFolder folder;
  write_file(folder.file("here/tacos/fig05/results.json"), "{}"); // something else's
  const CommandResult made = run_tutti("run 'tacos/fig0[59]' --out here", folder);
  CHECK(made.code == 2);
  CHECK_THAT(made.out, ContainsSubstring("has the results of something else"));
  CHECK_THAT(read_file(folder.file("here/tacos/fig05/log.txt")),
             ContainsSubstring("has the results of something else"));
  CHECK_THAT(made.out, ContainsSubstring("done"));
}

TEST_CASE("what is for one experiment is refused for several, and an unknown name with folders") {
  const TemporaryFolder folder;
  for (const char* option : {"--json", "--pack p", "--measured m.csv", "--columns gap"}) {
    const CommandResult refused = run_tutti(std::string("run tacos ") + option, folder);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, ContainsSubstring("is for one experiment"));
  }
  const CommandResult unknown = run_tutti("run tacoz", folder);
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, ContainsSubstring("did you mean \"tacos\"?"));
}

TEST_CASE("a paper's page shows what was run, what wasn't, and what isn't covered") {
  const TemporaryFolder folder;
  CHECK(run_tutti("run tacos/fig09", folder).code == 0);
  const CommandResult made = run_tutti("paper tacos -o page.html", folder);
  INFO(made.err);
  CHECK(made.code == 0);
  const std::string page = read_file(folder.file("page.html"));
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.ends_with("</html>\n"));
  CHECK_THAT(page, ContainsSubstring("What is covered"));
  CHECK_THAT(page, ContainsSubstring("Ring All-Gather on a one-way ring of 4")); // its verdict
  CHECK_THAT(page, ContainsSubstring("<svg role=\"img\" aria-label=\"Fig. 9, 11"));
  CHECK_THAT(page, ContainsSubstring("Not run yet."));
  CHECK_THAT(page, ContainsSubstring("Not covered: The paper prints no value"));
  CHECK_THAT(run_tutti("paper taco", folder).err, ContainsSubstring("did you mean \"tacos\"?"));
}

TEST_CASE("a browser shows a paper's page as it is written", "[slow]") {
  if (std::system("command -v chromium > /dev/null") != 0) {
    WARN("no chromium here: skipped");
    return;
  }
  const TemporaryFolder folder;
  REQUIRE(run_tutti("run 'tacos/fig0[159]' --out out", folder).code == 0);
  REQUIRE(run_tutti("paper tacos -o page.html", folder).code == 0);
  const std::string dump = folder.file("dump.html");
  REQUIRE(std::system(("chromium --headless --no-sandbox --disable-gpu --dump-dom file://" +
                       folder.file("page.html") + " > " + dump + " 2> /dev/null")
                          .c_str()) == 0);
  const auto count = [](const std::string& text, std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  const std::string written = read_file(folder.file("page.html")), shown = read_file(dump);
  for (const char* element : {"<svg", "<section", "<table", "</tr>", "<h2"}) {
    INFO(element);
    CHECK(count(shown, element) == count(written, element)); // nothing that HTML closes by itself
  }
  CHECK(count(written, "<svg") >= 5);
}

TEST_CASE("a paper's file names its experiments, or says why there are none") {
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& parts) {
    write_file(folder.file("p/paper.toml"), "title = \"T\"\nsource = \"S\"\n" + parts);
    return message_of([&] { (void)read_paper(folder.file("p/paper.toml"), ""); });
  };
  CHECK_THAT(error_of(""), ContainsSubstring("needs [[parts]]"));
  const std::string part = "[[parts]]\nwhat = \"Fig. 1\"\nclaim = \"c\"\n";
  CHECK_THAT(error_of(part), ContainsSubstring("paper.toml:3:1: needs \"experiments\""));
  CHECK_THAT(error_of(part + "experiments = [\"none\"]\n"), ContainsSubstring("there is no "));
  CHECK_THAT(error_of(part + "missing = \"m\"\nmising = 1\n"),
             ContainsSubstring("unknown key \"mising\""));
  CHECK(error_of(part + "missing = \"<b>\"\n").empty());
  const Paper paper = read_paper(folder.file("p/paper.toml"), "");
  CHECK(paper.command_of("e") == folder.file("p/e.toml"));
  CHECK_THAT(paper_page(paper, folder.file("out")), ContainsSubstring("Not covered: &lt;b&gt;"));
}

} // namespace run_many_test
