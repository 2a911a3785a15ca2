#include "runtime/hung_run.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::runtime {

namespace {

constexpr std::size_t most_waits_told = 8;

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
  case WaitKind::step: return fmt::format("step {} of block {}", step.after_step, step.after_block);
  case WaitKind::message:
  case WaitKind::arrival: {
    const Connection& from = plan.connections[block.receives];
    return fmt::format("message {} from rank {} on channel {}{}",
                       messages_before(plan, block, stopped.step), from.from, from.channel,
                       stopped.wait == WaitKind::arrival ? " to cross its links" : "");
  }
  case WaitKind::slot:
  case WaitKind::link: {
    const Connection& to = plan.connections[block.sends];
    return stopped.wait == WaitKind::link
               ? fmt::format("the link to rank {} to take its message", to.to)
               : fmt::format("a free slot at rank {} on channel {}", to.to, to.channel);
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
    text += fmt::format("{}rank {}, block {}, step {} ({}) waits for {}", text.empty() ? "" : "; ",
                        block.rank, b - block.first_block, stopped[b].step, to_text(kind),
                        awaited(plan, block, stopped[b]));
  }
  if (waiting > most_waits_told) text += fmt::format("; and {} more", waiting - most_waits_told);
  return text;
}

} // namespace tutti::runtime
