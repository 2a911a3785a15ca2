// What becomes of a body that may end its process: it runs in a child.
#pragma once

#include "tests/catch.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace tutti {

struct Ending {
  int code = -1;     ///< the exit code; -1: by a signal
  std::string words; ///< on stderr
  double seconds = 0;
};

/// A body that returns or throws ends its process with 0. Pre: no other thread runs.
template <typename Body> Ending ending_of(const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    (void)dup2(ends[1], STDERR_FILENO);
    (void)alarm(600); // where nothing else ends it
    try {
      body();
    } catch (const std::exception& error) {
      (void)std::fprintf(stderr, "thrown: %s", error.what());
    }
    std::_Exit(0);
  }
  (void)close(ends[1]);
  Ending ending;
  char text[512];
  for (ssize_t got = 0; (got = read(ends[0], text, sizeof text)) > 0;)
    ending.words.append(text, static_cast<std::size_t>(got));
  (void)close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status)) ending.code = WEXITSTATUS(status);
  ending.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ending;
}

} // namespace tutti
