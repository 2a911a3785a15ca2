// Events in one order, what becomes of each value, connections and blocks, then each rank's steps.
//
// Why no program waits for ever: every step stands at one place of the order of events, and
// whatever it waits for stands before it: steps before it in its block, those that it depends on,
// the sending of what it receives, and the receipt of its connection's message before the one that
// it sends.
//
// The order of events is made here. First which messages one step sends and one step receives:
// chunks that share a send and lie side by side at both ranks. Their events may be moved, since the
// messages of a send stand one after another in the list of events, each sent and received, and
// none depends on another, as their chunks differ. Then a counting sort by level; within a level a
// receipt comes after those of its level that must be earlier for each to send on in its own step
// (add_receipts).

#include "runtime/lowering/lowering.hpp"

#include "runtime/lowering/chunk_rolls.hpp"
#include "runtime/lowering/rank_steps.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
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

/// Finds them and lets their events follow each other: all are sent, then all are received. Side by
/// side are neighbours in `input`, as they were at the start, and in `output`, of chunks that are
/// wanted; what passes through scratch, or is combined by some and not by others, has a step of its
/// own. `program`: with inputs and outputs; `units`: [chunk], of all that move with it.
/// Cost: O(messages * log chunks).
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

class EventSorter {
public:
  EventSorter(const ScheduleMessages& messages, const MessageValues& values,
              const MessageConnections& connections)
      : messages_(messages), values_(values), connections_(connections),
        levels_(connections.levels) {}

  /// [message]: the first that could be sent on in the step that receives it.
  [[nodiscard]] std::vector<std::uint32_t> pass_ons() const {
    std::vector<std::uint32_t> sends_on(messages_.messages.size(), no_message);
    for (std::uint32_t m = 0; m < messages_.messages.size(); ++m) {
      const std::uint32_t maker = values_.made_by(m);
      if (maker != no_message && sends_on[maker] == no_message &&
          connections_.shared_at_end[connections_.of_message[maker]] == connections_.of_message[m])
        sends_on[maker] = m;
    }
    return sends_on;
  }

  std::vector<MessageEvent> sorted(const std::vector<std::uint32_t>& sends_on) {
    std::vector<MessageEvent> order = by_level();
    std::vector<std::uint8_t> visited(messages_.messages.size());
    std::vector<MessageEvent> result;
    result.reserve(order.size());
    for (const MessageEvent& event : order) {
      if (event.receipt)
        add_receipts(event.message, sends_on, visited, result);
      else
        result.push_back(event);
    }
    return result;
  }

private:
  [[nodiscard]] std::uint32_t level(const MessageEvent& event) const {
    return event.receipt ? levels_.received[event.message] : levels_.sent[event.message];
  }

  /// Counting sort; of a level sends first, else as they were.
  [[nodiscard]] std::vector<MessageEvent> by_level() const {
    const auto key = [&](const MessageEvent& event) {
      return 2 * std::size_t{level(event)} + (event.receipt ? 1 : 0);
    };
    std::vector<std::uint32_t> next;
    for (const MessageEvent& event : messages_.events) {
      if (key(event) + 1 >= next.size()) next.resize(key(event) + 2);
      ++next[key(event) + 1];
    }
    for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
    std::vector<MessageEvent> order(messages_.events.size());
    for (const MessageEvent& event : messages_.events) order[next[key(event)]++] = event;
    return order;
  }

  /// First those of its level that must be earlier for each to send on, from the last of them.
  void add_receipts(std::uint32_t first, const std::vector<std::uint32_t>& sends_on,
                    std::vector<std::uint8_t>& visited, std::vector<MessageEvent>& result) {
    chain_.clear();
    for (std::uint32_t m = first; m != no_message && visited[m] == 0;) {
      visited[m] = 1;
      chain_.push_back(m);
      const std::uint32_t on = sends_on[m];
      const std::uint32_t needed = on == no_message ? no_message : connections_.previous[on];
      const bool here = needed != no_message && levels_.received[needed] == levels_.received[m];
      m = here ? needed : no_message;
    }
    for (std::size_t c = chain_.size(); c-- > 0;) result.push_back({chain_[c], true});
  }

  const ScheduleMessages& messages_;
  const MessageValues& values_;
  const MessageConnections& connections_;
  const MessageLevels& levels_;
  std::vector<std::uint32_t> chain_;
};

/// Drops from `sends_on` the fusions that the order of the events doesn't allow.
MessageFusions allowed_fusions(const ScheduleMessages& messages,
                               const MessageConnections& connections,
                               std::vector<std::uint32_t> sends_on) {
  MessageFusions fusions{std::move(sends_on), {}};
  fusions.sent_on_from.assign(messages.messages.size(), no_message);
  for (std::uint32_t maker = 0; maker < messages.messages.size(); ++maker) {
    std::uint32_t& on = fusions.sends_on[maker];
    if (on == no_message) continue;
    const std::uint32_t before = connections.previous[on];
    const std::uint32_t here = messages.messages[maker].received;
    const bool is_late = std::ranges::any_of(messages.waits_of(on), [&](const MessageWait& wait) {
      return messages.position(wait.awaited) >= here;
    });
    if (is_late || (before != no_message && messages.messages[before].received > here))
      on = no_message;
    else
      fusions.sent_on_from[on] = maker;
  }
  return fusions;
}

