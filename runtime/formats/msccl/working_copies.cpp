// ncclize lets ranks combine into their input; in place, custom collectives have one buffer. Both
// are programs over memory that starts as the input, which scratch can be, too.

#include "runtime/formats/msccl/working_copies.hpp"

#include <algorithm>
#include <utility>

namespace tutti::runtime {

namespace {

/// One rank, with scratch that plays the input and, with `both`, the output.
class CopiedRank {
public:
  CopiedRank(const RankProgram& rank, bool both) : made_(rank), both_(both), base_(rank.scratch) {
    made_.scratch += both ? std::max(rank.input, rank.output) : rank.input;
  }

  RankProgram copied() {
    const auto blocks = static_cast<std::uint32_t>(made_.blocks.size());
    const bool waits = made_.input > 0;
    for (Block& block : made_.blocks) move(block, waits ? 1 : 0);
    if (waits) {
      for (Block& block : made_.blocks)
        block.steps.insert(block.steps.begin(), {StepKind::wait, {}, {}, 0, StepAt{blocks, 0}});
      made_.blocks.push_back(
          {{},
           {},
           0,
           {{StepKind::copy, {Buffer::input, 0}, {Buffer::scratch, base_}, made_.input, {}}}});
    }
    if (both_ && made_.output > 0) copy_back();
    return std::move(made_);
  }

private:
  void move(Block& block, std::uint32_t later) const {
    for (Step& step : block.steps) {
      if (step.after) step.after->step += later;
      if (reads_source(step.kind)) move(step.source);
      if (writes_target(step.kind)) move(step.target);
    }
  }

  void move(Place& place) const {
    if (place.buffer == Buffer::scratch || (place.buffer == Buffer::output && !both_)) return;
    place = {Buffer::scratch, base_ + place.unit};
  }

  void copy_back() {
    Block back;
    for (std::uint32_t b = 0; b < made_.blocks.size(); ++b)
      if (const std::size_t steps = made_.blocks[b].steps.size(); steps > 0)
        back.steps.push_back(
            {StepKind::wait, {}, {}, 0, StepAt{b, static_cast<std::uint32_t>(steps - 1)}});
    back.steps.push_back(
        {StepKind::copy, {Buffer::scratch, base_}, {Buffer::output, 0}, made_.output, {}});
    made_.blocks.push_back(std::move(back));
  }

  RankProgram made_;
  bool both_;
  std::uint32_t base_;
};

Program on_copies(const Program& program, bool both) {
  Program made = program;
  made.in_place = false;
  for (RankProgram& rank : made.ranks) rank = CopiedRank(rank, both).copied();
  return made;
}

} // namespace

Program on_copies_of_inputs(const Program& program) { return on_copies(program, false); }

Program on_copies_of_both(const Program& program) { return on_copies(program, true); }

} // namespace tutti::runtime
