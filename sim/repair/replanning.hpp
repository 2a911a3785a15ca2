// Policies that plan anew: the rest from who holds what, or everything from the beginning.
#pragma once

#include "sim/repair/conclusion.hpp"
#include "sim/repair/recovery.hpp"
#include "sim/repair/running_plan.hpp"

namespace tutti {

/// Policy::resynthesize and Policy::restart. Events whose answer would come before the last answer
/// has taken effect are answered together.
/// Restart answers only where, as far as is known, something can't go on.
[[nodiscard]] Recovery replanned(const RecoveryCase& asked, const Schedule& schedule);

} // namespace tutti
