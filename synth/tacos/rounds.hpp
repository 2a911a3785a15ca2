// Matching where a chunk takes equally long on every link; see rounds.cpp.
#pragma once

#include "synth/tacos/matching_network.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

/// Each link chooses among so many candidates. Pre: network.uniform(); candidates >= 1.
[[nodiscard]] std::optional<Matches> match_in_rounds(const MatchingProblem& problem,
                                                     const MatchingNetwork& network,
                                                     std::uint32_t candidates);

} // namespace tutti
