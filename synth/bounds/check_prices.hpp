// Prices on bandwidth, for the checker of bounds (check.hpp).
#pragma once

#include "synth/bounds/check_claim.hpp"

#include <string>

namespace tutti::bounds::checking {

/// Whatever carries a byte pays a whole number for each link and shared group that it crosses. A
/// resource of price p and bandwidth b earns p * b in each second that any of it can cross, at
/// most, and so from the first moment at which its first byte can start until the last one has
/// still to get to where it is wanted.
/// With `from`, only crossings count that begin then or later: before, its first bytes can have set
/// out from where they can have come by then (or are from the start), so that what isn't reduced
/// starts there, or where links from there end.
[[nodiscard]] std::string prices_fault(const Claim& claim);

} // namespace tutti::bounds::checking
