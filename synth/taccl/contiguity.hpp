// TACCL's third stage: which chunks share one send between machines, and when everything goes
// exactly (Shah et al. 2023, sec. 5.1 step 3 and appendix B.3).
#pragma once

#include "sim/units.hpp"
#include "sim/work_limit.hpp"
#include "synth/taccl/ordering.hpp"
#include "synth/taccl/sends.hpp"

#include <vector>

namespace tutti {

struct ContiguousSends {
  /// By their start; each of one connection, in its order. Most have one send.
  std::vector<std::vector<SendId>> blocks;
  std::vector<std::int64_t> starts; ///< [block], ps
  Time makespan;
  bool is_optimal = false; ///< the best of all divisions of these orders into blocks, proven
};

/// Sends that follow each other over a connection between machines set out together where that is
/// faster: they pay its latency once, and all of them arrive when the last one does. A block goes
/// when all of its chunks are there, in the place of its last send. All divisions are tried where
/// these are few; else blocks of equal size, and chunks that wait anyway, then boundaries along the
/// critical path are moved while that helps. Never slower than `ordered`. Without latency as busy
/// time (TimeModel::link_busy) nothing can be gained, and nothing is joined.
/// Cost: some 2 * 10^6 sends are timed at most, beside one pass of each kind.
[[nodiscard]] ContiguousSends contiguous(const Sends& sends, const OrderedSends& ordered,
                                         bool may_join, const WorkLimit& limit);

/// However chunks are joined, nothing is faster: chains of flights, and for each part its bytes
/// with one latency.
[[nodiscard]] Time contiguity_bound(const Sends& sends);

} // namespace tutti
