// Algorithms that are shared objects, by the plain C of tutti_algorithm.h.
#pragma once

#include "sim/synthesizer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

/// Calls its function in a child, where it is loaded: whatever goes wrong is a failed outcome.
/// Errors: LimitReached of synthesize(), with which the child ends. Cost: a fork, 1 ms.
[[nodiscard]] Outcome run_shared_object(const std::string& file, const Topology& topology,
                                        const Collective& collective,
                                        const SynthesisOptions& options);

/// Multiples of the number of chunks per shard that it needs; none where it says nothing.
[[nodiscard]] std::vector<std::uint32_t> chunk_candidates_of(const std::string& file,
                                                             const Topology& topology,
                                                             const Collective& collective,
                                                             const SynthesisOptions& options);

} // namespace tutti
