// The command line: what `tutti` accepts, and which command each subcommand becomes.
#pragma once

#include "experiments/driver/sweep/engine.hpp"

namespace tutti {

/// Runs one command. Results go to stdout, diagnostics to stderr. `mpi`: for sweeps over many
/// machines, in the program that has it.
/// Returns the exit code: 0 fine, 1 an expectation or check failed, 2 bad input.
int command_line(int argc, char** argv, const sweep::SweepEngine& mpi = {});

} // namespace tutti
