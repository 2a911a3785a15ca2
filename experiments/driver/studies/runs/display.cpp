// A synthesis may take an hour and say nothing meanwhile: this is where its progress becomes
// visible, and the one place that decides between a bar, lines and silence. It writes to stderr
// only.
#include "experiments/driver/studies/runs/display.hpp"

#include "experiments/driver/records/table_form.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <utility>

namespace tutti {

void SynthesisMeter::update(const SynthesisProgress& progress) {
  now_ = progress;
  pace_.update(progress.done, progress.total);
}

std::string SynthesisMeter::pace() const {
  return fmt::format("{}, {}", short_text(now_.reached), pace_.rate_text());
}

std::string SynthesisMeter::line() const {
  return fmt::format("{}, {}{}", pace_.count_text(" deliveries"), pace(), pace_.left_text());
}

RunDisplay::RunDisplay(std::string label, std::size_t cases, Form form, std::ostream& out,
                       ProgressBar::Clock clock, std::optional<std::size_t> width)
    : single_(cases == 1), form_(form), out_(&out), clock_(clock),
      bar_(std::move(label), out, form == Form::bar, std::move(clock), width), total_(cases) {}

RunDisplay::RunDisplay(std::string label, std::size_t cases, bool lines_wanted)
    : RunDisplay(std::move(label), cases, form_on_stderr(lines_wanted), std::cerr, steady_seconds,
                 stderr_width()) {}

void RunDisplay::finished(std::size_t done, std::size_t total) {
  done_ = done;
  if (!single_) bar_.update(done, total);
}

void RunDisplay::progress(const Case& c, const SynthesisProgress& progress) {
  SynthesisMeter& meter = meters_.try_emplace(&c, clock_).first->second;
  meter.update(progress);
  if (form_ == Form::lines) {
    if (!is_line_due(last_line_, clock_())) return;
    *out_ << fmt::format("tutti: {}: {}\n", case_text(c), meter.line()) << std::flush;
  } else if (single_) {
    bar_.say(meter.pace());
    bar_.update(progress.done, progress.total);
  } else {
    bar_.say(fmt::format("{}: {}", c.algorithm.name, meter.pace()));
    bar_.update(done_, total_);
  }
}

void RunDisplay::stage(const Case& c, const std::string& stage, const WorkProgress& progress) {
  StageMeter& meter = stages_.try_emplace(&c, clock_).first->second;
  meter.update(stage, progress);
  if (form_ == Form::lines) {
    if (is_line_due(last_line_, clock_())) *out_ << meter.line(case_text(c)) << std::flush;
    return;
  }
  bar_.say(single_ ? meter.words() : fmt::format("{}: {}", c.algorithm.name, meter.words()));
  if (!single_)
    bar_.update(done_, total_);
  else if (progress.total > 0)
    bar_.update(progress.done, progress.total);
  else
    bar_.update();
}

// After Ctrl-C a synthesis may need seconds to stop: this says at once that it was heard.
void RunDisplay::interrupted(std::span<const Case* const> running) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> texts;
  for (const Case* c : running.first(std::min(running.size(), most_named))) {
    const auto stage = stages_.find(c);
    texts.push_back(fmt::format("{}, {}", c->algorithm.name,
                                stage == stages_.end() ? "synthesis" : stage->second.stage()));
  }
  if (running.size() > most_named)
    texts.push_back(fmt::format("{} more", running.size() - most_named));
  bar_.finish();
  *out_ << interrupted_text(joined(texts, "; ")) << std::flush;
}

std::string RunDisplay::case_text(const Case& c) {
  return fmt::format("{} {}", c.algorithm.name, c.collective.text());
}

RunWatcher RunDisplay::watcher(Interrupts& interrupts) {
  return {
      .finished = [this](std::size_t done, std::size_t total) { finished(done, total); },
      .progress = [this](const Case& c, const SynthesisProgress& reached) { progress(c, reached); },
      .stage = [this](const Case& c, const std::string& words,
                      const WorkProgress& reached) { stage(c, words, reached); },
      .interrupted = [this](std::span<const Case* const> running) { interrupted(running); },
      .interrupts = &interrupts};
}

} // namespace tutti
