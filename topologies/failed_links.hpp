// Which links and NPUs of a degraded network are gone.
#pragma once

#include "sim/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tutti::topologies {

/// One or two links: the i-th from a to b and the i-th from b to a are one cable.
using Cable = std::vector<LinkId>;

/// All of them, by their first link. Cost: O(links log links).
[[nodiscard]] std::vector<Cable> cables_of(const Topology& topology);

/// So many randomly chosen cables fail with both directions. One that would leave an NPU out of
/// another's reach is passed over. Ascending. Errors: InputError where so many can't fail.
/// Cost: O(links log links), plus one walk over all links for each cable that is tried.
[[nodiscard]] std::vector<LinkId> failed_links(const Topology& topology, std::size_t count,
                                               std::uint64_t seed);

/// The same for a text, `3` or `5%` (of all cables, rounded up).
/// Errors: InputError "fail-links=..." also for anything but a number or a percentage.
[[nodiscard]] std::vector<LinkId> failed_links(const Topology& topology, std::string_view failures,
                                               std::uint64_t seed);

/// So many randomly chosen NPUs, for `3` or `5%` (rounded up), without which those that are left
/// reach one another; one at least is left. Ascending. Errors: InputError "fail-npus=...".
[[nodiscard]] std::vector<NodeId> failed_npus(const Topology& topology, std::string_view failures,
                                              std::uint64_t seed);

} // namespace tutti::topologies
