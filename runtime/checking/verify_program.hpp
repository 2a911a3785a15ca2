// Does this program implement its collective, whatever the speed of its blocks? Shares no code with
// the lowering, nor with `verify`.
#pragma once

#include "runtime/program.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::runtime {

struct ProgramFault {
  enum class Kind : std::uint8_t {
    malformed, ///< a place outside its buffer, a peer that isn't there, two blocks on a connection,
               ///< a step whose kind its block can't do, a dependency on no step
    unmatched, ///< a send that is never received, a receive without a send
    mismatched,        ///< the k-th send and the k-th receive of a connection move different counts
    deadlock,          ///< a cycle of waits; names its steps
    race,              ///< two steps touch a unit, one writes, and nothing orders them
    overwritten_input, ///< the caller's input is written (not in place)
    unset,             ///< a unit is read that nothing was written to
    twice,             ///< a contribution is combined twice
    wrong_result,      ///< in the end a unit isn't what the caller wants there
  };
  Kind kind;
  std::string text; ///< e.g. "rank 3, block 1, step 4 (rrc): reads scratch 7, which holds nothing"
};

struct ProgramVerdict {
  std::optional<ProgramFault> fault; ///< the first kind found, in the order above
  std::size_t steps = 0;
  [[nodiscard]] bool correct() const { return !fault; }
};

/// Performs the steps symbolically: every unit holds a set of (chunk unit, contributor). Order is
/// that of blocks, dependencies and messages: a message is received after it is sent. `slots` is
/// how many messages a connection holds before its sender must wait; a program that passes with 1
/// hangs nowhere (MSCCL's runtimes have 2, run_on_cpu() PlanOptions::slots); 0 means unbounded.
/// Races: every two steps of a rank that touch the same unit, one of them writing, must be ordered.
/// Cost: O(steps * blocks of a rank) time and memory.
[[nodiscard]] ProgramVerdict verify_program(const Program& program, std::uint32_t slots = 1);

} // namespace tutti::runtime
