// A named collective among those who are left.
#pragma once

#include "sim/collective.hpp"
#include "sim/network_event.hpp"

#include <optional>
#include <vector>

namespace tutti {

struct SurvivingCollective {
  Collective collective;
  std::vector<ChunkId> chunk; ///< [chunk of `collective`]: the same in the whole one
};

/// The same kind of collective over the members alive: their shards, of the same bytes; of an
/// All-Reduce the same chunks, in fewer shards. Nothing where that isn't the same: several parts, a
/// custom one, a dead root, fewer than two members, or an All-Reduce whose chunks don't divide
/// among those alive. The whole one where all are alive.
[[nodiscard]] std::optional<SurvivingCollective> among_survivors(const Collective& whole,
                                                                 const NetworkState& network);

} // namespace tutti
