// Runs the built command as a user would.
#pragma once

#include "sim/files/files.hpp"
#include "tests/experiments/cli/json_schemas.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace tutti {

struct CommandResult {
  int code = -1; ///< exit code; -1 where a signal ended it
  std::string out, err;
};

/// `arguments` are words for the shell. Runs in `folder`, so that what it writes goes away with it,
/// remembered schedules too. JSON that isn't as its schema says fails the test.
inline CommandResult run_tutti(const std::string& arguments, const TemporaryFolder& folder) {
  const std::string out = folder.file("stdout"), err = folder.file("stderr");
  const std::string command = "cd '" + folder.file("") +
                              "' && XDG_CACHE_HOME=\"$PWD\" '" TUTTI_COMMAND "' " + arguments +
                              " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  CommandResult result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out),
                       read_file(err)};
  check_answer(arguments, result.out);
  return result;
}

/// Of a file that has no size, as those of /proc; empty where it can't be read.
inline std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether a process takes SIGINT in its own way, as commands do once they have begun.
inline bool blocks_ctrl_c(pid_t process) {
  const std::string status = text_of("/proc/" + std::to_string(process) + "/status");
  const std::size_t mask = status.find("SigBlk:");
  return mask != std::string::npos &&
         (std::stoull(status.substr(mask + 7), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
}

/// When a command is interrupted, and what came of it.
struct Interruption {
  int signal = SIGINT;
  /// Wait until this is on its stderr; empty: until half a second after it has begun. For 60 s at
  /// most: what a busy machine hasn't even begun can't be interrupted in good order.
  std::string once_it_says = {};
};

/// Sends the command a signal, as a user with Ctrl-C would, and waits for its end.
inline CommandResult interrupt_tutti(const std::string& arguments, const TemporaryFolder& folder,
                                     const Interruption& how) {
  const std::string out = folder.file("stdout"), err = folder.file("stderr");
  const std::string command = "cd '" + folder.file("") + "' && exec '" TUTTI_COMMAND "' " +
                              arguments + " >'" + out + "' 2>'" + err + "'";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  constexpr auto pause = std::chrono::milliseconds(20);
  for (int i = 0; i < 3000 && !blocks_ctrl_c(child); ++i) std::this_thread::sleep_for(pause);
  std::this_thread::sleep_for(std::chrono::milliseconds(how.once_it_says.empty() ? 500 : 100));
  for (int i = 0; i < 3000 && read_file(err).find(how.once_it_says) == std::string::npos; ++i)
    std::this_thread::sleep_for(pause);
  kill(child, how.signal);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

/// The same with SIGINT, half a second after it has begun.
inline CommandResult interrupt_tutti(const std::string& arguments, const TemporaryFolder& folder) {
  return interrupt_tutti(arguments, folder, Interruption{});
}

inline CommandResult run_tutti(const std::string& arguments) {
  return run_tutti(arguments, TemporaryFolder());
}

} // namespace tutti
