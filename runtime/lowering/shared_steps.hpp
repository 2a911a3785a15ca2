// Which messages one step sends and one step receives: chunks that share a send and lie side by
// side at both ranks.
#pragma once

#include "runtime/lowering/message_values.hpp"
#include "runtime/lowering/schedule_messages.hpp"
#include "runtime/program.hpp"
#include "sim/schedule.hpp"

#include <cstdint>
#include <span>

namespace tutti::runtime {

/// Finds them and lets their events follow each other: all are sent, then all are received. Side by
/// side are neighbours in `input`, as they were at the start, and in `output`, of chunks that are
/// wanted; what passes through scratch, or is combined by some and not by others, has a step of its
/// own. `program`: with inputs and outputs; `units`: [chunk], of all that move with it.
/// Cost: O(messages * log chunks).
void share_steps(const Program& program, const Schedule& schedule, const MessageValues& values,
                 std::span<const std::uint32_t> units, ScheduleMessages& messages);

} // namespace tutti::runtime
