// The files that every process has. Losing what is printed on stdout is an error: it is a result.
#pragma once

namespace tutti {

/// Files that the process was started without (`>&-`) are opened so that nothing can be read or
/// written there: else the next file that is opened would get their number, and what is printed.
void guard_standard_files();

/// What is still to be written to stdout. Errors: InputError "cannot write to the standard output:
/// ..." where that or anything before it is lost.
void flush_standard_output();

} // namespace tutti
