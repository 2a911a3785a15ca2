// One pass over a rank's events keeps for each chunk where its value lies (input, output or
// scratch) and how often it will still be read, so that scratch is reused after the last read.
// Reuse at once would make receipts wait which the schedule has earlier.
//
// MSCCL's runtime gives a block one peer to send to and one to receive from, on one channel: a rank
// has a block for each connection that starts or ends there, or for two that share one, as was
// decided in connections.cpp.

#include "runtime/lowering/rank_steps.hpp"

#include "runtime/lowering/step_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti::runtime {

namespace {

struct ConnectionBlocks {
  std::vector<std::vector<Block>> of_rank;     ///< by the first message of each in the list
  std::vector<std::uint32_t> at_start, at_end; ///< [connection]: the block that sends, receives
};

/// The connections that a block serves at a rank; one of them may be no_connection.
struct ServedConnections {
  std::uint32_t rank = 0, channel = 0;
  std::optional<std::uint32_t> to, from; // peers
  std::uint32_t out = no_connection, in = no_connection;
  std::uint32_t first = no_message; ///< of all messages that it sends or receives
};

std::vector<ServedConnections> served_connections(const MessageConnections& connections) {
  std::vector<ServedConnections> all;
  for (std::uint32_t c = 0; c < connections.all.size(); ++c) {
    const MessageConnection& connection = connections.all[c];
    ServedConnections sender{connection.from,
                             connection.channel,
                             connection.to,
                             std::nullopt,
                             c,
                             connections.shared_at_start[c]};
    if (sender.in != no_connection) sender.from = connections.all[sender.in].from;
    all.push_back(sender);
    if (connections.shared_at_end[c] == no_connection)
      all.push_back(
          {connection.to, connection.channel, std::nullopt, connection.from, no_connection, c});
  }
  std::vector<std::uint32_t> first(connections.all.size(), no_message);
  for (std::uint32_t m = 0; m < connections.of_message.size(); ++m)
    first[connections.of_message[m]] = std::min(first[connections.of_message[m]], m);
  for (ServedConnections& served : all)
    for (const std::uint32_t connection : {served.out, served.in})
      if (connection != no_connection) served.first = std::min(served.first, first[connection]);
  std::ranges::sort(all, {}, [](const ServedConnections& b) {
    return std::tuple(b.rank, b.first, b.channel, b.to, b.from);
  });
  return all;
}

/// Blocks without steps. Cost: O(connections log connections).
ConnectionBlocks blocks_for(const MessageConnections& connections, std::uint32_t ranks) {
  ConnectionBlocks blocks;
  blocks.of_rank.resize(ranks);
  blocks.at_start.resize(connections.all.size());
  blocks.at_end.resize(connections.all.size());
  for (const ServedConnections& served : served_connections(connections)) {
    std::vector<Block>& of_rank = blocks.of_rank[served.rank];
    const auto index = static_cast<std::uint32_t>(of_rank.size());
    of_rank.push_back({served.to, served.from, served.channel, {}});
    if (served.out != no_connection) blocks.at_start[served.out] = index;
    if (served.in != no_connection) blocks.at_end[served.in] = index;
  }
  return blocks;
}

/// A place, and the cell that stands for it in the order of steps; no_cell: there is none.
struct ValuePlace {
  Place place;
  std::uint32_t cell = no_cell;
};

/// One chunk at one rank: where its value is, and where it is wanted.
struct ChunkState {
  ValuePlace now, output;
};

/// A region of scratch: the n-th that was made, and its first unit.
struct ScratchRegion {
  std::uint32_t index = 0, unit = 0;
};

/// Scratch memory in regions of the requested sizes, used again when given back.
class ScratchRegions {
public:
  /// A free region of this size that needn't be waited for; else a new one or, where that would
  /// make more than `most` units, the one that is free longest.
  template <typename IsOver>
  ScratchRegion take(std::uint32_t units, std::uint32_t most, const IsOver& is_over) {
    std::deque<ScratchRegion>& free = free_[units];
    const auto end = free.begin() + static_cast<std::ptrdiff_t>(std::min(free.size(), most_tried));
    auto again = std::find_if(free.begin(), end,
                              [&](const ScratchRegion& region) { return is_over(region.index); });
    if (again == end && !free.empty() && size_ + units > most)
      again = free.begin();
    else if (again == end) {
      const ScratchRegion fresh{made_++, size_};
      size_ += units;
      return fresh;
    }
    const ScratchRegion region = *again;
    free.erase(again);
    return region;
  }
  void give_back(ScratchRegion region, std::uint32_t units) { free_[units].push_back(region); }
  [[nodiscard]] std::uint32_t size() const { return size_; } ///< units

private:
  static constexpr std::size_t most_tried = 16; // those that are free longest

