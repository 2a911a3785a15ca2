// For executors that issue one copy after another from a single thread: blocks take turns, each
// going on until a step waits for one that has not been issued.

#include "runtime/plans/issue_order.hpp"

#include "runtime/executor.hpp"
#include "runtime/hung_run.hpp"

namespace tutti::runtime {

namespace {

class TurnTaker {
public:
  explicit TurnTaker(const Plan& plan)
      : plan_(plan), over_(plan.blocks.size()), received_(plan.blocks.size()),
        sends_(plan.connections.size()), empties_(plan.connections.size()),
        stopped_(plan.blocks.size()) {}

  std::vector<IssuedStep> order() {
    std::size_t before = 0;
    do {
      before = order_.size();
      for (std::uint32_t block = 0; block < plan_.blocks.size(); ++block) advance(block);
    } while (order_.size() != before);
    if (order_.size() != plan_.steps.size())
      throw HungRun("the run hangs: " + waiting_steps(plan_, stopped_));
    return std::move(order_);
  }

private:
  void advance(std::uint32_t block) {
    const PlannedBlock& own = plan_.blocks[block];
    for (; over_[block] < own.steps; ++over_[block]) {
      IssuedStep next{block, own.first_step + over_[block]};
      stopped_[block] = {find_waits(block, next), over_[block]};
      if (stopped_[block].wait != WaitKind::nothing) return;
      const PlannedStep& step = plan_.steps[next.step];
      if (sends(step.kind)) sends_[own.sends].push_back(next.step);
      if (receives(step.kind)) ++received_[block];
      if (step.frees_slot) empties_[own.receives].push_back(next.step);
      order_.push_back(next);
    }
  }

  /// What the step still waits for, if anything; else notes what it has waited for.
  WaitKind find_waits(std::uint32_t block, IssuedStep& next) const {
    const PlannedBlock& own = plan_.blocks[block];
    const PlannedStep& step = plan_.steps[next.step];
    if (step.after_block != nobody) {
      const std::uint32_t other = own.first_block + step.after_block;
      if (over_[other] <= step.after_step) return WaitKind::step;
      next.after = plan_.blocks[other].first_step + step.after_step;
    }
    if (receives(step.kind)) {
      if (sends_[own.receives].size() <= received_[block]) return WaitKind::message;
      next.sent = sends_[own.receives][received_[block]];
    }
    if (sends(step.kind) && step.takes_slot &&
        step.slot_messages >= plan_.connections[own.sends].slots) {
      const std::uint32_t nth = step.slot_messages - plan_.connections[own.sends].slots;
      if (empties_[own.sends].size() <= nth) return WaitKind::slot;
      next.emptied = empties_[own.sends][nth];
    }
    return WaitKind::nothing;
  }

  const Plan& plan_;
  std::vector<std::uint32_t> over_, received_;              // [block]: steps
  std::vector<std::vector<std::uint32_t>> sends_, empties_; // [connection]: the steps that did
  std::vector<Stopped> stopped_;                            // [block]
  std::vector<IssuedStep> order_;
};

} // namespace

std::vector<IssuedStep> issue_order(const Plan& plan) { return TurnTaker(plan).order(); }

} // namespace tutti::runtime