/// Puts the events in order of their levels: as early as they can be. A message is sent on in the
/// step that receives it where the two connections share a block and the message before on the
/// outgoing connection is received earlier in this order, as is all that it waits for: the step
/// stands where its receipt stood, and every wait stays directed from earlier to later. Events of a
/// level are in the order that allows most of this: sends, then each receipt after the one that it
/// needs, which only goes round in a cycle where a ring does. Cost: O(messages).
MessageFusions order_events(ScheduleMessages& messages, const MessageValues& values,
                            const MessageConnections& connections, bool fuse) {
  EventSorter sorter(messages, values, connections);
  std::vector<std::uint32_t> sends_on(messages.messages.size(), no_message);
  if (fuse) sends_on = sorter.pass_ons();
  messages.reorder(sorter.sorted(sends_on));
  return allowed_fusions(messages, connections, std::move(sends_on));
}

/// The blocks of the first instance, for another one.
Block for_instance(Block block, std::uint32_t instance, std::uint32_t scratch,
                   std::uint32_t blocks) {
  const auto shift = [&](Place& place, std::uint32_t count) {
    place.unit += instance * (place.buffer == Buffer::scratch ? scratch : count);
  };
  block.channel += instance;
  for (Step& step : block.steps) {
    if (reads_source(step.kind)) shift(step.source, step.count);
    if (writes_target(step.kind)) shift(step.target, step.count);
    if (step.after) step.after->block += instance * blocks;
  }
  return block;
}

void repeat_blocks(RankProgram& rank, std::uint32_t instances) {
  const auto blocks = static_cast<std::uint32_t>(rank.blocks.size());
  for (Block& block : rank.blocks) block.channel *= instances;
  rank.blocks.reserve(std::size_t{blocks} * instances);
  for (std::uint32_t instance = 1; instance < instances; ++instance)
    for (std::uint32_t b = 0; b < blocks; ++b)
      rank.blocks.push_back(for_instance(rank.blocks[b], instance, rank.scratch, blocks));
  rank.scratch *= instances;
}

void check_members(const Topology& topology, const Collective& collective) {
  for (const auto& set : collective.sets)
    for (const NodeId node : set)
      if (node.value >= topology.npu_count())
        throw InputError(fmt::format("{} holds or wants a chunk, but only NPUs have programs",
                                     topology.node(node).name));
}

void add_paths(Program& program, const LoweredSchedule& lowered, const PathTable& paths,
               std::uint32_t instances) {
  for (const MessageConnection& connection : lowered.connections.all)
    for (std::uint32_t i = 0; i < instances; ++i)
      program.paths.push_back({connection.from, connection.to, connection.channel * instances + i,
                               lowered.messages.links_of(connection.route, paths)});
  std::ranges::sort(program.paths, {}, [](const ConnectionPath& path) {
    return std::tuple(path.from, path.to, path.channel);
  });
}

} // namespace

std::uint32_t longest_roll(const Collective& collective, const Schedule& schedule) {
  return chunk_rolls(collective, schedule, 1).longest;
}

Program lower(const Topology& topology, const Collective& collective, const Schedule& schedule,
              const LoweringOptions& options) {
  check_members(topology, collective);
  Program program =
      empty_program(collective, topology.npu_count(), options.instances, options.in_place);
  program.name = options.name;
  LoweredSchedule lowered;
  lowered.rolls = chunk_rolls(collective, schedule, options.rolled_chunks);
  const std::optional<Schedule> rolled =
      options.rolled_chunks == 1 ? std::nullopt
                                 : std::optional(transfers_of_leaders(schedule, lowered.rolls));
  const Schedule& moves = rolled ? *rolled : schedule;
  lowered.messages = messages_of(topology, moves);
  lowered.values = values_of(topology, program, lowered.messages);
  // A part of one chunk doesn't lie beside the same part of the next one.
  if (moves.has_contiguous() && options.instances == 1)
    share_steps(program, moves, lowered.values, units_moved(program, lowered.rolls),
                lowered.messages);
  const std::uint32_t most = std::max(1U, options.most_channels / options.instances);
  lowered.connections =
      connections_of(lowered.messages, lowered.values, {most, options.share_blocks});
  const bool fuse = options.fuse && lowered.messages.first_in_step.empty();
  lowered.fusions = order_events(lowered.messages, lowered.values, lowered.connections, fuse);
  add_steps(program, lowered, options.instances);
  for (RankProgram& rank : program.ranks) repeat_blocks(rank, options.instances);
  add_local_copies(program, lowered, options.instances);
  add_paths(program, lowered, schedule.paths(), options.instances);
  return program;
}

} // namespace tutti::runtime