  std::uint32_t made_ = 0, size_ = 0;
  std::map<std::uint32_t, std::deque<ScratchRegion>> free_; // by size
};

/// What all ranks need, one after another.
struct LoweringState {
  ConnectionBlocks blocks;
  std::vector<ChunkState> chunks;        // [chunk], all as default between ranks
  std::vector<std::uint32_t> reads_left; // [message]: of what it made, from its place
  std::vector<std::uint32_t> units;      // [chunk]: of all that move with it
  // [message]: the steps that send and receive it, at their ranks; empty where none waits.
  std::vector<StepAt> sent, received;
};

/// The steps of one rank.
class RankSteps {
public:
  RankSteps(const Program& program, const LoweredSchedule& lowered, std::uint32_t rank,
            std::uint32_t instances, LoweringState& state)
      : program_(program), lowered_(lowered), rank_(rank), instances_(instances), state_(state),
        order_(state.blocks.of_rank[rank]) {}

  /// Returns the units of scratch.
  std::uint32_t add() {
    set_places();
    const auto events = lowered_.messages.events_of(rank_);
    for (const MessageEvent& event : events) {
      if (!lowered_.messages.is_first_in_step(event.message)) continue;
      if (event.receipt)
        receive(event.message);
      else if (lowered_.fusions.sent_on_from[event.message] == no_message)
        send(event.message);
    }
    for (const ChunkPlace& wanted : program_.outputs[rank_]) state_.chunks[wanted.chunk.value] = {};
    for (const ChunkPlace& held : program_.inputs[rank_]) state_.chunks[held.chunk.value] = {};
    for (const MessageEvent& event : events) state_.chunks[message(event.message).chunk] = {};
    return scratch_.size();
  }

private:
  /// Cells of outputs, inputs, then scratch. In place an input that is an output too has that cell.
  void set_places() {
    std::uint32_t& cell = first_scratch_cell_;
    for (const ChunkPlace& wanted : program_.outputs[rank_])
      state_.chunks[wanted.chunk.value].output = {{Buffer::output, wanted.unit}, cell++};
    for (const ChunkPlace& held : program_.inputs[rank_]) {
      ChunkState& chunk = state_.chunks[held.chunk.value];
      const bool shared = program_.in_place && chunk.output.cell != no_cell;
      chunk.now = {{Buffer::input, held.unit}, shared ? chunk.output.cell : cell++};
    }
  }

  [[nodiscard]] const ScheduleMessage& message(std::uint32_t m) const {
    return lowered_.messages.messages[m];
  }
  [[nodiscard]] std::uint32_t units(std::uint32_t m) const {
    return state_.units[message(m).chunk] / instances_;
  }

  /// What the steps of several messages read and write together.
  void clear_accesses() {
    read_.clear();
    written_.clear();
    awaited_.clear();
  }
  static void add_cell(std::vector<std::uint32_t>& cells, const ValuePlace& place) {
    if (place.cell != no_cell) cells.push_back(place.cell);
  }

