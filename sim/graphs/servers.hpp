// Which NPUs make up a server, by bandwidths alone.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// [node]: the least node of those that links of some speed or a higher one join it with, where
/// this leaves NPUs with links in two or more sets of two or more each, which only slower links
/// join. Where there are several such speeds, it is the one that is highest above the fastest link
/// between the sets; empty where none is half as high again.
/// Cost: O(nodes + links log links), and O(nodes + links) for each of at most 32 speeds.
[[nodiscard]] std::vector<std::uint32_t> sets_joined_by_speed(const Topology& topology);

} // namespace tutti
