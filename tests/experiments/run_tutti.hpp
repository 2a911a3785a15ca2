// Runs the built command as a user would.
#pragma once

#include "sim/files.hpp"
#include "tests/temporary_folder.hpp"

#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace tutti {

struct CommandResult {
  int code = -1; ///< exit code; -1 where a signal ended it
  std::string out, err;
};

/// `arguments` are words for the shell. Runs in `folder`, so that what it writes goes away with it.
inline CommandResult run_tutti(const std::string& arguments, const TemporaryFolder& folder) {
  const std::string out = folder.file("stdout"), err = folder.file("stderr");
  const std::string command = "cd '" + folder.file("") + "' && '" TUTTI_COMMAND "' " + arguments +
                              " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

inline CommandResult run_tutti(const std::string& arguments) {
  return run_tutti(arguments, TemporaryFolder());
}

} // namespace tutti
