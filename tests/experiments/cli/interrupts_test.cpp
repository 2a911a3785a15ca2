// Ctrl-C during work in this process. What jobs hear of it: runner_test.cpp.
#include "experiments/driver/pool/interrupts.hpp"

#include "tests/catch.hpp"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

namespace interrupts_test {

using namespace tutti;

TEST_CASE("the first signal cancels work in this process, the second ends it") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL); // not the handler of the test program
    Interrupts interrupts;
    if (interrupts.cancels()) ::_exit(1);
    ::kill(::getpid(), SIGINT);
    if (!interrupts.cancels() || !interrupts.cancels()) ::_exit(2);
    if (interrupts.count() != 1) ::_exit(3);
    ::kill(::getpid(), SIGINT); // delivered before kill() returns
    ::_exit(4);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT));
}

} // namespace interrupts_test
