// The XML allows one dependency per step and a runtime moves a limited count at once: further waits
// become steps of their own, and large counts several steps. Waits that program order has already
// are dropped. The limits of a runtime are compared last.

#include "runtime/formats/msccl/form.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::runtime {

namespace {

constexpr std::array<MscclCollectiveRow, 14> msccl_rows{{
    {CollectiveKind::all_reduce, "allreduce"},
    {CollectiveKind::all_gather, "allgather"},
    {CollectiveKind::reduce_scatter, "reducescatter"},
    {CollectiveKind::all_to_all, "alltoall"},
    {CollectiveKind::broadcast, "broadcast"},
    {CollectiveKind::reduce, "reduce"},
    {CollectiveKind::gather, "gather"},
    {CollectiveKind::scatter, "scatter"},
    {CollectiveKind::custom, "custom"},
    // A file is read as the first with its word.
    {CollectiveKind::hypercube, "allgather"},
    {CollectiveKind::sendrecv, "custom"},
    {CollectiveKind::all_to_all_v, "custom"},
    {CollectiveKind::all_gather_v, "custom"},
    {CollectiveKind::reduce_scatter_v, "custom"},
}};

/// [block]: the last step that must be over.
using WaitedFor = std::map<std::uint32_t, std::uint32_t>;

/// Rewrites one rank's blocks.
class RankForm {
public:
  RankForm(const RankProgram& rank, std::uint32_t most_count)
      : rank_(rank), most_count_(most_count) {}

  [[nodiscard]] std::vector<Block> blocks() {
    collect_waits();
    number_steps();
    std::vector<Block> made;
    for (std::uint32_t b = 0; b < rank_.blocks.size(); ++b) made.push_back(rewritten(b));
    return made;
  }

private:
  /// A wait is over with the step before it in its block and with what it waits for itself.
  void add_waits_of(StepAt at, WaitedFor& waits) {
    if (!seen_.insert({at.block, at.step}).second) return;
    const std::vector<Step>& steps = rank_.blocks[at.block].steps;
    for (std::uint32_t s = at.step + 1; s-- > 0;) {
      if (steps[s].kind != StepKind::wait) {
        std::uint32_t& last = waits.try_emplace(at.block, s).first->second;
        last = std::max(last, s);
        return;
      }
      if (steps[s].after) add_waits_of(*steps[s].after, waits);
    }
  }

  void collect_waits() {
    waits_.resize(rank_.blocks.size());
    for (std::uint32_t b = 0; b < rank_.blocks.size(); ++b) {
      WaitedFor waits;
      for (const Step& step : rank_.blocks[b].steps) {
        if (step.after) {
          seen_.clear();
          add_waits_of(*step.after, waits);
        }
        waits_[b].push_back({});
        if (step.kind == StepKind::wait) continue;
        waits.erase(b); // program order has it
        waits_[b].back() = std::exchange(waits, {});
      }
    }
  }

  /// Where the last part of each step will stand.
  void number_steps() {
    for (std::uint32_t b = 0; b < rank_.blocks.size(); ++b) {
      std::uint32_t next = 0;
      last_part_.emplace_back();
      for (std::uint32_t s = 0; s < rank_.blocks[b].steps.size(); ++s) {
        const Step& step = rank_.blocks[b].steps[s];
        if (step.kind != StepKind::wait) {
          const auto waits = static_cast<std::uint32_t>(waits_[b][s].size());
          next += (waits > 0 ? waits - 1 : 0) + (step.count + most_count_ - 1) / most_count_;
        }
        last_part_[b].push_back(next - 1);
      }
    }
  }

  /// Dependencies, by block.
  [[nodiscard]] std::vector<StepAt> dependencies(std::uint32_t block, std::uint32_t step) const {
    std::vector<StepAt> made;
    for (const auto& [other, last] : waits_[block][step])
      made.push_back({other, last_part_[other][last]});
    return made;
  }

  [[nodiscard]] Block rewritten(std::uint32_t b) const {
    const Block& block = rank_.blocks[b];
    Block made{block.sends_to, block.receives_from, block.channel, {}};
    for (std::uint32_t s = 0; s < block.steps.size(); ++s) {
      if (block.steps[s].kind == StepKind::wait) continue;
      const std::vector<StepAt> after = dependencies(b, s);
      for (std::size_t i = 0; i + 1 < after.size(); ++i)
        made.steps.push_back({StepKind::wait, {}, {}, 0, after[i]});
      append_parts(block.steps[s], after.empty() ? std::nullopt : std::optional(after.back()),
                   made.steps);
    }
    return made;
  }

  void append_parts(Step step, std::optional<StepAt> after, std::vector<Step>& steps) const {
    step.after = after;
    for (std::uint32_t left = step.count; left > 0; left -= step.count) {
      step.count = std::min(left, most_count_);
      steps.push_back(step);
      if (reads_source(step.kind)) step.source.unit += step.count;
      if (writes_target(step.kind)) step.target.unit += step.count;
      step.after.reset();
    }
  }

