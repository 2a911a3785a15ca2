// Symmetries of a flow problem, found by bliss on the coloured network, shared groups included.
#pragma once

#include "synth/flows/fluid/fluid.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Generators of the group of all automorphisms: they keep links, bandwidths, shared groups,
/// abilities and demands, and leave the nodes of `fixed` where they are. Empty where there are none
/// but the identity. Those that move neither a node nor a link aren't among them. Errors:
/// LimitReached.
[[nodiscard]] std::vector<FlowAutomorphism>
flow_automorphisms(const FlowProblem& problem, std::span<const std::uint32_t> fixed = {},
                   const WorkLimit& limit = {});

/// All elements, the identity first, of a group of automorphisms that keep the orbits of nodes
/// under these and in which no element but the identity leaves any source or sink of a demand in
/// place: as large as was found, regular (as many as there are sources and sinks) if possible. Only
/// the identity where there is none. Commuting ones (commuting_group.hpp) are preferred:
/// translations, which use links most evenly. Deterministic. Cost: as of some searches by bliss,
/// below 0.3 s for 1,024 GPUs; memory 4 bytes for each element and node, link, resource and demand,
/// for which elements are given up beyond some 500 MB. Errors: LimitReached.
[[nodiscard]] std::vector<FlowAutomorphism>
free_flow_symmetry(const FlowProblem& problem, std::span<const FlowAutomorphism> generators,
                   const WorkLimit& limit = {});

} // namespace tutti
