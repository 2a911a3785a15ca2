// Where the contributions to a chunk come together, if nothing says where.
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"
#include "sim/topology.hpp"

#include <vector>

namespace tutti {

/// An NPU for each chunk, that can reduce and copy, is reached by all who contribute and reaches
/// all who want it: who wants it, if that is one; else one of the contributors (of the sources, for
/// a chunk that is copied), deep among them, that is, many links from everyone who doesn't
/// contribute. No NPU gets much more chunks than others can have; of equally good ones they take
/// turns by id. Another NPU where no contributor will do, and no valid one where none does. Cost:
/// O(links + nodes) for each chunk that several contribute to, and for each pair of sets.
[[nodiscard]] std::vector<NodeId> meeting_points(const Topology& topology,
                                                 const Collective& collective);

} // namespace tutti
