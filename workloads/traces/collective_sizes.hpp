// How formats of others say the size of a collective, against how Tutti does: the total buffer.
#pragma once

#include "sim/collective.hpp"
#include "sim/units.hpp"

#include <cstddef>

namespace tutti {

/// Whether ASTRA-sim gives what one member contributes, of which the total buffer has one for each.
[[nodiscard]] inline bool is_sized_by_share(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
}

/// The least size of a buffer: a byte, or one for each member where it is cut into their shards.
[[nodiscard]] inline Bytes least_size(CollectiveKind kind, std::size_t members) {
  const bool is_whole = block_count(kind, members) == 1;
  return {is_whole ? 1 : static_cast<std::int64_t>(members)};
}

} // namespace tutti
