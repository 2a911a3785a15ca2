// Adjacent chunks that a schedule treats alike, moved together in one step.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

struct ChunkRolls {
  std::vector<std::uint32_t> leader; ///< [chunk]: the first of those that it moves with
  std::uint32_t longest = 1;         ///< most chunks that could move together
};

/// Chunks move together where they follow one another in every buffer (the same NPUs hold them,
/// the same want them) and the list sends each by the same paths in the same order; at most `most`
/// at once, in parts of a run of such chunks that differ by at most one. `most` == 0: all of a run.
/// Cost: O(transfers + chunks).
[[nodiscard]] ChunkRolls chunk_rolls(const Collective& collective, const Schedule& schedule,
                                     std::uint32_t most);

/// The transfers of the chunks that lead, each for all that move with it. What was together or
/// shared a send still does, as far as it is left, and dependencies name leaders, where these are
/// listed by then.
[[nodiscard]] Schedule transfers_of_leaders(const Schedule& schedule, const ChunkRolls& rolls);

} // namespace tutti::runtime
