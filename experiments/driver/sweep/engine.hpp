// How a sweep's points are spread: in processes of this machine, or over the ranks of an MPI job.
#pragma once

#include "experiments/driver/sweep/coordinator.hpp"

#include <functional>
#include <optional>

namespace tutti::sweep {

/// Runs a sweep; what sweep_locally() says holds. Nothing: this process only helped another one,
/// which has the outcome, and has no more to do.
using SweepEngine =
    std::function<std::optional<SweepOutcome>(const Sweep& sweep, const SweepOptions& options)>;

/// Goes on as the program `tutti_mpi` that lies beside this one, with the same arguments.
/// Errors: InputError that says what to install where it isn't there.
[[noreturn]] void become_mpi_program(char** arguments);

} // namespace tutti::sweep
