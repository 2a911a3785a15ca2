// All steps are sorted by rounds and performed symbolically; each unit of memory knows which ranks
// contributed to it and which moves it was made from.

#include "runtime/formats/msccl/foreign_moves.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace tutti::runtime {

namespace {

constexpr std::uint32_t no_unit = UINT32_MAX;

/// Every step of every rank by one number.
struct NumberedStep {
  std::uint32_t rank = 0, block = 0, step = 0;
  std::uint32_t round = 0;
  std::uint32_t message_in = no_unit, message_out = no_unit;
};

/// All steps with their messages, sorted so that each comes after what it waits for.
class StepRounds {
public:
  explicit StepRounds(const Program& program) : program_(program) {
    number();
    match();
    set_rounds();
    std::ranges::sort(steps_, {}, [](const NumberedStep& s) {
      return std::tuple(s.round, s.rank, s.block, s.step);
    });
  }
  [[nodiscard]] const std::vector<NumberedStep>& steps() const { return steps_; }
  [[nodiscard]] std::size_t messages() const { return sent_.size(); }

private:
  [[nodiscard]] const Step& step(std::uint32_t id) const {
    const NumberedStep& at = steps_[id];
    return program_.ranks[at.rank].blocks[at.block].steps[at.step];
  }

  void number() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      first_.emplace_back();
      const std::vector<Block>& blocks = program_.ranks[r].blocks;
      for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        first_[r].push_back(static_cast<std::uint32_t>(steps_.size()));
        for (std::uint32_t s = 0; s < blocks[b].steps.size(); ++s)
          steps_.push_back({r, b, s, 0, no_unit, no_unit});
      }
    }
  }

  /// The k-th send of a connection and its k-th receive are one message.
  void match() {
    using Connection = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::map<Connection, std::array<std::vector<std::uint32_t>, 2>> ends;
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      const NumberedStep& at = steps_[i];
      const Block& block = program_.ranks[at.rank].blocks[at.block];
      const StepKind kind = block.steps[at.step].kind;
      if (sends(kind) && block.sends_to)
        ends[{at.rank, *block.sends_to, block.channel}][0].push_back(i);
      if (receives(kind) && block.receives_from)
        ends[{*block.receives_from, at.rank, block.channel}][1].push_back(i);
    }
    for (const auto& [connection, both] : ends) {
      const auto& [from, to, channel] = connection;
      if (both[0].size() != both[1].size())
        throw InputError(fmt::format("{} sends from rank {} to {} on channel {}, but {} receives",
                                     both[0].size(), from, to, channel, both[1].size()));
      for (std::size_t k = 0; k < both[0].size(); ++k) {
        if (step(both[0][k]).count != step(both[1][k]).count)
          throw InputError(fmt::format("message {} from rank {} to {} on channel {} is sent and "
                                       "received with different counts",
                                       k, from, to, channel));
        steps_[both[0][k]].message_out = static_cast<std::uint32_t>(sent_.size());
        steps_[both[1][k]].message_in = static_cast<std::uint32_t>(sent_.size());
        sent_.push_back(both[0][k]);
      }
    }
  }

  void set_rounds() {
    std::vector<std::vector<std::uint32_t>> later(steps_.size());
    std::vector<std::uint32_t> missing(steps_.size(), 0), ready;
    const auto add = [&](std::uint32_t before, std::uint32_t after) {
      later[before].push_back(after);
      ++missing[after];
    };
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].step > 0) add(i - 1, i);
      if (const auto& after = step(i).after)
        add(first_[steps_[i].rank][after->block] + after->step, i);
      if (steps_[i].message_in != no_unit) add(sent_[steps_[i].message_in], i);
    }
    for (std::uint32_t i = 0; i < steps_.size(); ++i)
      if (missing[i] == 0) ready.push_back(i);
    for (std::size_t done = 0; done < ready.size(); ++done)
      for (const std::uint32_t next : later[ready[done]]) {
        steps_[next].round = std::max(steps_[next].round, steps_[ready[done]].round + 1);
        if (--missing[next] == 0) ready.push_back(next);
      }
    if (ready.size() != steps_.size())
      throw InputError(fmt::format("{} steps of the program wait for each other in a cycle",
                                   steps_.size() - ready.size()));
  }

  const Program& program_;
  std::vector<NumberedStep> steps_;
  std::vector<std::vector<std::uint32_t>> first_; // [rank][block]: number of its first step
  std::vector<std::uint32_t> sent_;               // [message]: the number of its send
};

