#include "runtime/message_values.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <cassert>
#include <utility>

namespace tutti::runtime {

namespace {

constexpr std::uint32_t own_input = no_message, nothing_held = no_message - 1;

class ValueWalk {
public:
  ValueWalk(const Topology& topology, const Program& program, const ScheduleMessages& messages)
      : topology_(topology), program_(program), messages_(messages),
        maker_(program.chunk_units.size(), nothing_held) {
    const std::size_t count = messages.messages.size();
    values_.made_by.assign(count, no_message);
    values_.reads.assign(count, 0);
    values_.kept.assign(count, 0);
    values_.combines.assign(count, 0);
  }

  void walk(std::uint32_t rank) {
    for (const ChunkPlace& held : program_.inputs[rank]) maker_[held.chunk.value] = own_input;
    for (const MessageEvent& event : messages_.events_of(rank))
      event.receipt ? receive(event.message) : send(event.message);
    for (const ChunkPlace& wanted : program_.outputs[rank])
      if (const std::uint32_t maker = maker_[wanted.chunk.value]; maker < nothing_held)
        values_.kept[maker] = 1;
    for (const ChunkPlace& held : program_.inputs[rank]) maker_[held.chunk.value] = nothing_held;
    for (const MessageEvent& event : messages_.events_of(rank))
      maker_[messages_.messages[event.message].chunk] = nothing_held;
  }

  MessageValues result() { return std::move(values_); }

private:
  void send(std::uint32_t m) {
    const Message& message = messages_.messages[m];
    std::uint32_t& maker = maker_[message.chunk];
    assert(maker != nothing_held);
    if (maker != own_input) {
      check_unchanged(message, maker);
      ++values_.reads[maker];
    }
    values_.made_by[m] = maker;
    if (!topology_.node(NodeId{message.from}).can.copy) maker = nothing_held;
  }

  void check_unchanged(const Message& message, std::uint32_t maker) const {
    if (messages_.messages[maker].received < message.left) return;
    throw InputError(fmt::format(
        "transfer {}: chunk {} is passed on from {}, where transfer {} has changed it since",
        message.transfer, message.chunk, topology_.node(NodeId{message.from}).name,
        messages_.messages[maker].transfer));
  }

  void receive(std::uint32_t m) {
    std::uint32_t& maker = maker_[messages_.messages[m].chunk];
    values_.combines[m] = messages_.messages[m].reduce && maker != nothing_held;
    if (values_.combines[m] != 0 && maker != own_input) ++values_.reads[maker];
    maker = m;
  }

  const Topology& topology_;
  const Program& program_;
  const ScheduleMessages& messages_;
  std::vector<std::uint32_t> maker_; // [chunk]: of the value that the rank has
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
