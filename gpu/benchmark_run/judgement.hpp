// What is wrong or unexpected in rows.
#pragma once

#include "gpu/benchmark_run/process.hpp"
#include "gpu/benchmark_run/steps.hpp"
#include "runtime/pack/rows.hpp"

#include <string>
#include <vector>

namespace tutti::gpu {

/// Why rows make their step a failure: wrong data, what failed, hung or was cut off (not what was
/// refused, for want of memory say). The first, and how many more there are; empty where all is
/// well.
[[nodiscard]] std::string first_problem(const runtime::Rows& rows);

/// What isn't as the step's row expects: "tick is 1.2 us, expected 1 ns to 1.1 us".
[[nodiscard]] std::vector<std::string> unexpected_figures(const DayStep& step,
                                                          const runtime::Rows& rows);

} // namespace tutti::gpu
