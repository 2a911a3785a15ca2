// Processes that end well, badly, too late, not at all, or leave others behind.
#include "gpu/benchmark_run/process.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include <unistd.h>

namespace process_test {

using namespace tutti;
using namespace tutti::gpu;
using namespace std::chrono_literals;

namespace {

struct Processes {
  TemporaryFolder folder;
  const std::string output = folder.file("output"), number = folder.file("number");
  Processes() { note_interrupts(); }

  [[nodiscard]] ProcessEnd run(const std::string& script,
                               std::chrono::milliseconds limit = 20s) const {
    return run_process({"/bin/sh", "-c", script}, limit, output);
  }

  /// Whether the process whose number a file has is there no more; it may take a moment.
  [[nodiscard]] bool is_gone() const {
    const int process = std::stoi(read_file(number));
    for (int i = 0; i < 12'000; ++i) {
      if (::kill(process, 0) != 0 && errno == ESRCH) return true;
      const std::string state = read_file("/proc/" + std::to_string(process) + "/stat");
      if (state.find(") Z") != std::string::npos) return true; // nobody's child waits for init
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
};

} // namespace

TEST_CASE("processes: how they end is said, and what they print is kept") {
  const Processes processes;
  const ProcessEnd well = processes.run("echo $TUTTI_REQUIRE_GPU; echo two >&2; cat");
  CHECK(well.well());
  CHECK(well.last_words == "1 two");
  CHECK_THAT(read_file(processes.output), Catch::StartsWith("$ /bin/sh -c ") &&
                                              ContainsSubstring("\n1\ntwo\n(ended with code 0, "));
  const ProcessEnd badly = processes.run("exit 3");
  CHECK_FALSE(badly.well());
  CHECK(badly.words == "ended with code 3");
  CHECK(badly.last_words == "");
  CHECK_THAT(read_file(processes.output), ContainsSubstring("1\ntwo\n")); // nothing is lost
  const ProcessEnd crash = processes.run("echo here; kill -SEGV $$");
  CHECK_FALSE(crash.well());
  CHECK(crash.words == "was killed by signal 11 (Segmentation fault)");
  CHECK(crash.last_words == "here");
  const ProcessEnd none = run_process({"/nowhere/at/all"}, 10s, processes.output);
  CHECK(none.code == 127);
  CHECK(none.last_words == "error: /nowhere/at/all can't be started: No such file or directory");
}

TEST_CASE("processes: one that is late is asked to end, and then killed, with all it started") {
  const Processes processes;
  SECTION("it heeds SIGTERM") {
    const ProcessEnd end = processes.run(
        "trap 'echo last words; exit 0' TERM; sleep 60 & echo $! > " + processes.number + "; wait",
        200ms);
    CHECK_FALSE(end.in_time);
    CHECK_FALSE(end.well());
    CHECK(end.words == "wasn't done after 200 ms");
    CHECK(end.code == 0);
    CHECK(end.last_words == "last words");
  }
  SECTION("it doesn't") {
    const ProcessEnd end = processes.run(
        "trap '' TERM; echo $$ > " + processes.number + "; while :; do sleep 0.05; done", 200ms);
    CHECK_FALSE(end.in_time);
    CHECK(end.code == -1);
  }
  SECTION("in time, but it leaves one behind") {
    CHECK(processes.run("sleep 60 & echo $! > " + processes.number).well());
  }
  CHECK(processes.is_gone());
}

TEST_CASE("processes: a signal ends the one that runs, not this one; nor does a lost reader") {
  const Processes processes;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  (void)::close(ends[0]);
  CHECK(::write(ends[1], "x", 1) == -1);
  CHECK(errno == EPIPE);
  (void)::close(ends[1]);
  CHECK_FALSE(was_interrupted());
  (void)::raise(SIGTERM); // between two of them
  CHECK(was_interrupted());
  note_interrupts();
  CHECK_FALSE(was_interrupted());
  const ProcessEnd end = processes.run("echo $$ > " + processes.number + "; kill -INT " +
                                       std::to_string(::getpid()) + "; exec sleep 60");
  CHECK(end.in_time); // the interrupt ended it, not the limit
  CHECK(end.code == -1);
  CHECK(was_interrupted());
  CHECK(processes.is_gone());
}

} // namespace process_test
