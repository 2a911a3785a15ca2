// Who takes part in a collective.
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"

#include <vector>

namespace tutti {

/// Who holds or wants a chunk, ascending. Sets that no chunk has don't count.
/// Cost: O(chunks + n log n), n: the sizes of all sets.
[[nodiscard]] std::vector<NodeId> members_of(const Collective& collective);

} // namespace tutti
