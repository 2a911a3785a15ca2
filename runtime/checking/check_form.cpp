// Checks that need no order of execution: bounds of places, kinds of steps, peers, and that the
// k-th send and the k-th receive of a connection match.

#include "runtime/checking/check_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tutti::runtime {

namespace {

using FormFault = ProgramFault::Kind;

std::optional<ProgramFault> malformed_program(std::string text) {
  return ProgramFault{FormFault::malformed, std::move(text)};
}

std::string_view checked_buffer_text(Buffer buffer) {
  if (buffer == Buffer::scratch) return "scratch";
  return buffer == Buffer::input ? "input" : "output";
}

std::uint32_t checked_buffer_size(const RankProgram& rank, Buffer buffer) {
  if (buffer == Buffer::scratch) return rank.scratch;
  return buffer == Buffer::input ? rank.input : rank.output;
}

/// Whether these places are the chunks that `npu` has by `conditions`, one after another.
bool are_laid_out(const Program& program, std::uint32_t npu, const std::vector<ChunkPlace>& places,
                  std::uint32_t size, SetId Chunk::*condition) {
  std::uint64_t unit = 0;
  std::size_t n = 0;
  for (std::uint32_t c = 0; c < program.chunk_units.size(); ++c) {
    const auto& set = program.collective.sets[program.collective.chunks[c].*condition];
    if (!std::ranges::binary_search(set, NodeId{npu})) continue;
    if (n == places.size() || places[n].chunk.value != c || places[n].unit != unit) return false;
    unit += program.chunk_units[c];
    ++n;
  }
  return n == places.size() && unit == size;
}

std::optional<ProgramFault> check_layout(const Program& program) {
  const std::size_t ranks = program.ranks.size();
  if (program.inputs.size() != ranks || program.outputs.size() != ranks)
    return malformed_program(fmt::format("there are {} ranks, but inputs for {} and outputs for {}",
                                         ranks, program.inputs.size(), program.outputs.size()));
  if (program.chunk_units.size() != program.collective.chunks.size())
    return malformed_program(fmt::format("units are given for {} chunks, the collective has {}",
                                         program.chunk_units.size(),
                                         program.collective.chunks.size()));
  for (std::size_t c = 0; c < program.chunk_units.size(); ++c)
    if (program.chunk_units[c] == 0)
      return malformed_program(fmt::format("chunk {} has no units", c));
  for (const auto& set : program.collective.sets)
    for (const NodeId npu : set)
      if (npu.value >= ranks)
        return malformed_program(
            fmt::format("npu {} takes part, but there are {} ranks", npu.value, ranks));
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (!are_laid_out(program, r, program.inputs[r], program.ranks[r].input, &Chunk::sources))
      return malformed_program(fmt::format("rank {}: its input isn't what it holds, by chunk", r));
    if (!are_laid_out(program, r, program.outputs[r], program.ranks[r].output,
                      &Chunk::destinations))
      return malformed_program(fmt::format("rank {}: its output isn't what it wants, by chunk", r));
  }
  return std::nullopt;
}

std::optional<ProgramFault> check_peers(const Program& program) {
  // (from, to, channel, whether it receives): the block
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>, std::size_t> taken;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::size_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      const Block& block = program.ranks[r].blocks[b];
      for (const bool receives : {false, true}) {
        const std::optional<std::uint32_t>& peer = receives ? block.receives_from : block.sends_to;
        if (!peer) continue;
        if (*peer >= program.ranks.size() || *peer == r)
          return malformed_program(
              fmt::format("rank {}, block {}: there is no peer {}", r, b, *peer));
        const auto [at, fresh] = taken.try_emplace(
            {receives ? *peer : r, receives ? r : *peer, block.channel, receives}, b);
        if (!fresh)
          return malformed_program(
              fmt::format("rank {}: blocks {} and {} both {} rank {} on channel {}", r, at->second,
                          b, receives ? "receive from" : "send to", *peer, block.channel));
      }
    }
  return std::nullopt;
}

class StepForm {
public:
  StepForm(const Program& program, const ProgramBlock& block)
      : program_(program), block_(block), rank_(program.ranks[block.rank]) {}