  /// Message m and all that share its step.
  void send(std::uint32_t m) {
    clear_accesses();
    Step step{StepKind::send, state_.chunks[message(m).chunk].now.place, {}, 0, std::nullopt};
    const std::uint32_t end = lowered_.messages.step_end(m);
    for (std::uint32_t k = m; k < end; ++k) {
      step.count += units(k);
      add_cell(read_, state_.chunks[message(k).chunk].now);
      await(k);
    }
    const StepAt at = order_.append(state_.blocks.at_start[lowered_.connections.of_message[m]],
                                    step, read_, written_, awaited_);
    for (std::uint32_t k = m; k < end; ++k) {
      const std::uint32_t maker = lowered_.values.made_by(k);
      if (!state_.sent.empty()) state_.sent[k] = at;
      if (maker != no_message && --reads_left(maker) == 0)
        free_scratch(state_.chunks[message(k).chunk], units(k));
    }
  }

  /// Message m and all that share its step: what shares one isn't sent on in it.
  void receive(std::uint32_t m) {
    clear_accesses();
    Step step;
    const std::uint32_t end = lowered_.messages.step_end(m), on = lowered_.fusions.sends_on[m];
    for (std::uint32_t k = m; k < end; ++k) {
      const Step one = received(k);
      if (k == m)
        step = one;
      else
        step.count += one.count;
    }
    if (on != no_message) await(on);
    const StepAt at = order_.append(state_.blocks.at_end[lowered_.connections.of_message[m]], step,
                                    read_, written_, awaited_);
    for (std::uint32_t k = m; k < end; ++k)
      if (!state_.received.empty()) state_.received[k] = at;
    if (!state_.sent.empty() && on != no_message) state_.sent[on] = at;
  }

  /// The step that receives message m alone, and what becomes of its chunk.
  Step received(std::uint32_t m) {
    ChunkState& chunk = state_.chunks[message(m).chunk];
    const bool combines = lowered_.values.combines[m] != 0;
    const bool sends_on = lowered_.fusions.sends_on[m] != no_message;
    if (sends_on) --reads_left(m);
    const bool needed = reads_left(m) > 0 || lowered_.values.kept[m] != 0;
    const bool stores = needed || !(combines && sends_on);

    const ValuePlace source = combines ? chunk.now : ValuePlace{};
    const ValuePlace target = stores ? target_of(chunk, m) : ValuePlace{};
    add_cell(read_, source);
    add_cell(written_, target);
    if (!stores) free_scratch(chunk, units(m));
    chunk.now = target;
    if (!needed) free_scratch(chunk, units(m));
    return {kind(combines, sends_on, stores), source.place, target.place, units(m), std::nullopt};
  }

  /// Adds the steps that message m waits for before it is sent.
  void await(std::uint32_t m) {
    for (const MessageWait& wait : lowered_.messages.waits_of(m))
      awaited_.push_back(
          (wait.awaited.receipt ? state_.received : state_.sent)[wait.awaited.message]);
  }

  /// Pre: `stores`, unless it combines and sends on.
  static StepKind kind(bool combines, bool sends_on, bool stores) {
    if (!combines) return sends_on ? StepKind::receive_copy_send : StepKind::receive;
    if (!sends_on) return StepKind::receive_reduce_copy;
    return stores ? StepKind::receive_reduce_copy_send : StepKind::receive_reduce_send;
  }

  ValuePlace target_of(const ChunkState& chunk, std::uint32_t m) {
    if (chunk.output.cell != no_cell) return chunk.output;
    if (lowered_.values.combines[m] != 0 && chunk.now.place.buffer == Buffer::scratch)
      return chunk.now;
    const RankProgram& sizes = program_.ranks[rank_];
    const std::uint32_t block = state_.blocks.at_end[lowered_.connections.of_message[m]];
    const ScratchRegion region = scratch_.take(
        units(m), std::max(sizes.input, sizes.output) / instances_,
        [&](std::uint32_t index) { return order_.is_over(first_scratch_cell_ + index, block); });
    return {{Buffer::scratch, region.unit}, first_scratch_cell_ + region.index};
  }

  void free_scratch(ChunkState& chunk, std::uint32_t units) {
    if (chunk.now.cell == no_cell || chunk.now.place.buffer != Buffer::scratch) return;
    scratch_.give_back({chunk.now.cell - first_scratch_cell_, chunk.now.place.unit}, units);
    chunk.now = {};
  }

