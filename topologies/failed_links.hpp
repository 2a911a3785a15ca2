// Which links of a degraded network are gone.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tutti::topologies {

/// So many randomly chosen cables, `3` or `5%` (of all, rounded up), fail with both directions: the
/// i-th link from a to b and the i-th from b to a are one cable. One that would leave an NPU out of
/// another's reach is passed over. Ascending.
/// Errors: InputError for anything but a number or a percentage, and where so many can't fail.
/// Cost: O(links log links), plus one walk over all links for each cable that is tried.
[[nodiscard]] std::vector<LinkId> failed_links(const Topology& topology, std::string_view failures,
                                               std::uint64_t seed);

} // namespace tutti::topologies
