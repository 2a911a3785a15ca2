// Late starts, for the checker of bounds (check.hpp).
#pragma once

#include "synth/bounds/check_claim.hpp"

#include <string>

namespace tutti::bounds::checking {

/// The source that is named joins late, and waits itself for the end; with `inside`, which are then
/// all the others, its out-cut follows; with a destination, a path to there.
[[nodiscard]] std::string late_start_fault(const Claim& claim);

} // namespace tutti::bounds::checking
