// A lower bound on the epochs of any plan.
#pragma once

#include "synth/teccl/problem.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

/// Fewer epochs are impossible: by distances (the latest destination of any chunk, from its nearest
/// source) and by what limits let into a node, out of one, or through a narrow cut of the network
/// (windows * most, between the first that can be there and the last that is in time), whichever is
/// more. Nothing where someone is out of reach.
[[nodiscard]] std::optional<std::uint32_t> fewest_epochs(const EpochProblem& problem);

} // namespace tutti