  std::uint32_t& reads_left(std::uint32_t m) { return state_.reads_left[m]; }

  const Program& program_;
  const LoweredSchedule& lowered_;
  std::uint32_t rank_, instances_, first_scratch_cell_ = 0;
  LoweringState& state_;
  RankStepOrder order_;
  ScratchRegions scratch_;
  // The step that is being made:
  std::vector<std::uint32_t> read_, written_; // cells
  std::vector<StepAt> awaited_;
};

/// Runs of units that a rank holds and wants, at the same distance in both buffers.
struct LocalCopy {
  std::uint32_t from = 0, to = 0, units = 0;
};

/// What the rank holds, wants, and never receives.
std::vector<LocalCopy> local_copies(const Program& program, const LoweredSchedule& lowered,
                                    std::uint32_t rank, std::vector<std::uint32_t>& input_of) {
  const ScheduleMessages& messages = lowered.messages;
  for (const ChunkPlace& held : program.inputs[rank]) input_of[held.chunk.value] = held.unit;
  for (const MessageEvent& event : messages.events_of(rank))
    if (event.receipt) input_of[messages.messages[event.message].chunk] = UINT32_MAX;
  std::vector<LocalCopy> copies;
  for (const ChunkPlace& wanted : program.outputs[rank]) {
    const std::uint32_t from = input_of[wanted.chunk.value];
    const std::uint32_t units = program.chunk_units[wanted.chunk.value];
    if (from == UINT32_MAX || input_of[lowered.rolls.leader[wanted.chunk.value]] == UINT32_MAX)
      continue;
    if (!copies.empty() && copies.back().from + copies.back().units == from &&
        copies.back().to + copies.back().units == wanted.unit)
      copies.back().units += units;
    else
      copies.push_back({from, wanted.unit, units});
  }
  for (const ChunkPlace& held : program.inputs[rank]) input_of[held.chunk.value] = UINT32_MAX;
  return copies;
}

} // namespace

std::vector<std::uint32_t> units_moved(const Program& program, const ChunkRolls& rolls) {
  std::vector<std::uint32_t> units(program.chunk_units.size());
  for (std::uint32_t c = 0; c < units.size(); ++c) units[rolls.leader[c]] += program.chunk_units[c];
  return units;
}

void add_steps(Program& program, const LoweredSchedule& lowered, std::uint32_t instances) {
  const auto ranks = static_cast<std::uint32_t>(program.ranks.size());
  LoweringState state{blocks_for(lowered.connections, ranks),
                      std::vector<ChunkState>(program.chunk_units.size()),
                      lowered.values.reads,
                      units_moved(program, lowered.rolls),
                      {},
                      {}};
  if (!lowered.messages.waits.empty()) {
    state.sent.resize(lowered.messages.messages.size());
    state.received.resize(lowered.messages.messages.size());
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    program.ranks[rank].scratch = RankSteps(program, lowered, rank, instances, state).add();
    program.ranks[rank].blocks = std::move(state.blocks.of_rank[rank]);
  }
}

void add_local_copies(Program& program, const LoweredSchedule& lowered, std::uint32_t instances) {
  if (program.in_place) return;
  std::vector<std::uint32_t> input_of(program.chunk_units.size(), UINT32_MAX);
  for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) {
    const std::vector<LocalCopy> copies = local_copies(program, lowered, rank, input_of);
    for (std::uint32_t instance = 0; instance < instances && !copies.empty(); ++instance) {
      Block& block = program.ranks[rank].blocks.emplace_back();
      block.channel = instance;
      for (const LocalCopy& copy : copies) {
        const std::uint32_t part = copy.units / instances, skip = instance * part;
        block.steps.push_back({StepKind::copy,
                               {Buffer::input, copy.from + skip},
                               {Buffer::output, copy.to + skip},
                               part,
                               std::nullopt});
      }
    }
  }
}

} // namespace tutti::runtime
