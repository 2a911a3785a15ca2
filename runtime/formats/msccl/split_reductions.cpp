// RCCL since ROCm 6.0 runs steps that send, receive, copy or reduce, but none that does two of
// these. A step that receives and adds becomes two: the first receives into the target, or into
// scratch where the target holds the value to add to, and the second adds.

#include "runtime/formats/msccl/split_reductions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tutti::runtime {

namespace {

/// One rank's blocks.
class RankSplit {
public:
  RankSplit(const Program& program, std::uint32_t rank, RankProgram& changed)
      : program_(program), rank_(rank), changed_(changed) {}

  void split() {
    const std::vector<Block>& blocks = program_.ranks[rank_].blocks;
    number_steps(blocks);
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      const std::uint32_t aside = scratch_of(blocks[b]);
      std::vector<Step> steps;
      for (Step step : blocks[b].steps) {
        if (step.after) step.after->step = last_[step.after->block][step.after->step];
        if (step.kind == StepKind::receive_reduce_copy)
          append(step, {Buffer::scratch, aside}, steps);
        else
          steps.push_back(step);
      }
      changed_.blocks[b].steps = std::move(steps);
    }
  }

private:
  [[nodiscard]] bool adds_in_place(const Step& step) const {
    return step.kind == StepKind::receive_reduce_copy &&
           alias(program_, rank_, step.source) == alias(program_, rank_, step.target);
  }

  /// [block][step]: where the last part of it will stand.
  void number_steps(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      std::vector<std::uint32_t>& last = last_.emplace_back();
      std::uint32_t next = 0;
      for (const Step& step : block.steps) {
        next += step.kind == StepKind::receive_reduce_copy ? 2 : 1;
        last.push_back(next - 1);
      }
    }
  }

  /// The first of as many new units as the largest step of the block needs.
  std::uint32_t scratch_of(const Block& block) {
    std::uint32_t most = 0;
    for (const Step& step : block.steps)
      if (adds_in_place(step)) most = std::max(most, step.count);
    return std::exchange(changed_.scratch, changed_.scratch + most);
  }

  void append(const Step& step, Place aside, std::vector<Step>& steps) const {
    const bool in_place = adds_in_place(step);
    const Place got = in_place ? aside : step.target;
    steps.push_back({StepKind::receive, {}, got, step.count, step.after});
    steps.push_back(
        {StepKind::reduce, in_place ? aside : step.source, step.target, step.count, std::nullopt});
  }

  const Program& program_;
  std::uint32_t rank_;
  RankProgram& changed_;
  std::vector<std::vector<std::uint32_t>> last_;
};

} // namespace

Program split_reductions(Program program) {
  std::vector<RankProgram> ranks = program.ranks;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) RankSplit(program, r, ranks[r]).split();
  program.ranks = std::move(ranks);
  return program;
}

} // namespace tutti::runtime
