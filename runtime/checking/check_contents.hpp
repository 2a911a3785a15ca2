// verify_program, last part: what does every unit hold in the end?
#pragma once

#include "runtime/checking/check_order.hpp"

#include <optional>
#include <vector>

namespace tutti::runtime {

/// Performs the steps in this order on sets of contributions and finds overwritten_input, unset,
/// twice and wrong_result, the first of these kinds. Pre: no race.
/// Cost: O(units moved * contributors / 64), and as much memory for what is on its way.
[[nodiscard]] std::optional<ProgramFault> check_contents(const Program& program,
                                                         const std::vector<ProgramBlock>& blocks,
                                                         const std::vector<ProgramStep>& order);

} // namespace tutti::runtime
