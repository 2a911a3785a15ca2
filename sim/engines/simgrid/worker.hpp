// SimGrid in a program that is executed anew, `tutti_simgrid_worker`, for processes with several
// threads: a fork would copy the locks that the others hold, and wait for them forever.
#pragma once

#include "sim/watch.hpp"

#include <string>

namespace tutti {

/// Where the program lies: what the environment variable TUTTI_SIMGRID_WORKER names; else in the
/// folder of this library or of this process's program, in the one above, in its libexec/tutti, or
/// where Tutti was configured to be built or installed; else on the path. Errors: InputError with
/// where it was looked for.
[[nodiscard]] std::string find_simgrid_worker();

/// simgrid_answer() by that program. Errors: as bytes_of_program(); InputError as above;
/// std::runtime_error where the program is of another version.
[[nodiscard]] std::string answer_of_simgrid_worker(const std::string& request, const Watch& watch);

/// All of that program: answers one request on its ChildProcess::executed_socket. `version`: what
/// its caller expects. Returns the exit code.
int serve_simgrid(const std::string& version);

} // namespace tutti
