// Which connection each message takes, and which two connections of a rank are one block's.
#pragma once

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

/// How early messages can be sent and received at best: [message], 1 + the latest level of what
/// must be before.
struct MessageLevels {
  std::vector<std::uint32_t> sent, received;
};

struct MessageConnections {
  std::vector<MessageConnection> all;
  std::vector<std::uint32_t> of_message; ///< [message]
  /// [connection]: the connection that shares a block with it, at the rank that receives from it
  /// (sends to it).
  std::vector<std::uint32_t> shared_at_end, shared_at_start;
  /// [message]: the one before it on its connection; no_message.
  std::vector<std::uint32_t> previous;
  MessageLevels levels; ///< by these connections
};

struct ConnectionOptions {
  std::uint32_t most = 1; ///< between two ranks, >= 1
  bool share = true;      ///< blocks receive and send
};

/// One connection per route; where there are more than `most` routes between two ranks, several
/// routes share a connection. First, an incoming and an outgoing connection share a block where
/// most of what arrives on the one can be sent on by the other at once; then the two directions
/// between a pair of ranks do. Connections that share a block have the same channel; apart from
/// that each takes the lowest channel that is free. Cost: O(messages * log).
[[nodiscard]] MessageConnections connections_of(const ScheduleMessages& messages,
                                                const MessageValues& values,
                                                const ConnectionOptions& options);

} // namespace tutti::runtime
