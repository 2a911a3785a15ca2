// How early messages can be sent and received at best, counted in events.
#pragma once

#include "runtime/lowering/message_values.hpp"
#include "runtime/lowering/schedule_messages.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

/// [message]: 1 + the latest level of what must be before.
struct MessageLevels {
  std::vector<std::uint32_t> sent, received;
};

/// Before a message is sent: the receipt of its value, and of the message before it on its
/// connection (so that one slot is enough), and what it waits for. Before it is received: its
/// sending, and all that makes or reads the value that it replaces. `previous`: [message], the one
/// before it on its connection or no_message. The list's order keeps all of this, but says more: of
/// a ring's steps it has one rank wait for the other. Messages of one step have the levels of the
/// last of them. Cost: O(messages).
[[nodiscard]] MessageLevels levels_of(const ScheduleMessages& messages, const MessageValues& values,
                                      const std::vector<std::uint32_t>& previous);

} // namespace tutti::runtime
