// The path of a single chunk that takes longest, through an otherwise empty network.
#pragma once

#include "synth/bounds/bounds.hpp"
#include "synth/bounds/cut_bounds.hpp"
#include "synth/bounds/problem.hpp"

namespace tutti::bounds {

/// Of time 0 where nothing has to move. `ends` takes what cuts off the ends of the path, as far as
/// they are known. Errors: InputError where it is over 26 days.
/// Cost: one search of O(links log nodes) for each distinct source and size, or each node that
/// wants something reduced, up to 10 million links in all; then one search for all other sources.
[[nodiscard]] Bound latency_path(const Problem& problem, WorstCuts& ends);

} // namespace tutti::bounds
