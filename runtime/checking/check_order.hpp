// verify_program, second part: do all steps end?
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

} // namespace tutti::runtime
