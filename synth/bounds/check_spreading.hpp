// Spreading cuts, for the checker of bounds (check.hpp).
#pragma once

#include "synth/bounds/check_claim.hpp"

#include <string>

namespace tutti::bounds::checking {

/// What spreads from a cut to its targets inside, or (`gathers`) comes together from its targets
/// outside before it crosses. All chunks count that must cross and that each target wants (or
/// contributes to).
[[nodiscard]] std::string spreading_fault(const Claim& claim);

} // namespace tutti::bounds::checking
