// All eight collectives around a ring of ranks; what differs between the ring algorithms is only
// the order of the ranks and the links between neighbours.
#pragma once

#include "algorithms/routed_schedule.hpp"

#include <vector>

namespace tutti {

enum class RingUse {
  forward_only,    ///< all chunks travel in the order of the ring
  both_directions, ///< even chunks forward, odd ones backward
};

/// Appends the collective of `schedule`. `order` has every rank once.
void send_around_ring(RoutedSchedule& schedule, const std::vector<Rank>& order, RingUse use);

} // namespace tutti
