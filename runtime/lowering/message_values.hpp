// What becomes of each message's value at the rank that it reaches.
#pragma once

#include "runtime/lowering/schedule_messages.hpp"
#include "runtime/program.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

inline constexpr std::uint32_t no_message = UINT32_MAX;

/// A value is what a receipt makes at a rank (its id is the message's), or what a rank holds of a
/// chunk at the start (ids from the number of messages on).
struct MessageValues {
  std::vector<std::uint32_t> sent;     ///< [message]: the value that it brings
  std::vector<std::uint32_t> replaced; ///< [message]: the one that was there before; no_message
  std::vector<std::uint32_t> reads;    ///< [message]: how often what it made is sent or added to
  std::vector<std::uint8_t> kept;      ///< [message]: what it made is wanted at the end
  std::vector<std::uint8_t> combines;  ///< [message]: it is added to what is there
  std::uint32_t count = 0;             ///< of values

  /// The receipt that made what the message brings; no_message: the sender held it at the start.
  [[nodiscard]] std::uint32_t made_by(std::uint32_t message) const {
    return sent[message] < sent.size() ? sent[message] : no_message;
  }
};

/// `program`: with inputs and outputs. Errors: InputError where a value that a node other than an
/// NPU passes on is no longer at the rank that it came from. Cost: O(messages + chunks + places).
[[nodiscard]] MessageValues values_of(const Topology& topology, const Program& program,
                                      const ScheduleMessages& messages);

} // namespace tutti::runtime
