// What the command makes of input that nobody means well: words on stderr and the exit code of bad
// input, soon and in little memory; never silence, a defect, or a terminal's commands.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace hostile_cli_test {

using namespace tutti;

namespace {

bool has_controls(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  });
}

void check_refused(const CommandResult& result) {
  CAPTURE(result.out, result.err);
  CHECK(result.code == 2);
  CHECK(result.err.starts_with("tutti: "));
  CHECK(result.err.find("defect") == std::string::npos);
  CHECK_FALSE(has_controls(result.err));
}

/// The exit code, with these redirections.
int code_with(const std::string& redirections, const std::string& arguments,
              const TemporaryFolder& folder) {
  const std::string command = "cd '" + folder.file("") + "' && XDG_CACHE_HOME=\"$PWD\" '" +
                              TUTTI_COMMAND "' " + arguments + " " + redirections;
  const int status = std::system(command.c_str()); // NOLINT(concurrency-mt-unsafe): no thread
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST_CASE("a full disk under stdout is an error in words for every command") {
  const TemporaryFolder folder;
  REQUIRE(run_tutti("synth -t ring:4 -c all_reduce -a ring --size 1MiB -o s.tutti", folder).code ==
          0);
  const std::string given = "-t ring:4 -c all_reduce --size 1MiB ";
  for (const std::string& command :
       {std::string("list algorithms"), std::string("show -t ring:4"), "synth -a ring " + given,
        "bound " + given, std::string("verify -t ring:4 s.tutti"),
        std::string("replay -t ring:4 s.tutti"), std::string("lower -t ring:4 s.tutti")})
    for (const char* form : {"", " --json"}) {
      CAPTURE(command, form);
      CHECK(code_with(">/dev/full 2>said", command + form, folder) == 2);
      CHECK(read_file(folder.file("said")) ==
            "tutti: cannot write to the standard output: No space left on device\n");
    }
  for (const char* option : {"-o /dev/full", "-o /dev/full/x"})
    check_refused(run_tutti("synth -a ring " + given + option, folder));
  CHECK(code_with("2>/dev/full >/dev/full", "list algorithms", folder) == 2);
  CHECK(code_with("2>/dev/full", "list nosuch", folder) == 2);
  CHECK(code_with("2>&-", "list nosuch", folder) == 2);
  CHECK(code_with("2>said >&-", "list algorithms", folder) == 2);
  CHECK(code_with("2>said >&-", "synth -a ring " + given + "-o t.tutti", folder) == 2);
  CHECK(run_tutti("verify -t ring:4 t.tutti", folder).code == 0); // nothing else went there
}

TEST_CASE("what can't be printed is written out in messages, whole") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& toml) {
    write_file(folder.file("t.toml"), toml);
    const CommandResult result = run_tutti("show -t ./t.toml", folder);
    check_refused(result);
    return result.err;
  };
  CHECK(refused("name = \"a\\u0000b\"\n") ==
        "tutti: ./t.toml:1:10: a text can't have the character \\u0000\n");
  CHECK(refused("\"x\\u001b[31m\" = 1\n").find("\\u001b[31m") != std::string::npos);
  CHECK(refused("\"x\\U00000000\" = 1\n").find("can't have the character") != std::string::npos);
  CHECK(refused("name = 'a\\u0000b'\nx\\u0000 = 1\n").find("2:2") != std::string::npos);
  check_refused(run_tutti("show -t \"$(printf '\\033[31mred')\"", folder));
  check_refused(run_tutti("show -t \"$(printf '\\377\\302\\233x')\"", folder));
  check_refused(run_tutti("list \"$(printf 'a\\nb\\177')\"", folder));
  check_refused(run_tutti("\"$(printf '\\r\\007')\"", folder));
}

