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
#include <vector>

#include <unistd.h>

namespace process_test {

using namespace tutti;
using namespace tutti::gpu;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

/// Whether a process whose number a file has is there no more; it may take a moment.
bool is_gone(const std::string& number_file) {
  const int process = std::stoi(read_file(number_file));
  for (int i = 0; i < 12'000; ++i) {
    if (::kill(process, 0) != 0 && errno == ESRCH) return true;
    const std::string state = read_file("/proc/" + std::to_string(process) + "/stat");
    if (state.find(") Z") != std::string::npos) return true; // nobody's child waits for init
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

} // namespace

TEST_CASE("processes: how they end is told, and what they say is kept") {
  const TemporaryFolder folder;
  const std::string said = folder.file("said");
  EndingSignals signals;

  SECTION("well, with the environment that GPU tests need") {
    const ProcessEnd end =
        signals.run(shell("echo $TUTTI_REQUIRE_GPU; echo two >&2; cat"), 10s, said);
    CHECK(end.well());
    CHECK(read_file(said) == "1\ntwo\n");
    CHECK(signals.run(shell("echo three"), 10s, said).well());
    CHECK(read_file(said) == "1\ntwo\nthree\n");
  }
  SECTION("badly") {
    const ProcessEnd end = signals.run(shell("exit 3"), 10s, said);
    CHECK_FALSE(end.well());
    CHECK(end.told() == "ended with code 3");
  }
  SECTION("by a crash") {
    const ProcessEnd end = signals.run(shell("echo here; kill -SEGV $$"), 10s, said);
    CHECK(end.signal == SIGSEGV);
    CHECK(end.told() == "was killed by signal 11 (Segmentation fault)");
    CHECK(read_file(said) == "here\n");
  }
  SECTION("not started") {
    const ProcessEnd end = signals.run({"/nowhere/at/all"}, 10s, said);
    CHECK(end.code == 127);
    CHECK(read_file(said) ==
          "error: /nowhere/at/all can't be started: No such file or directory\n");
  }
}

TEST_CASE("processes: one that is late is told to end, and then killed, with all that it started") {
  const TemporaryFolder folder;
  const std::string said = folder.file("said"), number = folder.file("number");
  EndingSignals signals;
  SECTION("it heeds SIGTERM") {
    const ProcessEnd end = signals.run(
        shell("trap 'echo last words; exit 0' TERM; sleep 60 & echo $! > " + number + "; wait"),
        200ms, said);
    CHECK_FALSE(end.in_time);
    CHECK_FALSE(end.well());
    CHECK(end.told() == "was cut off at the limit, after 200 ms");
    CHECK(end.signal == 0);
    CHECK(read_file(said) == "last words\n");
    CHECK(is_gone(number));
  }
  SECTION("it doesn't") {
    const ProcessEnd end = signals.run(
        shell("trap '' TERM; echo $$ > " + number + "; while :; do sleep 0.05; done"), 200ms, said);
    CHECK_FALSE(end.in_time);
    CHECK(end.signal == SIGKILL);
    CHECK(is_gone(number));
  }
  SECTION("in time, but it leaves one behind") {
    CHECK(signals.run(shell("sleep 60 & echo $! > " + number), 10s, said).well());
    CHECK(is_gone(number));
  }
}

TEST_CASE("processes: a signal ends the one that runs, not this one") {
  const TemporaryFolder folder;
  const std::string number = folder.file("number");
  EndingSignals signals;
  const int self = ::getpid();
  const ProcessEnd end = signals.run(
      shell("echo $$ > " + number + "; kill -INT " + std::to_string(self) + "; exec sleep 60"), 20s,
      folder.file("said"));
  CHECK(end.interrupted);
  CHECK(end.told() == "was interrupted");
  CHECK(signals.came());
  CHECK(is_gone(number));
}

TEST_CASE("processes: who prints for nobody lives on") {
  EndingSignals signals;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  (void)::close(ends[0]);
  CHECK(::write(ends[1], "x", 1) == -1);
  CHECK(errno == EPIPE);
  (void)::close(ends[1]);
  CHECK_FALSE(signals.came());
}

TEST_CASE("processes: a signal between two of them isn't lost") {
  EndingSignals signals;
  CHECK_FALSE(signals.came());
  (void)::raise(SIGTERM);
  CHECK(signals.came());
}

} // namespace process_test
