// Rank by rank, one walk over its events keeps the value that the rank has of each chunk.

#include "runtime/lowering/message_values.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <cassert>
#include <utility>

namespace tutti::runtime {

namespace {

class ValueWalk {
public:
  ValueWalk(const Topology& topology, const Program& program, const ScheduleMessages& messages)
      : topology_(topology), program_(program), messages_(messages),
        count_(static_cast<std::uint32_t>(messages.messages.size())),
        state_(program.chunk_units.size()) {
    values_.sent.assign(count_, no_message);
    values_.replaced.assign(count_, no_message);
    values_.reads.assign(count_, 0);
    values_.kept.assign(count_, 0);
    values_.combines.assign(count_, 0);
    values_.count = count_;
  }

  void walk(std::uint32_t rank) {
    for (const ChunkPlace& held : program_.inputs[rank])
      state_[held.chunk.value] = {values_.count++, true};
    for (const MessageEvent& event : messages_.events_of(rank))
      event.receipt ? receive(event.message) : send(event.message);
    for (const ChunkPlace& wanted : program_.outputs[rank])
      if (const ChunkValue& last = state_[wanted.chunk.value]; last.value < count_)
        values_.kept[last.value] = 1;
    for (const ChunkPlace& held : program_.inputs[rank]) state_[held.chunk.value] = {};
    for (const MessageEvent& event : messages_.events_of(rank))
      state_[messages_.messages[event.message].chunk] = {};
  }

  MessageValues result() { return std::move(values_); }

private:
  /// The last value that the rank had, and whether it has it still: a node that can't copy doesn't
  /// when it has sent it.
  struct ChunkValue {
    std::uint32_t value = no_message;
    bool there = false;
  };

  void send(std::uint32_t m) {
    const ScheduleMessage& message = messages_.messages[m];
    ChunkValue& chunk = state_[message.chunk];
    assert(chunk.there);
    if (chunk.value < count_) {
      check_unchanged(message, chunk.value);
      ++values_.reads[chunk.value];
    }
    values_.sent[m] = chunk.value;
    chunk.there = topology_.node(NodeId{message.from}).can.copy;
  }

  void check_unchanged(const ScheduleMessage& message, std::uint32_t maker) const {
    if (messages_.messages[maker].received < message.left) return;
    throw InputError(fmt::format(
        "transfer {}: chunk {} is passed on from {}, where transfer {} has changed it since",
        message.transfer, message.chunk, topology_.node(NodeId{message.from}).name,
        messages_.messages[maker].transfer));
  }

  void receive(std::uint32_t m) {
    ChunkValue& chunk = state_[messages_.messages[m].chunk];
    values_.replaced[m] = chunk.value;
    values_.combines[m] = messages_.messages[m].reduce && chunk.there;
    if (values_.combines[m] != 0 && chunk.value < count_) ++values_.reads[chunk.value];
    chunk = {m, true};
  }

  const Topology& topology_;
  const Program& program_;
  const ScheduleMessages& messages_;
  std::uint32_t count_;
  std::vector<ChunkValue> state_; // [chunk], of the rank
  MessageValues values_;
};

} // namespace

MessageValues values_of(const Topology& topology, const Program& program,
                        const ScheduleMessages& messages) {
  ValueWalk walk(topology, program, messages);
  for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) walk.walk(rank);
  return walk.result();
}

} // namespace tutti::runtime
