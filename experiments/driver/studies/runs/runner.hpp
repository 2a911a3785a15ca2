// Evaluates many cases, several at once, each in a process of its own: SimGrid allows one engine
// per process, memory is measured per case, and a crash costs one row and not the run.
#pragma once

#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tutti {

/// Called in the driver's process after each case that ended.
using CaseFinished = std::function<void(std::size_t done, std::size_t total)>;
/// Called in the driver's process, at most ten times a second for each case that runs.
using CaseProgress = std::function<void(const Case&, const SynthesisProgress&)>;
/// The same of what is done with a case's schedule: a stage in words.
using CaseStage = std::function<void(const Case&, const std::string& stage, const WorkProgress&)>;
/// Called in the driver's process at the first signal, with the cases that run.
using CasesInterrupted = std::function<void(std::span<const Case* const> running)>;
/// What one process does: evaluate().
using CaseFunction = std::function<Evaluation(const Case&)>;

/// What the driver hears of while cases run, and what it reacts to. All may be empty.
struct RunWatcher {
  CaseFinished finished;
  CaseProgress progress;
  CaseStage stage = {};
  CasesInterrupted interrupted = {};
  /// After the first signal every running synthesis is cancelled and no further case is started;
  /// what is done with schedules ends a second later.
  Interrupts* interrupts = nullptr;
};

/// The evaluations in the order of `cases`, whatever `jobs` is. The cases' own `progress`,
/// `cancelled` and `stage` are replaced. A case whose process dies becomes an Evaluation whose
/// `problem` says how, one that runs out of memory is out_of_memory, one that isn't started because
/// of an interrupt is timed_out, and one that meets bad input is unsupported, each with a note. No
/// process outlives the call, however it ends. Pre: jobs >= 1.
/// Errors: InputError of the first case, in order, where all met bad input. Interrupted at the
/// second signal: the processes are killed at once.
[[nodiscard]] std::vector<Evaluation> run_cases(std::span<const Case> cases, std::size_t jobs,
                                                const RunWatcher& watcher = {},
                                                const CaseFunction& function = evaluate);

/// The same among other work: what cases refuse is counted, and no error.
[[nodiscard]] std::vector<Evaluation> run_cases(std::span<const Case> cases, std::size_t jobs,
                                                Refusals& refusals, const RunWatcher& watcher = {},
                                                const CaseFunction& function = evaluate);

/// Checks what can be checked in no time, so that bad input shows before hours of work: the engine
/// knows the disciplines, the topology can hold the collective and joins its members.
/// Errors: InputError.
void require_sound(std::span<const Case> cases);

/// Processors that this machine offers; at least 1.
[[nodiscard]] std::size_t default_jobs();

} // namespace tutti
