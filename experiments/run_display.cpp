#include "experiments/run_display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace tutti {

namespace {

constexpr double seconds_between_lines = 1;

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.3g} M/s", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.3g} k/s", per_second / 1e3);
  return fmt::format("{:.3g} /s", per_second);
}

RunDisplay::Form form_on_stderr(bool lines_wanted) {
  if (isatty(STDERR_FILENO) != 0) return RunDisplay::Form::bar;
  return lines_wanted ? RunDisplay::Form::lines : RunDisplay::Form::none;
}

} // namespace

void SynthesisMeter::update(const SynthesisProgress& progress) {
  if (progress.done < now_.done || progress.total != now_.total) attempt_start_ = clock_();
  now_ = progress;
}

double SynthesisMeter::rate() const {
  const double seconds = clock_() - attempt_start_;
  return seconds > 0 ? static_cast<double>(now_.done) / seconds : 0;
}

std::string SynthesisMeter::pace() const {
  return fmt::format("{}, {}", short_text(now_.reached), rate_text(rate()));
}

std::string SynthesisMeter::line() const {
  const std::uint64_t total = std::max<std::uint64_t>(now_.total, 1);
  std::string text = fmt::format("{}/{} deliveries, {} %, {}", now_.done, now_.total,
                                 100 * now_.done / total, pace());
  if (const double pace = rate(); pace > 0)
    text +=
        fmt::format(", about {} left",
                    duration_text(static_cast<double>(total - std::min(now_.done, total)) / pace));
  return text;
}

RunDisplay::RunDisplay(std::string label, std::size_t cases, Form form, std::ostream& out,
                       ProgressBar::Clock clock)
    : single_(cases == 1), form_(form), out_(&out), clock_(clock),
      bar_(std::move(label), out, form == Form::bar, std::move(clock)), total_(cases) {}

RunDisplay::RunDisplay(std::string label, std::size_t cases, bool lines_wanted)
    : RunDisplay(std::move(label), cases, form_on_stderr(lines_wanted), std::cerr, steady_seconds) {
}

void RunDisplay::finished(std::size_t done, std::size_t total) {
  done_ = done;
  if (!single_) bar_.update(done, total);
}

void RunDisplay::progress(const Case& c, const SynthesisProgress& progress) {
  SynthesisMeter& meter = meters_.try_emplace(&c, clock_).first->second;
  meter.update(progress);
  if (form_ == Form::lines) {
    const double now = clock_();
    if (last_line_ && now - *last_line_ < seconds_between_lines) return;
    last_line_ = now;
    *out_ << fmt::format("tutti: {} {}: {}\n", c.algorithm.name, c.collective.text(), meter.line())
          << std::flush;
  } else if (single_) {
    bar_.say(meter.pace());
    bar_.update(progress.done, progress.total);
  } else {
    bar_.say(fmt::format("{}: {}", c.algorithm.name, meter.pace()));
    bar_.update(done_, total_);
  }
}

RunWatcher RunDisplay::watcher(Interrupts& interrupts) {
  return {[this](std::size_t done, std::size_t total) { finished(done, total); },
          [this](const Case& c, const SynthesisProgress& reached) { progress(c, reached); },
          &interrupts};
}

} // namespace tutti
