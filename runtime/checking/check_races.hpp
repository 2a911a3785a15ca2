// verify_program, third part: can what a step reads depend on which of two steps goes first?
#pragma once

#include "runtime/checking/check_order.hpp"

#include <optional>
#include <vector>

namespace tutti::runtime {

/// Two steps of a rank that touch the same unit, one of them writing, and that nothing orders.
/// Vector clocks over the blocks of a rank tell what program order and dependencies order. Where
/// they don't, messages may: from step to step backwards, all of them if need be.
/// Cost: O(steps * blocks of a rank + accesses), and O(steps) for each pair that only messages
/// order.
[[nodiscard]] std::optional<ProgramFault> check_races(const Program& program,
                                                      const std::vector<ProgramBlock>& blocks,
                                                      const std::vector<ProgramStep>& order);

} // namespace tutti::runtime