  std::optional<ProgramFault> check(std::size_t s) const {
    const Step& step = block_.block->steps[s];
    const auto fault = [&](const std::string& what) {
      return malformed_program(fmt::format("{}: {}", program_step_text(block_, s), what));
    };
    if (step.kind > StepKind::wait) return malformed_program("a step of no known kind");
    if (sends(step.kind) && !block_.block->sends_to) return fault("its block sends to nobody");
    if (receives(step.kind) && !block_.block->receives_from)
      return fault("its block receives from nobody");
    if (step.kind != StepKind::wait && step.count == 0) return fault("it moves no units");
    if (reads_source(step.kind) && is_outside(step.source, step.count))
      return fault(outside_text(step.source, step.count));
    if (writes_target(step.kind) && is_outside(step.target, step.count))
      return fault(outside_text(step.target, step.count));
    if (reads_source(step.kind) && writes_target(step.kind) && overlaps_shifted(step))
      return fault("its source and target overlap, shifted");
    if (step.after && !exists(*step.after))
      return fault(fmt::format("it waits for step {} of block {}, which isn't one of another block",
                               step.after->step, step.after->block));
    return std::nullopt;
  }

private:
  [[nodiscard]] bool is_outside(Place place, std::uint32_t count) const {
    return place.unit + std::uint64_t{count} > checked_buffer_size(rank_, place.buffer);
  }
  [[nodiscard]] std::string outside_text(Place place, std::uint32_t count) const {
    return fmt::format("{} {} to {} is outside the buffer of {} units",
                       checked_buffer_text(place.buffer), place.unit,
                       place.unit + std::uint64_t{count} - 1,
                       checked_buffer_size(rank_, place.buffer));
  }
  [[nodiscard]] bool overlaps_shifted(const Step& step) const {
    const Place source = alias(program_, block_.rank, step.source);
    const Place target = alias(program_, block_.rank, step.target);
    const std::uint32_t shift =
        std::max(source.unit, target.unit) - std::min(source.unit, target.unit);
    return source.buffer == target.buffer && shift != 0 && shift < step.count;
  }
  [[nodiscard]] bool exists(StepAt at) const {
    return at.block < rank_.blocks.size() && at.block != block_.index &&
           at.step < rank_.blocks[at.block].steps.size();
  }

  const Program& program_;
  const ProgramBlock& block_;
  const RankProgram& rank_;
};

/// The k-th steps of a block that send (or receive), by k.
std::vector<std::size_t> messages_of_block(const ProgramBlock& block, bool (*does)(StepKind)) {
  std::vector<std::size_t> steps;
  for (std::size_t s = 0; s < block.block->steps.size(); ++s)
    if (does(block.block->steps[s].kind)) steps.push_back(s);
  return steps;
}

} // namespace

std::string program_step_text(const ProgramBlock& block, std::size_t step) {
  return fmt::format("rank {}, block {}, step {} ({})", block.rank, block.index, step,
                     to_text(block.block->steps[step].kind));
}

std::optional<ProgramFault> check_form(const Program& program) {
  if (std::optional<ProgramFault> fault = check_layout(program)) return fault;
  if (std::optional<ProgramFault> fault = check_peers(program)) return fault;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      const ProgramBlock block{r, b, &program.ranks[r].blocks[b], no_program_block,
                               no_program_block};
      const StepForm form(program, block);
      for (std::size_t s = 0; s < block.block->steps.size(); ++s)
        if (std::optional<ProgramFault> fault = form.check(s)) return fault;
    }
  return std::nullopt;
}

std::vector<ProgramBlock> program_blocks(const Program& program) {
  std::vector<ProgramBlock> blocks;
  // (from, to, channel): the block that sends
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> senders;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      const Block& block = program.ranks[r].blocks[b];
      if (block.sends_to)
        senders.emplace(std::tuple(r, *block.sends_to, block.channel),
                        static_cast<std::uint32_t>(blocks.size()));
      blocks.push_back({r, b, &block, no_program_block, no_program_block});
    }
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    const Block& block = *blocks[i].block;
    if (!block.receives_from) continue;
    const auto sender = senders.find({*block.receives_from, blocks[i].rank, block.channel});
    if (sender == senders.end()) continue;
    blocks[i].sender = sender->second;
    blocks[sender->second].receiver = i;
  }
  return blocks;
}

std::optional<ProgramFault> check_messages(const std::vector<ProgramBlock>& blocks) {
  std::optional<ProgramFault> mismatched;
  for (const ProgramBlock& block : blocks) {
    const std::vector<std::size_t> sent = messages_of_block(block, sends);
    std::vector<std::size_t> received;
    if (block.receiver != no_program_block)
      received = messages_of_block(blocks[block.receiver], receives);
    if (sent.size() > received.size())
      return ProgramFault{FormFault::unmatched,
                          fmt::format("{}: what it sends is never received",
                                      program_step_text(block, sent[received.size()]))};
    if (received.size() > sent.size())
      return ProgramFault{
          FormFault::unmatched,
          fmt::format("{}: what it receives is never sent",
                      program_step_text(blocks[block.receiver], received[sent.size()]))};
    if (block.sender == no_program_block)
      if (const std::vector<std::size_t> lost = messages_of_block(block, receives); !lost.empty())
        return ProgramFault{FormFault::unmatched,
                            fmt::format("{}: what it receives is never sent",
                                        program_step_text(block, lost.front()))};
    for (std::size_t k = 0; k < sent.size() && !mismatched; ++k) {
      const ProgramBlock& to = blocks[block.receiver];
      const std::uint32_t out = block.block->steps[sent[k]].count;
      const std::uint32_t in = to.block->steps[received[k]].count;
      if (out != in)
        mismatched = ProgramFault{FormFault::mismatched,
                                  fmt::format("{} sends {} units, {} receives {}",
                                              program_step_text(block, sent[k]), out,
                                              program_step_text(to, received[k]), in)};
    }
  }
  return mismatched;
}

} // namespace tutti::runtime
