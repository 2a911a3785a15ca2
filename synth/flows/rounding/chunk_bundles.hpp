// Which chunks have a choice among which paths of a fluid schedule.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/flows/rounding/chunk_paths.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Chunks with the same choice of paths.
struct Bundle {
  std::size_t first_path = 0, path_count = 0;
  std::size_t first_chunk = 0, chunk_count = 0;
  std::uint32_t demand = 0;
};

struct Bundles {
  std::vector<ChunkPath> paths;
  std::vector<ChunkId> chunks; // by bundle, the largest first
  std::vector<Bundle> list;
};

/// A bundle for each sink of a demand of paths; for each root of an All-Reduce, if every root's
/// share is a whole number of chunks; else one for each demand. Shares of a bundle's paths add up
/// to 1. Errors: LimitReached.
[[nodiscard]] Bundles chunk_bundles(const Collective& collective, const FlowProblem& problem,
                                    std::span<const FlowTree> trees, const WorkLimit& limit);

} // namespace tutti
