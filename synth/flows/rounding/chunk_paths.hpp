// Which chunk takes which of the paths of a fluid schedule, and when it is its turn.
#pragma once

#include "sim/collective.hpp"
#include "synth/flows/fluid/fluid.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A whole tree, or one hop of a tree whose chunks each go to one sink.
struct ChunkPath {
  static constexpr std::uint32_t all = UINT32_MAX;
  std::uint32_t tree = 0;
  std::uint32_t hop = all;
  double share = 0; ///< of the bytes that have the same choice

  [[nodiscard]] std::span<const std::uint32_t> links(std::span<const FlowTree> trees) const {
    return hop == all ? std::span(trees[tree].links) : trees[tree].hop(hop);
  }
};

struct ChunkTurn {
  ChunkId chunk;
  std::uint32_t path = 0;            ///< index into ChunkPaths::paths
  std::uint32_t turn = 0, turns = 1; ///< the turn-th of so many that follow each other
  std::uint32_t most_turns = 1;      ///< the most `turns` of its demand
};

struct ChunkPaths {
  std::vector<ChunkPath> paths;
  std::vector<ChunkTurn> turns; ///< of all chunks that move
};

/// Gives every path the chunks that fit wholly into its share, and chooses among paths with a rest
/// so that no resource gets much more than its fluid load (randomized rounding made deterministic:
/// Raghavan 1988, "Probabilistic construction of deterministic algorithms: approximating packing
/// integer programs", with powers of loads as the estimator; then local search). Chunks that take
/// turns (those of a demand for one sink, or with the same root) take different paths one after
/// another. In All-Reduce shard i comes together at group[i], if there are as many trees to it as
/// it has chunks. Pre: check_fluid finds no fault. Deterministic.
/// Cost: O(chunks * paths to choose from * their links), of which choices take no more than some
/// 10^8: beyond that fewer paths are looked at, fewer times. Where the limit is reached by then,
/// the choice isn't improved any further. Errors: LimitReached where it is before all have a path.
[[nodiscard]] ChunkPaths chunk_paths(const Collective& collective, const FlowProblem& problem,
                                     std::span<const FlowTree> trees, const WorkLimit& limit = {});

} // namespace tutti
