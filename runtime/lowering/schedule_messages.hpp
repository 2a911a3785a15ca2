// The messages between ranks that a schedule's transfers are, in one order of all that happens.
#pragma once

#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti::runtime {

struct ScheduleMessage {
  std::uint32_t chunk = 0;
  std::uint32_t from = 0, to = 0; ///< ranks
  /// What it crosses: a path of the schedule, or several through nodes that aren't NPUs. Decides
  /// `from` and `to`.
  std::uint32_t route = 0;
  std::uint32_t transfer = 0; ///< the one that brings it to `to`
  std::uint32_t first = 0;    ///< the one that takes it from `from`
  /// Positions in the order of events. `left`: events before it that the value may come from; less
  /// than `sent` where another node had it in between.
  std::uint32_t left = 0, sent = 0, received = 0;
  bool reduce = false; ///< as listed; into a rank that holds nothing of the chunk it is a copy
};

/// A message is sent or received.
struct MessageEvent {
  std::uint32_t message = 0;
  bool receipt = false;
};

/// A message is sent only after an event of its sender's, as a dependency of the schedule says.
struct MessageWait {
  std::uint32_t message = 0;
  MessageEvent awaited;
};

/// All messages, and an order of all events that keeps the schedule's meaning: by list; of
/// transfers performed together, first all sends of a chunk, then its receipts, chunk by chunk; of
/// those that share a send, by chunk.
/// Every message is received before the next one of its route is sent, so that one slot is
/// enough for blocks that keep this order.
struct ScheduleMessages {
  std::vector<ScheduleMessage> messages;
  std::vector<MessageEvent> events; ///< [position]
  std::vector<MessageWait> waits;   ///< ascending by message
  std::uint32_t routes = 0;         ///< first the schedule's paths
  /// [route - paths]: a route, and the path that continues it at a node that isn't an NPU.
  std::vector<std::pair<std::uint32_t, PathId>> joined_routes;
  /// [message]: the first of those that one step sends and one receives; empty: each is alone.
  std::vector<std::uint32_t> first_in_step;
  std::vector<std::uint32_t> rank_begin; ///< [rank], and the end
  std::vector<MessageEvent> rank_events; ///< of each rank, by position
  [[nodiscard]] std::span<const MessageEvent> events_of(std::uint32_t rank) const {
    return std::span(rank_events)
        .subspan(rank_begin[rank], rank_begin[rank + 1] - rank_begin[rank]);
  }
  [[nodiscard]] std::span<const MessageWait> waits_of(std::uint32_t message) const {
    const auto first = std::ranges::lower_bound(waits, message, {}, &MessageWait::message);
    const auto last = std::ranges::upper_bound(waits, message, {}, &MessageWait::message);
    return {first, last};
  }
  /// One past the last message of the step of message m, its first.
  [[nodiscard]] std::uint32_t step_end(std::uint32_t m) const {
    std::uint32_t end = m + 1;
    while (end < first_in_step.size() && first_in_step[end] == m) ++end;
    return end;
  }
  [[nodiscard]] bool is_first_in_step(std::uint32_t m) const {
    return first_in_step.empty() || first_in_step[m] == m;
  }
  [[nodiscard]] std::uint32_t position(const MessageEvent& event) const {
    return event.receipt ? messages[event.message].received : messages[event.message].sent;
  }
  /// All events, in this order from now on.
  void reorder(std::vector<MessageEvent> order);
  [[nodiscard]] std::vector<LinkId> links_of(std::uint32_t route, const PathTable& paths) const;
};

/// Dependencies become waits where they name what is in the list of events by then: what a switch
/// passes on counts when it has reached its rank.
/// Pre: the schedule passes `verify`. Errors: InputError where a node other than an NPU reduces or
/// waits, or a transfer waits for another that its sender knows nothing of: one that it neither
/// sent nor received, or that has arrived elsewhere.
/// Cost: O(transfers), of those that are together times log.
[[nodiscard]] ScheduleMessages messages_of(const Topology& topology, const Schedule& schedule);

/// Why no program does what the schedule does, in its time: what a switch or a host memory
/// combines, copies or keeps, which lower() has its rank send anew, or what messages_of() refuses.
/// Empty: one may, if a runtime is large enough for it. Cost: O(transfers); that of messages_of()
/// where transfers have dependencies.
[[nodiscard]] std::string lowering_refusal(const Topology& topology, const Schedule& schedule);

} // namespace tutti::runtime
