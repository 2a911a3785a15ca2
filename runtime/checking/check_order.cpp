// A run without data: each block goes as far as its waits allow. A step that became possible stays
// possible, so which steps end does not depend on the order, and a step that is left over waits,
// directly or not, for a waiting cycle, which is named.

#include "runtime/checking/check_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tutti::runtime {

namespace {

class DrySimulation {
public:
  DrySimulation(const std::vector<ProgramBlock>& blocks, std::uint32_t slots)
      : blocks_(blocks), slots_(slots), progress_(blocks.size()), waiting_(blocks.size()) {
    first_block_.push_back(0);
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      while (first_block_.size() <= blocks[b].rank) first_block_.push_back(b);
      total_ += blocks[b].block->steps.size();
      ready_.push_back(b);
    }
  }

  ProgramOrder run() {
    ProgramOrder order;
    order.steps.reserve(total_);
    while (!ready_.empty()) {
      const std::uint32_t b = ready_.back();
      ready_.pop_back();
      while (progress_[b].step < blocks_[b].block->steps.size()) {
        const std::uint32_t awaited = waits_for(b);
        if (awaited != no_program_block) {
          waiting_[awaited].push_back(b);
          break;
        }
        order.steps.push_back({b, progress_[b].step});
        pass(b);
      }
    }
    if (order.steps.size() < total_) order.deadlock = cycle();
    return order;
  }

private:
  struct Progress {
    std::uint32_t step = 0, sent = 0, received = 0;
  };

  [[nodiscard]] const Step& next(std::uint32_t b) const {
    return blocks_[b].block->steps[progress_[b].step];
  }

  /// The block that must go on before this one can; no_program_block: it can.
  [[nodiscard]] std::uint32_t waits_for(std::uint32_t b) const {
    const Step& step = next(b);
    if (step.after) {
      const std::uint32_t other = first_block_[blocks_[b].rank] + step.after->block;
      if (progress_[other].step <= step.after->step) return other;
    }
    if (receives(step.kind) && progress_[blocks_[b].sender].sent <= progress_[b].received)
      return blocks_[b].sender;
    if (sends(step.kind) && slots_ != 0 &&
        progress_[b].sent >= progress_[blocks_[b].receiver].received + std::uint64_t{slots_})
      return blocks_[b].receiver;
    return no_program_block;
  }

  void pass(std::uint32_t b) {
    const Step& step = next(b);
    progress_[b].sent += sends(step.kind) ? 1 : 0;
    progress_[b].received += receives(step.kind) ? 1 : 0;
    ++progress_[b].step;
    ready_.insert(ready_.end(), waiting_[b].begin(), waiting_[b].end());
    waiting_[b].clear();
  }

  /// From block to awaited block until one comes again.
  [[nodiscard]] ProgramFault cycle() const {
    std::uint32_t b = 0;
    while (progress_[b].step == blocks_[b].block->steps.size()) ++b;
    std::vector<std::uint32_t> visited;
    while (std::ranges::find(visited, b) == visited.end()) {
      visited.push_back(b);
      b = waits_for(b);
    }
    std::string text;
    for (auto at = std::ranges::find(visited, b); at != visited.end(); ++at)
      text += fmt::format("{} waits for ", program_step_text(blocks_[*at], progress_[*at].step));
    text += program_step_text(blocks_[b], progress_[b].step);
    return {ProgramFault::Kind::deadlock, text};
  }

  const std::vector<ProgramBlock>& blocks_;
  std::uint32_t slots_;
  std::vector<Progress> progress_;
  std::vector<std::vector<std::uint32_t>> waiting_; // [block]: those that wait for it to go on
  std::vector<std::uint32_t> first_block_, ready_;
  std::size_t total_ = 0;
};

} // namespace

ProgramOrder program_order(const std::vector<ProgramBlock>& blocks, std::uint32_t slots) {
  return DrySimulation(blocks, slots).run();
}

} // namespace tutti::runtime
