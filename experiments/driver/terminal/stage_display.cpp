// Stages come from the thread that works, signals are heard by another one: one mutex for what both
// write.
#include "experiments/driver/terminal/stage_display.hpp"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <utility>

namespace tutti {

std::optional<std::string> stage_line(std::optional<double>& last, double now,
                                      std::string_view label, std::string_view stage,
                                      const WorkProgress& progress) {
  if (last && now - *last < seconds_between_lines) return std::nullopt;
  last = now;
  std::string line = fmt::format("tutti: {}{}{}", label, label.empty() ? "" : ": ", stage);
  if (progress.total > 0)
    line += fmt::format(": {}/{}, {} %", progress.done, progress.total,
                        100 * progress.done / progress.total);
  return line + "\n";
}

StageDisplay::StageDisplay(std::string label, ProgressForm form, std::ostream& out,
                           ProgressBar::Clock clock)
    : label_(std::move(label)), form_(form), out_(&out), clock_(clock),
      bar_(label_, out, form == ProgressForm::bar, std::move(clock)) {}

StageDisplay::StageDisplay(std::string label, bool lines_wanted)
    : StageDisplay(std::move(label), form_on_stderr(lines_wanted), std::cerr, steady_seconds) {}

void StageDisplay::update(std::string_view stage, const WorkProgress& progress) {
  if (form_ == ProgressForm::lines) {
    if (const auto line = stage_line(last_line_, clock_(), label_, stage, progress))
      *out_ << *line << std::flush;
    return;
  }
  bar_.say(std::string(stage));
  if (progress.total > 0)
    bar_.update(progress.done, progress.total);
  else
    bar_.update();
}

StageWatch StageDisplay::watch() {
  return [this](std::string_view stage, const WorkProgress& progress) {
    update(stage, progress);
    return false;
  };
}

InterruptibleWork::InterruptibleWork(Interrupts& interrupts, std::string label, bool lines_wanted)
    : interrupts_(interrupts), display_(std::move(label), lines_wanted),
      thread_([this](const std::stop_token& ended) { listen(ended); }) {}

void InterruptibleWork::watch(SynthesisOptions& options) {
  options.cancelled = [this] { return interrupts_.cancels(); };
  options.stage = [this](std::string_view stage, const WorkProgress& progress) {
    return ends(stage, progress);
  };
}

bool InterruptibleWork::ends(std::string_view stage, const WorkProgress& progress) {
  const std::lock_guard lock(mutex_);
  if (stage_ != stage) stage_ = stage;
  if (!interrupted_) display_.update(stage, progress);
  return grace_.is_over(interrupted_);
}

void InterruptibleWork::listen(const std::stop_token& ended) {
  constexpr auto between = std::chrono::milliseconds(50);
  while (!ended.stop_requested() && !interrupts_.cancels()) std::this_thread::sleep_for(between);
  if (!ended.stop_requested()) {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    display_.erase();
    std::cerr << interrupted_text(stage_) << std::flush;
  }
  while (!ended.stop_requested())
    std::this_thread::sleep_for(between); // the next one isn't blocked
}

} // namespace tutti
