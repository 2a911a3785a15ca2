// Stages come from the thread that works, signals are heard by another one: one mutex for what both
// write.
#include "experiments/driver/terminal/stage_display.hpp"

#include "sim/work_limit.hpp"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <utility>

namespace tutti {

void StageMeter::update(std::string_view stage, const WorkProgress& progress) {
  if (stage != stage_) pace_ = WorkPace(clock_);
  stage_ = stage;
  now_ = progress;
  if (now_.memory == 0) now_.memory = peak_rss_bytes();
  pace_.update(now_.done, now_.total);
}

std::string StageMeter::memory_text() const {
  return fmt::format(", at most {:.2g} GB", static_cast<double>(now_.memory) / 1e9);
}

std::string StageMeter::words() const {
  return now_.total > 0 ? fmt::format("{}, {}{}", stage_, pace_.rate_text(), memory_text())
                        : stage_;
}

std::string StageMeter::line(std::string_view label) const {
  std::string line = fmt::format("tutti: {}{}{}", label, label.empty() ? "" : ": ", stage_);
  if (now_.total > 0)
    line += fmt::format(": {}, {}{}{}", pace_.count_text(""), pace_.rate_text(), pace_.left_text(),
                        memory_text());
  return line + "\n";
}

bool is_line_due(std::optional<double>& last, double now) {
  if (last && now - *last < seconds_between_lines) return false;
  last = now;
  return true;
}

StageDisplay::StageDisplay(std::string label, ProgressForm form, std::ostream& out,
                           ProgressBar::Clock clock)
    : label_(std::move(label)), form_(form), out_(&out), clock_(clock),
      bar_(label_, out, form == ProgressForm::bar, clock), meter_(std::move(clock)) {}

StageDisplay::StageDisplay(std::string label, bool lines_wanted)
    : StageDisplay(std::move(label), form_on_stderr(lines_wanted), std::cerr, steady_seconds) {}

void StageDisplay::update(std::string_view stage, const WorkProgress& progress) {
  if (form_ == ProgressForm::none) return;
  meter_.update(stage, progress);
  if (form_ == ProgressForm::lines) {
    if (is_line_due(last_line_, clock_())) *out_ << meter_.line(label_) << std::flush;
    return;
  }
  bar_.say(meter_.words());
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
