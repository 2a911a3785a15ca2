// Blocks say only in which step they stopped and for what kind of event; peers, channels and
// numbers of messages are reconstructed from the plan.

#include "runtime/hung_run.hpp"

#include <algorithm>

namespace tutti::runtime {

namespace {

constexpr std::size_t most_waits_told = 8;

/// "step 4"
std::string numbered(const std::string& what, std::size_t number) {
  return what + " " + std::to_string(number);
}

/// How many steps of the block before this one receive.
std::uint32_t messages_before(const Plan& plan, const PlannedBlock& block, std::uint32_t step) {
  const auto begin = plan.steps.begin() + block.first_step;
  return static_cast<std::uint32_t>(
      std::count_if(begin, begin + step, [](const PlannedStep& s) { return receives(s.kind); }));
}

std::string awaited(const Plan& plan, const PlannedBlock& block, const Stopped& stopped) {
  const PlannedStep& step = plan.steps[block.first_step + stopped.step];
  switch (stopped.wait) {
  case WaitKind::nothing: break;
  case WaitKind::step:
    return numbered("step", step.after_step) + numbered(" of block", step.after_block);
  case WaitKind::message:
  case WaitKind::arrival: {
    const Connection& from = plan.connections[block.receives];
    return numbered("message", messages_before(plan, block, stopped.step)) +
           numbered(" from rank", from.from) + numbered(" on channel", from.channel) +
           (stopped.wait == WaitKind::arrival ? " to cross its links" : "");
  }
  case WaitKind::slot:
  case WaitKind::link: {
    const Connection& to = plan.connections[block.sends];
    return stopped.wait == WaitKind::link
               ? numbered("the link to rank", to.to) + " to take its message"
               : numbered("a free slot at rank", to.to) + numbered(" on channel", to.channel);
  }
  }
  return "nothing";
}

} // namespace

std::string waiting_steps(const Plan& plan, std::span<const Stopped> stopped) {
  std::string text;
  std::size_t waiting = 0;
  for (std::size_t b = 0; b < stopped.size(); ++b) {
    if (stopped[b].wait == WaitKind::nothing || ++waiting > most_waits_told) continue;
    const PlannedBlock& block = plan.blocks[b];
    const StepKind kind = plan.steps[block.first_step + stopped[b].step].kind;
    text += numbered(text.empty() ? "rank" : "; rank", block.rank) +
            numbered(", block", b - block.first_block) + numbered(", step", stopped[b].step) +
            " (" + std::string(to_text(kind)) + ") waits for " + awaited(plan, block, stopped[b]);
  }
  if (waiting > most_waits_told) text += numbered("; and", waiting - most_waits_told) + " more";
  return text;
}

} // namespace tutti::runtime
