// Races by vector clocks over the blocks of a rank, in one order that can happen: where every
// access is ordered after the last conflicting one, all pairs are. Only where clocks leave a pair
// open are messages between ranks followed, backwards from the later step.

#include "runtime/checking/check_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace tutti::runtime {

namespace {

/// Whether messages order two steps: backwards from the later one along program order,
/// dependencies and messages.
class MessageOrder {
public:
  MessageOrder(const std::vector<ProgramBlock>& blocks, const std::vector<ProgramStep>& order)
      : blocks_(blocks), order_(order) {}

  [[nodiscard]] bool is_before(ProgramStep earlier, ProgramStep later) {
    if (position_.empty()) prepare();
    const std::uint32_t horizon = position_[earlier.block][earlier.step];
    reached_.assign(blocks_.size(), 0);
    open_.clear();
    reach(later);
    while (!open_.empty()) {
      const auto [b, begin, end] = open_.back();
      open_.pop_back();
      for (std::uint32_t s = end; s-- > begin && position_[b][s] >= horizon;) reach_awaited(b, s);
      if (reached_[earlier.block] > earlier.step) return true;
    }
    return false;
  }

private:
  struct Stretch {
    std::uint32_t block, begin, end;
  };

  void prepare() {
    position_.resize(blocks_.size());
    partner_.resize(blocks_.size());
    sent_.resize(blocks_.size());
    for (std::uint32_t b = 0, first = 0; b < blocks_.size(); ++b) {
      if (b > 0 && blocks_[b].rank != blocks_[b - 1].rank) first = b;
      first_.push_back(first);
      position_[b].resize(blocks_[b].block->steps.size());
      std::uint32_t received = 0;
      for (std::uint32_t s = 0; s < position_[b].size(); ++s) {
        const StepKind kind = blocks_[b].block->steps[s].kind;
        partner_[b].push_back(receives(kind) ? received++ : 0);
        if (sends(kind)) sent_[b].push_back(s);
      }
    }
    for (std::uint32_t p = 0; p < order_.size(); ++p)
      position_[order_[p].block][order_[p].step] = p;
  }

  void reach(ProgramStep at) {
    const std::uint32_t begin = reached_[at.block];
    if (at.step < begin) return;
    reached_[at.block] = at.step + 1;
    open_.push_back({at.block, begin, at.step + 1});
  }

  void reach_awaited(std::uint32_t b, std::uint32_t s) {
    const Step& step = blocks_[b].block->steps[s];
    if (step.after) reach({first_[b] + step.after->block, step.after->step});
    if (receives(step.kind)) reach({blocks_[b].sender, sent_[blocks_[b].sender][partner_[b][s]]});
  }

  const std::vector<ProgramBlock>& blocks_;
  const std::vector<ProgramStep>& order_;
  std::vector<std::vector<std::uint32_t>> position_; // [block][step]: in the order
  std::vector<std::vector<std::uint32_t>> partner_;  // [block][step]: which message it receives
  std::vector<std::vector<std::uint32_t>> sent_;     // [block][message]: the step that sends it
  std::vector<std::uint32_t> first_;                 // [block]: the first of its rank
  std::vector<std::uint32_t> reached_;               // [block]: steps known to be before
  std::vector<Stretch> open_;
};

/// Walks one rank's steps in run order; every access is held against the last write of its unit,
/// every write against the reads since too. In one order that can happen these pairs being ordered
/// orders all others.
class RankRaces {
public:
  RankRaces(const Program& program, std::span<const ProgramBlock> blocks, std::uint32_t first_block,
            MessageOrder& messages)
      : program_(program), blocks_(blocks), first_block_(first_block), messages_(messages),
        rank_(blocks.front().rank), clocks_(blocks.size()) {
    const RankProgram& rank = program.ranks[rank_];
    units_.resize(std::size_t{rank.input} + rank.output + rank.scratch);
  }

  std::optional<ProgramFault> visit(std::uint32_t block, std::uint32_t index) {
    const Step& step = blocks_[block].block->steps[index];
    const StepAt at{block, index};
    advance(at, step);
    for (std::uint32_t k = 0; k < step.count; ++k) {
      if (reads_source(step.kind))
        if (auto fault = read(unit(step.source, k), at)) return fault;
      if (writes_target(step.kind))
        if (auto fault = write(unit(step.target, k), at)) return fault;
    }
    return std::nullopt;
  }

private:
  struct UnitAccesses {
    std::optional<StepAt> write;
    std::vector<StepAt> reads; // since: the last of each block
  };

