// What solves integer programs, as solve_integer() asks it. Only to be included by that and by
// those who answer.
#pragma once

#include "synth/solvers/integer_program.hpp"

namespace tutti {

/// Without costs only feasibility is asked, and `settings.start` and `below` are ignored. A start
/// satisfies the program. Columns are rounded but not checked; of `at_least` only what the search
/// itself has proven.
[[nodiscard]] IntegerSolution integer_search(const LinearProgram& program, bool with_costs,
                                             const WorkLimit& limit,
                                             const IntegerSettings& settings);

} // namespace tutti
