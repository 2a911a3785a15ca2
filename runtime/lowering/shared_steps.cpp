// Why events may be moved: the messages of a send stand one after another in the list of events,
// each sent and received, and none depends on another, since their chunks differ.

#include "runtime/lowering/shared_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace tutti::runtime {

namespace {

class StepSharing {
public:
  StepSharing(const Program& program, const MessageValues& values,
              std::span<const std::uint32_t> units, const ScheduleMessages& messages)
      : program_(program), values_(values), units_(units), messages_(messages.messages) {}

  /// Whether the second message can go in the step of the one before, of the same send.
  [[nodiscard]] bool share(std::uint32_t before, std::uint32_t m) const {
    if (values_.combines[before] != values_.combines[m]) return false;
    if (!meet(sent_from(before), sent_from(m), before)) return false;
    if (!meet(output(messages_[before].to, before), output(messages_[m].to, m), before))
      return false;
    return values_.combines[m] == 0 || meet(added_to(before), added_to(m), before);
  }

private:
  [[nodiscard]] bool meet(const std::optional<Place>& first, const std::optional<Place>& next,
                          std::uint32_t m) const {
    return first && next && first->buffer == next->buffer &&
           next->unit == first->unit + units_[messages_[m].chunk];
  }
  [[nodiscard]] std::optional<Place> sent_from(std::uint32_t m) const {
    const std::uint32_t rank = messages_[m].from;
    return values_.made_by(m) == no_message ? input(rank, m) : output(rank, m);
  }
  /// What the receiver has.
  [[nodiscard]] std::optional<Place> added_to(std::uint32_t m) const {
    const bool is_input = values_.replaced[m] >= messages_.size();
    return is_input ? input(messages_[m].to, m) : output(messages_[m].to, m);
  }
  [[nodiscard]] std::optional<Place> input(std::uint32_t rank, std::uint32_t m) const {
    return place(program_.inputs[rank], Buffer::input, m);
  }
  [[nodiscard]] std::optional<Place> output(std::uint32_t rank, std::uint32_t m) const {
    return place(program_.outputs[rank], Buffer::output, m);
  }
  [[nodiscard]] std::optional<Place> place(const std::vector<ChunkPlace>& places, Buffer buffer,
                                           std::uint32_t m) const {
    const ChunkId chunk{messages_[m].chunk};
    const auto found = std::ranges::lower_bound(places, chunk, {}, &ChunkPlace::chunk);
    if (found == places.end() || found->chunk != chunk) return std::nullopt;
    return Place{buffer, found->unit};
  }

  const Program& program_;
  const MessageValues& values_;
  std::span<const std::uint32_t> units_;
  const std::vector<ScheduleMessage>& messages_;
};

/// [transfer]: the first of its send.
std::vector<std::size_t> sends_of(const Schedule& schedule) {
  std::vector<std::size_t> sends(schedule.size());
  for (std::size_t i = 0; i < schedule.size(); ++i)
    sends[i] = schedule[i].contiguous ? sends[i - 1] : i;
  return sends;
}

} // namespace

void share_steps(const Program& program, const Schedule& schedule, const MessageValues& values,
                 std::span<const std::uint32_t> units, ScheduleMessages& messages) {
  const StepSharing sharing(program, values, units, messages);
  const std::vector<std::size_t> sends = sends_of(schedule);
  const auto count = static_cast<std::uint32_t>(messages.messages.size());
  std::vector<std::uint32_t> first(count);
  bool any = false;
  for (std::uint32_t m = 0; m < count; ++m) {
    const ScheduleMessage& message = messages.messages[m];
    const bool shares = m > 0 && message.route < schedule.paths().size() &&
                        sends[message.transfer] == sends[messages.messages[m - 1].transfer] &&
                        sharing.share(m - 1, m);
    first[m] = shares ? first[m - 1] : m;
    any = any || shares;
  }
  if (!any) return;
  std::vector<MessageEvent> order;
  order.reserve(messages.events.size());
  for (std::size_t at = 0, end = 0; at < messages.events.size(); at = end) {
    end = at + 1;
    while (end < messages.events.size() &&
           first[messages.events[end].message] == first[messages.events[at].message])
      ++end;
    for (const bool receipt : {false, true})
      for (std::size_t e = at; e < end; ++e)
        if (messages.events[e].receipt == receipt) order.push_back(messages.events[e]);
  }
  messages.reorder(std::move(order));
  messages.first_in_step = std::move(first);
}

} // namespace tutti::runtime