/// What a unit of memory holds.
struct TrackedValue {
  std::uint32_t unit = no_unit;
  Contributions holds;
  std::vector<std::uint32_t> made_from;
};

/// The memory of all ranks, and the steps upon it.
class SymbolicRanks {
public:
  SymbolicRanks(const Program& program, std::size_t messages)
      : program_(program), first_move_(messages, 0), count_of_(messages, 0),
        connection_of_(messages) {
    for (const std::uint32_t units : program.chunk_units) {
      first_unit_.push_back(units_);
      units_ += units;
    }
    for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
      const RankProgram& rank = program.ranks[r];
      over_.emplace_back(rank.blocks.size());
      memory_.emplace_back(std::size_t{rank.input} + rank.output + rank.scratch);
      for (const ChunkPlace& at : program.inputs[r]) {
        const std::uint32_t chunk = at.chunk.value;
        for (std::uint32_t u = 0; u < program.chunk_units[chunk]; ++u)
          cell(r, {Buffer::input, at.unit + u}) = {first_unit_[chunk] + u, own(chunk, r), {}};
      }
    }
  }

  void perform(const NumberedStep& at) {
    const Block& block = program_.ranks[at.rank].blocks[at.block];
    const Step& step = block.steps[at.step];
    const Awaited awaited = awaited_by(at, step);
    if (at.message_out != no_unit) {
      first_move_[at.message_out] = static_cast<std::uint32_t>(moves_.size());
      count_of_[at.message_out] = step.count;
      connection_of_[at.message_out] = {at.rank, *block.sends_to, block.channel};
    }
    Awaited over;
    if (at.message_out == no_unit)
      over = awaited; // no move has waited for it
    else
      over.add({at.message_out, false, at.block, at.step});
    if (at.message_in != no_unit) over.add({at.message_in, true, at.block, at.step});
    over_[at.rank][at.block].push_back(std::move(over));
    for (std::uint32_t i = 0; i < step.count; ++i) {
      const TrackedValue value = result(at, step, i);
      if (writes_target(step.kind))
        cell(at.rank, {step.target.buffer, step.target.unit + i}) = value;
      if (sends(step.kind))
        moves_.push_back({value.unit, at.rank, *block.sends_to, block.channel, value.holds,
                          value.made_from, awaited_moves(awaited, at.message_out, value.unit)});
    }
  }

  [[nodiscard]] std::vector<ForeignMove> moves() && { return std::move(moves_); }

