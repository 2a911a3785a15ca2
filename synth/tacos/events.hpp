// Matching on any links; see events.cpp.
#pragma once

#include "synth/tacos/matching_network.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

/// Each link chooses among so many candidates. Pre: candidates >= 1.
[[nodiscard]] std::optional<Matches> match_by_events(const MatchingProblem& problem,
                                                     const MatchingNetwork& network,
                                                     std::uint32_t candidates);

} // namespace tutti
