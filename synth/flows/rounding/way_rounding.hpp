// From shares to chunks.
#pragma once

#include "synth/flows/rounding/chunk_bundles.hpp"
#include "synth/flows/rounding/way_loads.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// [chunk of the bundles]: index into their ways; as chunk_ways() says. `loads` are the fluid
/// schedule's, and then those of the chunks.
[[nodiscard]] std::vector<std::uint32_t> rounded_ways(const Collective& collective,
                                                      std::span<const FlowTree> trees,
                                                      const Bundles& bundles, WayLoads& loads,
                                                      const WorkLimit& limit);

} // namespace tutti
