// Plans between the network that they were made on and the whole one.
#pragma once

#include "sim/iteration.hpp"
#include "sim/topology.hpp"

namespace tutti {

/// The plan in the numbers of the whole network. Chunk ids and the order of transfers stay.
/// Cost: O(transfers + paths + the network's links).
[[nodiscard]] CommunicationPlan on_whole_network(const Topology& topology,
                                                 const PlacedPlan& placed);

/// A plan for one named collective in the numbers of the whole network, as one on a network of the
/// links that it uses: the members first, in rank order. The same times.
[[nodiscard]] PlacedPlan on_used_links(const Topology& topology, const CommunicationPlan& whole);

} // namespace tutti
