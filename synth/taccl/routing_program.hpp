// TACCL's routing as the integer program that it is (Shah et al. 2023, appendix B.1, eq. 1 to 14),
// where that is small.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/taccl/routing.hpp"

#include <cstddef>

namespace tutti {

/// Programs with more of them (chunk of an orbit, usable link) are left alone.
inline constexpr std::size_t most_routing_sends = 64;

/// Replaces the routes by better ones where the program has some, and raises `at_least` by what it
/// proves. Does nothing where the routes meet their bound already and no policy counts connections,
/// or the program is too large. Ends after a fixed number of nodes of the search tree.
/// Pre: `routes` are right, and symmetric.
void improve_by_program(const RoutingProblem& problem, const RoutingSymmetry& symmetry,
                        UsableLinks& usable, Routes& routes, const WorkLimit& limit);

} // namespace tutti
