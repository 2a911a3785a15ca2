// The two forms of match_links_and_chunks; see tacos_matching.hpp. A link chooses among the given
// number of candidates, at least 1.
#pragma once

#include "synth/matching_network.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

/// Pre: network.uniform().
[[nodiscard]] std::optional<Matches> match_in_rounds(const MatchingProblem& problem,
                                                     const MatchingNetwork& network,
                                                     std::uint32_t candidates);
[[nodiscard]] std::optional<Matches> match_by_events(const MatchingProblem& problem,
                                                     const MatchingNetwork& network,
                                                     std::uint32_t candidates);

} // namespace tutti
