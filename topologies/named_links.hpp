// Links as people write them.
#pragma once

#include "sim/topology.hpp"

#include <string_view>
#include <vector>

namespace tutti::topologies {

/// All links `npu0>npu1`, ascending: parallel ones have one name; or `npu0-npu1`, those and then
/// the ones back. Errors: InputError for another form, unknown nodes, and where there is no such
/// link in a direction.
[[nodiscard]] std::vector<LinkId> links_named(const Topology& topology, std::string_view text);

} // namespace tutti::topologies
