// The links that an executor emulates: what a plan needs of a network.
#pragma once

#include "runtime/plans/plan.hpp"

namespace tutti::runtime {

/// Fills in links, groups, and the path of each connection.
/// Errors: InputError where the network has too few NPUs, or no path.
void emulate_links(Plan& plan, const Program& program, const Topology& network);

} // namespace tutti::runtime
