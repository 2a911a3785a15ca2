// What each rank does: where the values lie that it receives, and its steps.
#pragma once

#include "runtime/lowering/chunk_rolls.hpp"
#include "runtime/lowering/connections.hpp"
#include "runtime/lowering/message_values.hpp"
#include "runtime/lowering/schedule_messages.hpp"
#include "runtime/program.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

/// [message]: which message is sent on in the step that receives it (is received in the step that
/// sends it); no_message: it has a step of its own.
struct MessageFusions {
  std::vector<std::uint32_t> sends_on, sent_on_from;
};

struct LoweredSchedule {
  ChunkRolls rolls; ///< only chunks that lead have messages
  ScheduleMessages messages;
  MessageValues values;
  MessageConnections connections;
  MessageFusions fusions;
};

/// [chunk]: units of all that move with it; 0 where it moves with another.
[[nodiscard]] std::vector<std::uint32_t> units_moved(const Program& program,
                                                     const ChunkRolls& rolls);

/// Adds blocks and scratch to a program that has none, for the first of `instances`: its units of
/// each chunk, its part of the scratch. A chunk lies in `input` while it is as it was at the start;
/// from the first receipt on in `output` where it is wanted, else in scratch. Scratch is used again
/// when its value has been read for the last time; what is free longest comes first, so that
/// nothing waits long for it.
/// Cost: O(messages * blocks of their rank).
void add_steps(Program& program, const LoweredSchedule& lowered, std::uint32_t instances);

/// Adds to each rank, for each instance, a block that copies its part of what the rank holds and
/// wants but never receives. Pre: add_steps(), and its blocks repeated for all instances.
void add_local_copies(Program& program, const LoweredSchedule& lowered, std::uint32_t instances);

} // namespace tutti::runtime
