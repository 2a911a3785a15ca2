// The command line: what `tutti` accepts, and which command each subcommand becomes.
#pragma once

namespace tutti {

/// Runs one command. Results go to stdout, diagnostics to stderr.
/// Returns the exit code: 0 fine, 1 an expectation or check failed, 2 bad input.
int command_line(int argc, char** argv);

} // namespace tutti
