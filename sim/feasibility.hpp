// Whether any schedule can exist: a question about the definition, asked of no algorithm.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"

#include <string>

namespace tutti {

/// Why no schedule that verify() accepts exists, naming chunk and nodes ("chunk 3 can't get from
/// npu0 to npu2"); empty where nothing proves that. Never wrong about a collective that has a
/// schedule. Silent about one that has none only where, of a chunk that reduces and that several
/// nodes want, a contributor can't copy, or where more than 12 places would have to be tried to
/// multiply a chunk that sources which can't copy hold.
/// Cost: O(nodes + links + chunks + sizes of sets), and where not all members reach each other
/// O(nodes + links) for each set of mutually reachable nodes that has sources.
[[nodiscard]] std::string infeasibility(const Topology& topology, const Collective& collective);

/// Errors: InputError with the network's name and that proof, where there is one.
void require_feasible(const Topology& topology, const Collective& collective);

} // namespace tutti
