// What crosses the network as one: a transfer, or several that share a send.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/units.hpp"

#include <cstddef>

namespace tutti {

/// The same where some transfers share sends. Cost: O(transfers of the send).
[[nodiscard]] Bytes shared_send_size(const Collective& collective, const Schedule& schedule,
                                     std::size_t first);

/// What the send carries whose first transfer this is. Cost: O(transfers of the send).
[[nodiscard]] inline Bytes send_size(const Collective& collective, const Schedule& schedule,
                                     std::size_t first) {
  if (schedule.has_contiguous()) [[unlikely]]
    return shared_send_size(collective, schedule, first);
  return collective.chunks[schedule[first].chunk.value].size;
}

/// The model whose lower bounds hold for this schedule under `model`. Where links are busy for
/// their latencies bounds count these chunk by chunk, but chunks that share a send pay them once.
/// The bounds of a model whose links aren't busy for latencies hold for such schedules: that makes
/// nothing slower.
[[nodiscard]] inline TimeModel bounding_model(TimeModel model, const Schedule& schedule) {
  if (schedule.has_contiguous()) model.link_busy = LinkBusy::serialization;
  return model;
}

} // namespace tutti
