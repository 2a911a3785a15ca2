// How the time of a case hangs on the seed of its routing by hash.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"

#include <vector>

namespace tutti {

/// The times of the first replay under 15 seeds that follow that of the case, each made with as
/// many chunks; less where some have no schedule. Empty where routes aren't chosen by a hash, or
/// the algorithm takes none. Cost: that many syntheses, verifications and replays.
[[nodiscard]] std::vector<Time> times_of_other_seeds(const Case& c, const Attempt& made);

} // namespace tutti
