// Vector clocks (one entry per block of the rank) hold which steps are over when a step is; a wait
// that the clocks already imply is left out.

#include "runtime/lowering/step_order.hpp"

#include <algorithm>
#include <cassert>

namespace tutti::runtime {

RankStepOrder::RankStepOrder(std::vector<Block>& blocks)
    : blocks_(blocks), now_(blocks.size() * blocks.size()), clocks_(blocks.size()) {}

RankStepOrder::Accesses& RankStepOrder::accesses(std::uint32_t cell) {
  if (cell >= cells_.size()) cells_.resize(cell + std::size_t{1});
  return cells_[cell];
}

const std::uint32_t* RankStepOrder::clock(StepAt step) const {
  return clocks_[step.block].data() + step.step * blocks_.size();
}

StepAt RankStepOrder::append(std::uint32_t block, const Step& step,
                             std::span<const std::uint32_t> read,
                             std::span<const std::uint32_t> written,
                             const std::vector<StepAt>& after) {
  waits_.clear();
  add_waits_for(after, block);
  for (const std::uint32_t cell : read) add_waits_for(accesses(cell).writes, block);
  for (const std::uint32_t cell : written) {
    add_waits_for(accesses(cell).writes, block);
    add_waits_for(accesses(cell).reads, block);
  }
  drop_implied();
  Step last = step;
  for (std::size_t w = 0; w < waits_.size(); ++w) {
    const bool own = w + 1 == waits_.size();
    if (own)
      last.after = waits_[w];
    else
      put(block, {StepKind::wait, {}, {}, 0, waits_[w]});
  }
  put(block, last);
  const StepAt at{block, static_cast<std::uint32_t>(blocks_[block].steps.size() - 1)};
  for (const std::uint32_t cell : read) accesses(cell).reads.push_back(at);
  for (const std::uint32_t cell : written) {
    accesses(cell).reads.clear();
    accesses(cell).writes.assign(1, at);
  }
  return at;
}

bool RankStepOrder::is_over(std::uint32_t cell, std::uint32_t block) const {
  if (cell >= cells_.size()) return true;
  const auto is_over = [&](StepAt step) {
    return now_[block * blocks_.size() + step.block] > step.step;
  };
  return std::ranges::all_of(cells_[cell].writes, is_over) &&
         std::ranges::all_of(cells_[cell].reads, is_over);
}

/// The latest of each block, by block.
void RankStepOrder::add_waits_for(const std::vector<StepAt>& steps, std::uint32_t block) {
  for (const StepAt step : steps) {
    if (now_[block * blocks_.size() + step.block] > step.step) continue;
    const auto at = std::ranges::lower_bound(waits_, step.block, {}, &StepAt::block);
    if (at == waits_.end() || at->block != step.block)
      waits_.insert(at, step);
    else
      at->step = std::max(at->step, step.step);
  }
}

void RankStepOrder::drop_implied() {
  if (waits_.size() < 2) return;
  std::erase_if(waits_, [copy = waits_, this](StepAt wait) {
    return std::ranges::any_of(copy, [&](StepAt other) {
      return other.block != wait.block && clock(other)[wait.block] > wait.step;
    });
  });
}

void RankStepOrder::put(std::uint32_t block, Step step) {
  const std::size_t width = blocks_.size();
  std::uint32_t* const now = now_.data() + block * width;
  if (step.after) {
    const std::uint32_t* const awaited = clock(*step.after);
    for (std::size_t b = 0; b < width; ++b) now[b] = std::max(now[b], awaited[b]);
  }
  blocks_[block].steps.push_back(step);
  now[block] = static_cast<std::uint32_t>(blocks_[block].steps.size());
  clocks_[block].insert(clocks_[block].end(), now, now + width);
}

} // namespace tutti::runtime