  const RankProgram& rank_;
  std::uint32_t most_count_;
  std::vector<std::vector<WaitedFor>> waits_;         // [block][step]
  std::vector<std::vector<std::uint32_t>> last_part_; // [block][step]
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
};

/// Compares numbers of a program with limits.
class LimitCheck {
public:
  explicit LimitCheck(const MscclLimits& limits) : limits_(limits) {}

  void require(std::string_view where, std::uint64_t found, std::string_view of_what,
               std::uint64_t most, std::string_view help) const {
    if (found > most)
      throw InputError(fmt::format("{}: {} {}, and {} {} at most ({})", where, found, of_what,
                                   limits_.who_has, most, help));
  }

  void require_block(const std::string& where, const Block& block) const {
    require(where, block.steps.size(), "steps", limits_.steps,
            "fewer chunks or fewer instances would help");
    require(where, block.channel + 1, "channels", limits_.channels,
            "fewer instances or fewer channels would help");
    for (std::size_t s = 0; s < block.steps.size(); ++s) {
      const Step& step = block.steps[s];
      if ((kinds_bit(step.kind) & limits_.kinds) == 0)
        throw InputError(
            fmt::format("{}, step {}: {} has no kernel for steps of type \"{}\"", where, s,
                        limits_.who_has.substr(0, limits_.who_has.rfind(' ')), to_text(step.kind)));
      require(where, step.count, "units in one step", limits_.count, "several steps would help");
      require(where, std::max(step.source.unit, step.target.unit), "as the index of a unit",
              limits_.place, "fewer chunks or fewer instances would help");
      if (step.after)
        require(where, step.after->block, "as a block that is waited for", limits_.waited_block,
                "fewer instances or fewer channels would help");
    }
  }

  void require_rank(std::uint32_t r, std::size_t ranks, const RankProgram& rank) const {
    const std::string where = fmt::format("gpu {}", r);
    require(where, rank.blocks.size(), "blocks", limits_.blocks,
            "fewer instances or fewer channels would help");
    std::map<std::uint32_t, std::uint32_t> senders, receivers; // [channel]
    std::size_t elements = 1 + ranks + rank.blocks.size();
    for (std::uint32_t b = 0; b < rank.blocks.size(); ++b) {
      const Block& block = rank.blocks[b];
      require_block(fmt::format("{}, block {}", where, b), block);
      elements += block.steps.size();
      if (block.sends_to) ++senders[block.channel];
      if (block.receives_from) ++receivers[block.channel];
    }
    for (const auto* peers : {&senders, &receivers})
      for (const auto& [channel, count] : *peers)
        require(fmt::format("{}, channel {}", where, channel), count,
                peers == &senders ? "peers to send to" : "peers to receive from", limits_.peers,
                "more channels would help");
    require(where, elements, "elements of XML", limits_.elements,
            "fewer chunks or fewer instances would help");
  }

private:
  const MscclLimits& limits_;
};

} // namespace

std::span<const MscclCollectiveRow> msccl_collectives() { return msccl_rows; }

std::string_view msccl_collective_word(const Program& program) {
  const Collective& collective = program.collective;
  const std::size_t ranks = program.ranks.size();
  if (collective.parts.size() != 1)
    throw InputError(fmt::format("MSCCL runs one collective at a time, not {}", collective.name()));
  const CollectivePart& part = collective.parts.front();
  const auto word = std::ranges::find(msccl_rows, part.kind, &MscclCollectiveRow::kind)->word;
  if (word == "custom") return word;
  bool everyone = part.group.size() == ranks;
  for (std::uint32_t i = 0; everyone && i < ranks; ++i) everyone = part.group[i] == NodeId{i};
  if (!everyone)
    throw InputError(fmt::format("MSCCL's collectives are over all ranks in their order, not {}",
                                 collective.name()));
  return word;
}

std::uint32_t msccl_chunks_per_loop(const Program& program) {
  std::uint32_t most = 0, least_most = UINT32_MAX;
  for (const RankProgram& rank : program.ranks) {
    const std::uint32_t larger = std::max(rank.input, rank.output);
    most = std::max(most, larger);
    least_most = std::min(least_most, larger);
  }
  const CollectiveKind kind = program.collective.parts.front().kind;
  const bool by_shard = kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
  return by_shard ? least_most : most;
}

Program msccl_form(const Program& program, std::uint32_t most_count) {
  Program made = program;
  for (RankProgram& rank : made.ranks) rank.blocks = RankForm(rank, most_count).blocks();
  return made;
}

void require_msccl_limits(const Program& program, const MscclLimits& limits) {
  const LimitCheck check(limits);
  const std::size_t ranks = program.ranks.size();
  check.require("algo", ranks, "gpus", limits.ranks, "fewer ranks would help");
  check.require("algo", program.name.size(), "bytes of a name", limits.name, "a shorter one would");
  for (std::uint32_t r = 0; r < ranks; ++r) check.require_rank(r, ranks, program.ranks[r]);
}

} // namespace tutti::runtime
