// Which connection each message takes, and which two connections of a rank are one block's.
#pragma once

#include "runtime/lowering/message_levels.hpp"
#include "runtime/lowering/message_values.hpp"
#include "runtime/lowering/schedule_messages.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::runtime {

inline constexpr std::uint32_t no_connection = UINT32_MAX;

/// A connection: from a rank to another on a channel. Its messages are received in the order in
/// which they are sent.
struct MessageConnection {
  std::uint32_t from = 0, to = 0, channel = 0;
  std::uint32_t route = 0; ///< the first of its messages'
};

struct MessageConnections {
  std::vector<MessageConnection> all;
  std::vector<std::uint32_t> of_message; ///< [message]
  /// [connection]: the connection that shares a block with it, at the rank that receives from it
  /// (sends to it).
  std::vector<std::uint32_t> shared_at_end, shared_at_start;
  std::vector<std::uint32_t>
      previous;         ///< [message]: the one before it on its connection; no_message
  MessageLevels levels; ///< by these connections
};

struct ConnectionOptions {
  std::uint32_t most = 1; ///< between two ranks, >= 1
  bool share = true;      ///< blocks receive and send
};

/// A connection for each route, or where there are more than `most` routes between two ranks, for
/// several. Connections share a block where most of what comes by one can go on by the other at
/// once, then where they go back and forth between two ranks. Connections that share have one
/// channel; other than that channels are as low as possible. Cost: O(messages * log).
[[nodiscard]] MessageConnections connections_of(const ScheduleMessages& messages,
                                                const MessageValues& values,
                                                const ConnectionOptions& options);

} // namespace tutti::runtime
