// From the shares of a fluid schedule's paths to a path for each chunk.
#pragma once

#include "synth/flows/rounding/chunk_bundles.hpp"
#include "synth/flows/rounding/path_loads.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// [chunk of the bundles]: index into their paths; as chunk_paths() says. `loads` are the fluid
/// schedule's, and then those of the chunks.
[[nodiscard]] std::vector<std::uint32_t> rounded_paths(const Collective& collective,
                                                       std::span<const FlowTree> trees,
                                                       const Bundles& bundles, PathLoads& loads,
                                                       const WorkLimit& limit);

} // namespace tutti
