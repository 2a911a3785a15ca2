// Steps that receive and combine, as a receipt and a reduction of their own.
#pragma once

#include "runtime/program.hpp"

namespace tutti::runtime {

/// Each rrc becomes r and re, for runtimes that have no kernel for it: into the target where that
/// isn't what it adds to, else into scratch that its block has for this. Other steps stay; who
/// waits for an rrc waits for its reduction. Cost: O(steps).
[[nodiscard]] Program split_reductions(Program program);

} // namespace tutti::runtime
