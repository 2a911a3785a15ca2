// What those who wait see of failures on stderr: a line for each policy as it ends.
//   tutti: Torus, tacos: 4 failed links, seed 1: resynthesize complete at 21.42 ms
#pragma once

#include "experiments/driver/studies/failures/evaluation.hpp"

#include <iosfwd>
#include <string>

namespace tutti {

/// `what` stands before each; `out` must outlive it.
[[nodiscard]] PolicyFinished policy_announcer(std::string what, std::ostream& out);

/// The same on stderr where that is a terminal or lines are wanted; else it says nothing.
[[nodiscard]] PolicyFinished policy_announcer(std::string what, bool lines_wanted);

} // namespace tutti
