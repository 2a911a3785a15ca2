// Evaluates many cases, several at once, each in a process of its own: SimGrid allows one engine
// per process, memory is measured per case, and a crash costs one row and not the run.
#pragma once

#include "experiments/evaluation.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tutti {

/// Called in the driver's process after each case that ended.
using CaseFinished = std::function<void(std::size_t done, std::size_t total)>;
/// What one process does: evaluate().
using CaseFunction = std::function<Evaluation(const Case&)>;

/// The evaluations in the order of `cases`, whatever `jobs` is. A case whose process dies becomes
/// an Evaluation whose `problem` says how. Pre: jobs >= 1. Errors: InputError of the first case, in
/// order, that met bad input; no further case is started once one has.
[[nodiscard]] std::vector<Evaluation> run_cases(std::span<const Case> cases, std::size_t jobs,
                                                const CaseFinished& finished = {},
                                                const CaseFunction& function = evaluate);

/// Checks what can be checked in no time, so that bad input shows before hours of work: the engine
/// knows the disciplines, the topology can hold the collective and joins its members.
/// Errors: InputError.
void require_sound(std::span<const Case> cases);

/// Processors that this machine offers; at least 1.
[[nodiscard]] std::size_t default_jobs();

} // namespace tutti
