#include "runtime/msccl/msccl_form.hpp"

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

constexpr std::array<MscclCollectiveRow, 9> msccl_rows{{
    {CollectiveKind::all_reduce, "allreduce"},
    {CollectiveKind::all_gather, "allgather"},
    {CollectiveKind::reduce_scatter, "reducescatter"},
    {CollectiveKind::all_to_all, "alltoall"},
    {CollectiveKind::broadcast, "broadcast"},
    {CollectiveKind::reduce, "reduce"},
    {CollectiveKind::gather, "gather"},
    {CollectiveKind::scatter, "scatter"},
    {CollectiveKind::custom, "custom"},
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

[[noreturn]] void refuse_size(std::string_view where, std::uint64_t found, std::string_view of_what,
                              std::uint64_t most, std::string_view help) {
  throw InputError(fmt::format("{}: {} {}, and MSCCL's runtimes have {} at most ({})", where, found,
                               of_what, most, help));
}

void require_block_limits(const std::string& where, const Block& block, const MscclLimits& limits) {
  if (block.steps.size() > limits.steps)
    refuse_size(where, block.steps.size(), "steps", limits.steps,
                "fewer chunks or fewer instances would help");
  if (block.channel >= limits.channels)
    refuse_size(where, block.channel + 1, "channels", limits.channels,
                "fewer instances or fewer channels would help");
  for (const Step& step : block.steps) {
    if (step.count > limits.count)
      refuse_size(where, step.count, "units in one step", limits.count, "several steps would help");
    if (std::max(step.source.unit, step.target.unit) > limits.place)
      refuse_size(where, std::max(step.source.unit, step.target.unit), "as the index of a unit",
                  limits.place, "fewer chunks or fewer instances would help");
    if (step.after && step.after->block > limits.waited_block)
      refuse_size(where, step.after->block, "as a block that is waited for", limits.waited_block,
                  "fewer instances or fewer channels would help");
  }
}

} // namespace

std::span<const MscclCollectiveRow> msccl_collectives() { return msccl_rows; }

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
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    const std::vector<Block>& blocks = program.ranks[r].blocks;
    if (blocks.size() > limits.blocks)
      refuse_size(fmt::format("gpu {}", r), blocks.size(), "blocks", limits.blocks,
                  "fewer instances or fewer channels would help");
    std::map<std::uint32_t, std::uint32_t> senders, receivers; // [channel]
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      require_block_limits(fmt::format("gpu {}, block {}", r, b), blocks[b], limits);
      if (blocks[b].sends_to) ++senders[blocks[b].channel];
      if (blocks[b].receives_from) ++receivers[blocks[b].channel];
    }
    for (const auto* peers : {&senders, &receivers})
      for (const auto& [channel, count] : *peers)
        if (count > limits.peers)
          refuse_size(fmt::format("gpu {}, channel {}", r, channel), count,
                      peers == &senders ? "peers to send to" : "peers to receive from",
                      limits.peers, "more channels would help");
  }
}

} // namespace tutti::runtime
