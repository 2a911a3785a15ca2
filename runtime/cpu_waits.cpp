#include "runtime/cpu_waits.hpp"

#include "runtime/executor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::runtime {

namespace {

constexpr std::size_t most_named_waits = 8;

/// Messages of the block's connection that this step comes after.
std::uint32_t received_before(const Plan& plan, const PlannedBlock& block, std::uint32_t step) {
  std::uint32_t count = 0;
  for (std::uint32_t s = 0; s < step; ++s)
    count += receives(plan.steps[block.first_step + s].kind) ? 1U : 0U;
  return count;
}

std::string wait_text(const Plan& plan, std::uint32_t b, StepWait wait) {
  const PlannedBlock& block = plan.blocks[b];
  const PlannedStep& step = plan.steps[block.first_step + wait.step];
  const std::string who = fmt::format("rank {}, block {}, step {} ({}): waits for ", block.rank,
                                      b - block.first_block, wait.step, to_text(step.kind));
  switch (wait.what) {
  case StepWait::For::step:
    return who + fmt::format("block {}, step {}", step.after_block, step.after_step);
  case StepWait::For::message:
    return who + fmt::format("message {} from rank {}", received_before(plan, block, wait.step),
                             plan.connections[block.receives].from);
  case StepWait::For::slot: break;
  }
  return who +
         fmt::format("rank {} to receive what it has been sent", plan.connections[block.sends].to);
}

/// Performs steps as their waits allow, without data.
class StepOrder {
public:
  explicit StepOrder(const Plan& plan)
      : plan_(plan), done_(plan.blocks.size()), sent_(plan.connections.size()),
        got_(plan.connections.size()), emptied_(plan.connections.size()) {}

  std::vector<std::uint32_t> order() {
    std::vector<std::uint32_t> found;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t b = 0; b < plan_.blocks.size(); ++b)
        for (; done_[b] < plan_.blocks[b].steps && !waits(b); moved = true) {
          perform(b);
          found.push_back(b);
        }
    }
    if (found.size() < plan_.steps.size()) throw HungRun(hung_text(plan_, all_waits()));
    return found;
  }

private:
  std::optional<StepWait> waits(std::uint32_t b) const {
    const PlannedBlock& block = plan_.blocks[b];
    const PlannedStep& step = plan_.steps[block.first_step + done_[b]];
    if (step.after_block != nobody &&
        done_[block.first_block + step.after_block] <= step.after_step)
      return StepWait{done_[b], StepWait::For::step};
    if (receives(step.kind) && got_[block.receives] == sent_[block.receives])
      return StepWait{done_[b], StepWait::For::message};
    if (step.takes_slot &&
        step.slot_messages >= emptied_[block.sends] + plan_.connections[block.sends].slots)
      return StepWait{done_[b], StepWait::For::slot};
    return std::nullopt;
  }

  void perform(std::uint32_t b) {
    const PlannedBlock& block = plan_.blocks[b];
    const PlannedStep& step = plan_.steps[block.first_step + done_[b]++];
    if (receives(step.kind)) ++got_[block.receives];
    if (step.frees_slot) ++emptied_[block.receives];
    if (sends(step.kind)) ++sent_[block.sends];
  }

  std::vector<std::optional<StepWait>> all_waits() const {
    std::vector<std::optional<StepWait>> found(plan_.blocks.size());
    for (std::uint32_t b = 0; b < plan_.blocks.size(); ++b)
      if (done_[b] < plan_.blocks[b].steps) found[b] = waits(b);
    return found;
  }

  const Plan& plan_;
  std::vector<std::uint32_t> done_;                 // [block]: steps
  std::vector<std::uint32_t> sent_, got_, emptied_; // [connection]: messages
};

} // namespace

std::string hung_text(const Plan& plan, const std::vector<std::optional<StepWait>>& waits) {
  std::string text = "the run hangs";
  std::size_t named = 0, all = 0;
  for (std::uint32_t b = 0; b < waits.size(); ++b) {
    if (!waits[b]) continue;
    if (++all > most_named_waits) continue;
    ++named;
    text += "\n  " + wait_text(plan, b, *waits[b]);
  }
  if (all > named) text += fmt::format("\n  and {} more", all - named);
  return text;
}

std::vector<std::uint32_t> order_of_steps(const Plan& plan) { return StepOrder(plan).order(); }

} // namespace tutti::runtime
