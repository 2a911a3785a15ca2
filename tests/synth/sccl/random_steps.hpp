// Random tiny questions to k-synchronous synthesis: any network, any collective that copies.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"

#include <cstdint>

namespace tutti::testing {

struct StepCase {
  Topology topology;
  Collective collective; ///< one part, one chunk for each of a shard
};

/// Two to five NPUs, sometimes a switch or a memory; links one way or both, some twice, of few
/// bandwidths; groups that some links share. Everyone can be reached. All-Gather, Broadcast,
/// Gather, Scatter, All-to-All of all or some NPUs, or a custom collective with several sources.
[[nodiscard]] StepCase random_step_case(std::uint64_t seed);

/// The collective with each shard cut in so many pieces.
[[nodiscard]] Collective cut(const Topology& topology, const Collective& collective,
                             std::uint32_t chunks_per_shard);

} // namespace tutti::testing
