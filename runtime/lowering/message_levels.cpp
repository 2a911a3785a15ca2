// A forward walk over the events in list order; each level is one more than the latest of what must
// precede.

#include "runtime/lowering/message_levels.hpp"

#include <algorithm>

namespace tutti::runtime {

MessageLevels levels_of(const ScheduleMessages& messages, const MessageValues& values,
                        const std::vector<std::uint32_t>& previous) {
  const std::size_t count = messages.messages.size();
  MessageLevels levels{std::vector<std::uint32_t>(count), std::vector<std::uint32_t>(count)};
  std::vector<std::uint32_t> touched(values.count); // [value]: made or read at this level, last
  for (std::size_t at = 0, end = 0; at < messages.events.size(); at = end) {
    const bool receipt = messages.events[at].receipt;
    std::uint32_t level = 0;
    for (; end < messages.events.size() &&
           (end == at || (messages.events[end].receipt == receipt &&
                          !messages.is_first_in_step(messages.events[end].message)));
         ++end) {
      const std::uint32_t m = messages.events[end].message;
      if (receipt) {
        level = std::max(level, levels.sent[m]);
        if (const std::uint32_t replaced = values.replaced[m]; replaced != no_message)
          level = std::max(level, touched[replaced]);
      } else {
        if (const std::uint32_t maker = values.made_by(m); maker != no_message)
          level = std::max(level, levels.received[maker]);
        if (previous[m] != no_message) level = std::max(level, levels.received[previous[m]]);
        for (const MessageWait& wait : messages.waits_of(m))
          level = std::max(level, wait.awaited.receipt ? levels.received[wait.awaited.message]
                                                       : levels.sent[wait.awaited.message]);
      }
    }
    ++level;
    for (; at < end; ++at) {
      const std::uint32_t m = messages.events[at].message;
      if (receipt) {
        levels.received[m] = touched[m] = level;
      } else {
        levels.sent[m] = level;
        std::uint32_t& read = touched[values.sent[m]];
        read = std::max(read, level);
      }
    }
  }
  return levels;
}

} // namespace tutti::runtime