  [[nodiscard]] std::size_t unit(Place place, std::uint32_t offset) const {
    const RankProgram& rank = program_.ranks[rank_];
    const Place at = alias(program_, rank_, {place.buffer, place.unit + offset});
    if (at.buffer == Buffer::input) return at.unit;
    return (at.buffer == Buffer::output ? rank.input : rank.input + rank.output) + at.unit;
  }

  void advance(StepAt at, const Step& step) {
    std::vector<std::uint32_t>& own = clocks_[at.block];
    const std::size_t width = blocks_.size();
    if (own.empty()) own.reserve(width * blocks_[at.block].block->steps.size());
    if (at.step == 0)
      own.assign(width, 0);
    else
      own.insert(own.end(), width, 0);
    std::uint32_t* const now = own.data() + at.step * width;
    if (at.step > 0) std::copy_n(now - width, width, now);
    if (step.after) {
      const std::uint32_t* const other =
          clocks_[step.after->block].data() + step.after->step * width;
      for (std::size_t b = 0; b < width; ++b) now[b] = std::max(now[b], other[b]);
    }
    now[at.block] = at.step + 1;
  }

  [[nodiscard]] bool is_ordered(StepAt earlier, StepAt later) {
    if (clocks_[later.block][later.step * blocks_.size() + earlier.block] > earlier.step)
      return true;
    return messages_.is_before({first_block_ + earlier.block, earlier.step},
                               {first_block_ + later.block, later.step});
  }

  std::optional<ProgramFault> read(std::size_t unit, StepAt at) {
    UnitAccesses& accesses = units_[unit];
    if (accesses.write && !is_ordered(*accesses.write, at))
      return race(*accesses.write, at, unit, "writes", "reads");
    const auto same = std::ranges::find(accesses.reads, at.block, &StepAt::block);
    if (same != accesses.reads.end())
      same->step = at.step;
    else
      accesses.reads.push_back(at);
    return std::nullopt;
  }

  std::optional<ProgramFault> write(std::size_t unit, StepAt at) {
    UnitAccesses& accesses = units_[unit];
    if (accesses.write && !is_ordered(*accesses.write, at))
      return race(*accesses.write, at, unit, "writes", "writes");
    for (const StepAt reader : accesses.reads)
      if (reader != at && !is_ordered(reader, at)) return race(reader, at, unit, "reads", "writes");
    accesses.reads.clear();
    accesses.write = at;
    return std::nullopt;
  }

  [[nodiscard]] ProgramFault race(StepAt a, StepAt b, std::size_t unit, std::string_view a_does,
                                  std::string_view b_does) const {
    const RankProgram& rank = program_.ranks[rank_];
    std::string where = fmt::format("input {}", unit);
    if (unit >= std::size_t{rank.input} + rank.output)
      where = fmt::format("scratch {}", unit - rank.input - rank.output);
    else if (unit >= rank.input)
      where = fmt::format("output {}", unit - rank.input);
    return {ProgramFault::Kind::race,
            fmt::format("{} {} {}, which {} {}, and nothing orders them",
                        program_step_text(blocks_[a.block], a.step), a_does, where,
                        program_step_text(blocks_[b.block], b.step), b_does)};
  }

  const Program& program_;
  std::span<const ProgramBlock> blocks_; // of this rank
  std::uint32_t first_block_;
  MessageOrder& messages_;
  std::uint32_t rank_;
  std::vector<std::vector<std::uint32_t>> clocks_; // [block]: of each step, one after another
  std::vector<UnitAccesses> units_;
};

} // namespace

std::optional<ProgramFault> check_races(const Program& program,
                                        const std::vector<ProgramBlock>& blocks,
                                        const std::vector<ProgramStep>& order) {
  std::vector<std::vector<ProgramStep>> of_rank(program.ranks.size());
  for (const ProgramStep& step : order) of_rank[blocks[step.block].rank].push_back(step);
  MessageOrder messages(blocks, order);
  for (std::uint32_t first = 0, end = 0; first < blocks.size(); first = end) {
    while (end < blocks.size() && blocks[end].rank == blocks[first].rank) ++end;
    RankRaces races(program, std::span(blocks).subspan(first, end - first), first, messages);
    for (const ProgramStep& step : of_rank[blocks[first].rank])
      if (std::optional<ProgramFault> fault = races.visit(step.block - first, step.step))
        return fault;
  }
  return std::nullopt;
}

} // namespace tutti::runtime
