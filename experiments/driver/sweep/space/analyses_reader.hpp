// What a sweep makes of its results: [[pareto]], [[best]], [[sensitivity]], [[curves]] and
// [[selection]].
#pragma once

#include "experiments/driver/sweep/space/sweep.hpp"
#include "sim/files/config.hpp"

#include <set>
#include <string>

namespace tutti::sweep {

/// Fills in the analyses of a sweep whose axes and objectives are there. Returns the parameters
/// that they name. Errors: InputError with a place.
std::set<std::string> read_analyses(ConfigTable& root, Sweep& sweep);

} // namespace tutti::sweep