TEST_CASE("endless files, and files that unpack without end, are refused soon") {
  const TemporaryFolder folder;
  const CommandResult endless = run_tutti("show -t /dev/zero", folder);
  check_refused(endless);
  CHECK(endless.err.find("longer than 256 MiB") != std::string::npos);
  CHECK(run_tutti("show -t /dev/stdin < /dev/null", folder).code == 2);
  const std::string zeros = "head -c 256M /dev/zero | gzip > '" + folder.file("t.0.et") + "'";
  REQUIRE(std::system(zeros.c_str()) == 0); // NOLINT(concurrency-mt-unsafe): no other thread
  write_file(folder.file("t.1.et"), "");
  const CommandResult bomb = run_tutti("train -t ring:2 --chakra ./t -a ring", folder);
  check_refused(bomb);
  CHECK(bomb.err.find("unpacks to more than") != std::string::npos);
}

TEST_CASE("readers take time in proportion to what they read") {
  const TemporaryFolder folder;
  std::string attributes = "<algo";
  for (int i = 0; i < 100'000; ++i) attributes += fmt::format(" a{}='1'", i);
  write_file(folder.file("a.xml"), attributes + "></algo>");
  check_refused(run_tutti("import -t ring:2 a.xml --size 1MiB", folder));
  std::string keys;
  for (int i = 0; i < 50'000; ++i) keys += fmt::format("k{} = 1\n", i);
  write_file(folder.file("k.toml"), keys);
  check_refused(run_tutti("show -t ./k.toml", folder));
}

TEST_CASE("a cache that can't be used is said, and a bad size of it is bad input") {
  const TemporaryFolder folder;
  write_file(folder.file("file"), "");
  const std::string train = "train -t ring:2 --model gpt3_small --npu h100 -a ring ";
  const CommandResult unwritable = run_tutti(train + "--cache ./file/cache", folder);
  CHECK(unwritable.code == 0);
  CHECK(unwritable.err.find("schedules aren't remembered: ./file/cache") != std::string::npos);
  CHECK(std::count(unwritable.err.begin(), unwritable.err.end(), '\n') == 1);
  CHECK(run_tutti(train + "--cache ./here", folder).err.empty());
  CHECK(run_tutti(train + "--cache none", folder).err.empty());
  for (const char* size : {"x", "1", "-1B", "1e3B", "9999999TiB"}) {
    ::setenv("TUTTI_CACHE_SIZE", size, 1); // NOLINT(concurrency-mt-unsafe): no other thread
    const CommandResult result = run_tutti(train, folder);
    CAPTURE(size);
    check_refused(result);
    CHECK(result.err.starts_with("tutti: TUTTI_CACHE_SIZE: "));
  }
  ::unsetenv("TUTTI_CACHE_SIZE"); // NOLINT(concurrency-mt-unsafe): no other thread
}

TEST_CASE("no key is given twice in any text form") {
  const TemporaryFolder folder;
  const std::string size = " --size 1MiB";
  for (const std::string& arguments :
       {"synth -a ring -t ring:4 -c reduce,root=1,root=2" + size,
        "synth -a ring -t ring:4 -c reduce,root=1,root=1" + size,
        "synth -a ring -t ring:4 -c all_reduce,group=0-1,group=2-3" + size,
        "bound -t ring:4 -c gather,root=0,group=0-1,root=1" + size,
        "synth -a ring -t ring:4,latency=1us,latency=2us -c all_reduce" + size,
        "synth -a tacos -t ring:4 -c all_reduce --set x=1 --set x=2" + size,
        "synth -a ring -t ring:4 -c all_reduce --seed 1 --seed 2" + size,
        "failures -t ring:4 -c all_reduce -a ring --event at=1us,at=2us,npu_down=npu1" + size,
        "failures -t ring:4 -c all_reduce -a ring --event at=1us,npu_down=npu1,npu_down=npu2" +
            size}) {
    CAPTURE(arguments);
    check_refused(run_tutti(arguments, folder));
  }
}

} // namespace hostile_cli_test