private:
  /// What is over when a step is: a message sent, or received.
  struct MessageOver {
    std::uint32_t message = 0;
    bool received = false;
    std::uint32_t block = 0, step = 0; ///< of the rank
    [[nodiscard]] auto place() const { return std::pair(block, received); }
  };

  /// By block and direction, of which the latest says it all.
  struct Awaited {
    std::vector<MessageOver> messages;

    void add(const MessageOver& one) {
      const auto there = std::ranges::lower_bound(messages, one.place(), {}, &MessageOver::place);
      if (there == messages.end() || there->place() != one.place())
        messages.insert(there, one);
      else if (there->step < one.step)
        *there = one;
    }
  };

  /// By the step before it in its block, and by the one that it depends on; as far back as the last
  /// that sent, whose move names what it had waited for itself.
  [[nodiscard]] Awaited awaited_by(const NumberedStep& at, const Step& step) const {
    Awaited awaited;
    const auto add = [&](const Awaited& over) {
      for (const MessageOver& one : over.messages) awaited.add(one);
    };
    if (at.step > 0) add(over_[at.rank][at.block][at.step - 1]);
    if (step.after) add(over_[at.rank][step.after->block][step.after->step]);
    return awaited;
  }

  /// The moves that a message waits for by its place in the program, where neither data nor the
  /// order of the connection says so already; of each awaited message the last move, as it goes
  /// after the others.
  [[nodiscard]] std::vector<AwaitedMove>
  awaited_moves(const Awaited& awaited, std::uint32_t message, std::uint32_t unit) const {
    std::vector<AwaitedMove> moves;
    for (const MessageOver& over : awaited.messages) {
      if (!over.received && connection_of_[over.message] == connection_of_[message]) continue;
      const std::uint32_t first = first_move_[over.message], count = count_of_[over.message];
      bool brings_it = count == 0;
      for (std::uint32_t m = first; m < first + count; ++m)
        brings_it = brings_it || (over.received && moves_[m].unit == unit);
      if (!brings_it) moves.push_back({first + count - 1, over.received});
    }
    return moves;
  }

  [[nodiscard]] Contributions own(std::uint32_t chunk, std::uint32_t rank) const {
    if (!program_.collective.chunks[chunk].reduces) return {};
    Contributions made((program_.ranks.size() + 63) / 64, 0);
    made[rank / 64] |= std::uint64_t{1} << (rank % 64);
    return made;
  }

  TrackedValue& cell(std::uint32_t rank, Place place) {
    const RankProgram& sizes = program_.ranks[rank];
    const std::uint32_t size = place.buffer == Buffer::input    ? sizes.input
                               : place.buffer == Buffer::output ? sizes.output
                                                                : sizes.scratch;
    if (place.unit >= size)
      throw InputError(fmt::format("rank {} uses a unit outside of its buffers", rank));
    const Place at = alias(program_, rank, place);
    const std::size_t base = at.buffer == Buffer::input    ? 0
                             : at.buffer == Buffer::output ? sizes.input
                                                           : sizes.input + sizes.output;
    return memory_[rank][base + at.unit];
  }

  [[nodiscard]] const TrackedValue& read(const NumberedStep& at, Place place) {
    const TrackedValue& value = cell(at.rank, place);
    if (value.unit == no_unit)
      throw InputError(fmt::format("rank {}, block {}, step {} reads a unit that holds nothing",
                                   at.rank, at.block, at.step));
    return value;
  }

  /// What the step makes of its i-th unit.
  TrackedValue result(const NumberedStep& at, const Step& step, std::uint32_t i) {
    const Place source{step.source.buffer, step.source.unit + i};
    TrackedValue value;
    if (receives(step.kind)) {
      const std::uint32_t move = first_move_[at.message_in] + i;
      value = {moves_[move].unit, moves_[move].holds, {move}};
      if (reads_source(step.kind)) add(at, value, read(at, source));
      return value;
    }
    value = read(at, source);
    if (step.kind == StepKind::reduce)
      add(at, value, read(at, {step.target.buffer, step.target.unit + i}));
    return value;
  }

  void add(const NumberedStep& at, TrackedValue& value, const TrackedValue& other) const {
    if (value.unit != other.unit || value.holds.empty() || have_in_common(value.holds, other.holds))
      throw InputError(fmt::format("rank {}, block {}, step {} combines what doesn't belong "
                                   "together, or twice",
                                   at.rank, at.block, at.step));
    unite(value.holds, other.holds);
    std::vector<std::uint32_t> both;
    std::ranges::set_union(value.made_from, other.made_from, std::back_inserter(both));
    value.made_from = std::move(both);
  }

  const Program& program_;
  std::uint32_t units_ = 0;
  std::vector<std::uint32_t> first_unit_; // [chunk]
  std::vector<std::vector<TrackedValue>> memory_;
  std::vector<std::uint32_t> first_move_, count_of_;        // [message]
  std::vector<std::array<std::uint32_t, 3>> connection_of_; // [message]: from, to, channel
  std::vector<std::vector<std::vector<Awaited>>> over_;     // [rank][block][step]
  std::vector<ForeignMove> moves_;
};

} // namespace

bool is_within(const Contributions& a, const Contributions& b) {
  for (std::size_t w = 0; w < a.size(); ++w)
    if ((a[w] & ~b[w]) != 0) return false;
  return true;
}

bool have_in_common(const Contributions& a, const Contributions& b) {
  for (std::size_t w = 0; w < a.size(); ++w)
    if ((a[w] & b[w]) != 0) return true;
  return false;
}

void unite(Contributions& a, const Contributions& b) {
  for (std::size_t w = 0; w < a.size(); ++w) a[w] |= b[w];
}

std::vector<ForeignMove> foreign_moves(const Program& program) {
  const StepRounds rounds(program);
  SymbolicRanks ranks(program, rounds.messages());
  for (const NumberedStep& at : rounds.steps()) ranks.perform(at);
  return std::move(ranks).moves();
}

} // namespace tutti::runtime
