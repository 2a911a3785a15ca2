// Runs a simulation in a child process and brings its report back.
#pragma once

#include "sim/report.hpp"

#include <functional>

namespace tutti {

/// Calls `simulate` in a forked child; the report comes back through a pipe. An InputError thrown
/// there is thrown here again. Errors: std::runtime_error where the child dies or can't be made.
/// Not from several threads at once: a child would hold the other pipes open.
/// Cost: a fork (about 1 ms) plus copying the report.
[[nodiscard]] Report run_isolated(const std::function<Report()>& simulate);

} // namespace tutti
