// Who simulates on SimGrid: a process of its own for each run. A forked one where this process has
// a single thread; else one of a program that is executed, `tutti_simgrid_worker`: a fork would
// copy the locks that other threads hold, and wait for them forever.
#pragma once

#include "sim/processes/isolated.hpp"
#include "sim/watch.hpp"

#include <optional>
#include <string>

namespace tutti {

/// Where the program lies: what the environment variable TUTTI_SIMGRID_WORKER names; else in the
/// folder of this library or of this process's program, in the one above, in its libexec/tutti, or
/// where Tutti was configured to be built or installed; else on the path. Errors: InputError with
/// where it was looked for.
[[nodiscard]] std::string find_simgrid_worker();

/// What a request (requests.hpp) comes to. Errors: those of the simulation; std::bad_alloc, and
/// std::runtime_error where the process dies; InputError where SimGrid's library or the program
/// isn't found. Cost: the first time in a process the library of SimGrid is loaded, 20 ms, and by
/// the program each time; else a fork.
[[nodiscard]] std::string answer_of_simgrid(const std::string& request, const Watch& watch);

/// The same of several requests, for which the program is started once.
class SimGridSession {
public:
  [[nodiscard]] std::string answer(const std::string& request, const Watch& watch);

private:
  std::optional<AnsweringProgram> program_;
};

/// All of that program: answers requests on its ChildProcess::executed_socket, each in a process of
/// its own. `version`: what its caller expects. Returns the exit code.
int serve_simgrid(const std::string& version);

} // namespace tutti
