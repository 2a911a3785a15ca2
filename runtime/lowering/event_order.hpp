// The order in which blocks perform what they do, and which messages go on in the step that
// receives them.
#pragma once

#include "runtime/lowering/connections.hpp"
#include "runtime/lowering/message_values.hpp"
#include "runtime/lowering/schedule_messages.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

/// [message]: which message is sent on in the step that receives it (is received in the step that
/// sends it); no_message: it has a step of its own.
struct MessageFusions {
  std::vector<std::uint32_t> sends_on, sent_on_from;
};

/// Puts the events in order of their levels: as early as they can be. A message is sent on in the
/// step that receives it where the two connections share a block and the message before on the
/// outgoing connection is received earlier in this order, as is all that it waits for: the step
/// stands where its receipt stood,
/// and every wait stays directed from earlier to later. Events of a level are in the order that
/// allows most of this: sends, then each receipt after the one that it needs, which only goes round
/// in a cycle where a ring does. Cost: O(messages).
[[nodiscard]] MessageFusions order_events(ScheduleMessages& messages, const MessageValues& values,
                                          const MessageConnections& connections, bool fuse);

} // namespace tutti::runtime
