// verify_program, second part: do all steps end, and does one order or another change what they
// read?
#pragma once

#include "runtime/checking/check_form.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::runtime {

/// A step of the program: ProgramBlock and index.
struct ProgramStep {
  std::uint32_t block = 0, step = 0;
};

struct ProgramOrder {
  std::vector<ProgramStep> steps; ///< all, in one order in which they can happen
  std::optional<ProgramFault> deadlock;
};

/// Runs the steps without data, each block as far as it comes. Which steps can happen doesn't
/// depend on which goes first, so a run that stands still once does so always.
/// Pre: check_messages() finds nothing. Cost: O(steps + waits).
[[nodiscard]] ProgramOrder program_order(const std::vector<ProgramBlock>& blocks,
                                         std::uint32_t slots);

/// Two steps of a rank that touch the same unit, one of them writing, and that nothing orders.
/// Vector clocks over the blocks of a rank tell what program order and dependencies order. Where
/// they don't, messages may: from step to step backwards, all of them if need be.
/// Cost: O(steps * blocks of a rank + accesses), and O(steps) for each pair that only messages
/// order.
[[nodiscard]] std::optional<ProgramFault> check_races(const Program& program,
                                                      const std::vector<ProgramBlock>& blocks,
                                                      const std::vector<ProgramStep>& order);

} // namespace tutti::runtime
