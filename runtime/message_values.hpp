// What becomes of each message's value at the rank that it reaches.
#pragma once

#include "runtime/program.hpp"
#include "runtime/schedule_messages.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

inline constexpr std::uint32_t no_message = UINT32_MAX;

struct MessageValues {
  /// [message]: the receipt that made the value which it sends; no_message: the rank's input.
  std::vector<std::uint32_t> made_by;
  std::vector<std::uint32_t> reads;   ///< [message]: how often what it made is sent or added to
  std::vector<std::uint8_t> kept;     ///< [message]: what it made is wanted at the end
  std::vector<std::uint8_t> combines; ///< [message]: it is added to what is there
};

/// `program`: with inputs and outputs. Errors: InputError where a value that a node other than an
/// NPU passes on is no longer at the rank that it came from. Cost: O(messages + chunks + places).
[[nodiscard]] MessageValues values_of(const Topology& topology, const Program& program,
                                      const ScheduleMessages& messages);

} // namespace tutti::runtime
