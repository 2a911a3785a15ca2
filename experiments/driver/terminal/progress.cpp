// A bar is drawn over and over on one line of stderr and erased at the end, so that it never mixes
// with results. The first two seconds show nothing: most commands are done by then.
#include "experiments/driver/terminal/progress.hpp"

#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/records/table_form.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <utility>

namespace tutti {

namespace {

constexpr double first_shown_after = 2, seconds_between = 0.1;

std::string bar_text(double fraction) {
  constexpr std::size_t width = 24;
  const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(width));
  std::string bar(filled, '=');
  if (filled < width) bar += '>';
  return bar + std::string(width - bar.size(), ' ');
}

} // namespace

ProgressForm form_on_stderr(bool lines_wanted) {
  if (isatty(STDERR_FILENO) != 0) return ProgressForm::bar;
  return lines_wanted ? ProgressForm::lines : ProgressForm::none;
}

std::string duration_text(double seconds) {
  const auto s = static_cast<std::int64_t>(std::ceil(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ProgressBar::ProgressBar(std::string label, std::ostream& out, bool shown, Clock clock,
                         std::optional<std::size_t> width)
    : label_(std::move(label)), out_(&out), shown_(shown), clock_(std::move(clock)), width_(width),
      start_(clock_()) {}

ProgressBar::ProgressBar(std::string label)
    : ProgressBar(std::move(label), std::cerr, isatty(STDERR_FILENO) != 0, steady_seconds,
                  stderr_width()) {}

ProgressBar::~ProgressBar() { finish(); }

std::optional<double> ProgressBar::due() {
  if (!shown_) return std::nullopt;
  const double now = clock_(), elapsed = now - start_;
  if (elapsed < first_shown_after || (drawn_at_ && now - *drawn_at_ < seconds_between))
    return std::nullopt;
  drawn_at_ = now;
  return elapsed;
}

void ProgressBar::draw(std::string line) {
  if (!words_.empty()) line += "  " + words_;
  if (width_) line = beginning(line, *width_ - std::min<std::size_t>(*width_, 1));
  *out_ << "\r\x1b[K" << line << std::flush; // back to the line's start, erase it
}

void ProgressBar::update() {
  if (const auto elapsed = due())
    draw(fmt::format("{}  {} so far", label_, duration_text(*elapsed)));
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total) {
  if (total == 0) return;
  const auto since_start = due();
  if (!since_start) return;
  const double elapsed = *since_start;
  done = std::min(done, total);
  const double fraction = static_cast<double>(done) / static_cast<double>(total);
  std::string line =
      fmt::format("{}  [{}]  {}/{}  {:.0f} %  {} so far", printable(label_), bar_text(fraction),
                  done, total, std::floor(100 * fraction), duration_text(elapsed));
  if (done > 0 && done < total)
    line += fmt::format(", about {} left", duration_text(elapsed / fraction - elapsed));
  draw(std::move(line));
}

void WorkPace::update(std::uint64_t done, std::uint64_t total) {
  if (done < done_ || total != total_) start_ = clock_();
  done_ = done;
  total_ = total;
}

double WorkPace::rate() const {
  const double seconds = clock_() - start_;
  return seconds > 0 ? static_cast<double>(done_) / seconds : 0;
}

std::string WorkPace::rate_text() const {
  const double per_second = rate();
  if (per_second >= 1e6) return fmt::format("{:.3g} M/s", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.3g} k/s", per_second / 1e3);
  return fmt::format("{:.3g} /s", per_second);
}

std::string WorkPace::count_text(std::string_view unit) const {
  return fmt::format("{}/{}{}, {} %", done_, total_, unit,
                     100 * done_ / std::max<std::uint64_t>(total_, 1));
}

std::string WorkPace::left_text() const {
  const double pace = rate();
  if (pace <= 0 || total_ == 0) return {};
  const std::uint64_t left = total_ - std::min(done_, total_);
  return fmt::format(", about {} left", duration_text(static_cast<double>(left) / pace));
}

void ProgressBar::finish() {
  if (drawn_at_) *out_ << "\r\x1b[K" << std::flush;
  drawn_at_.reset();
}

} // namespace tutti
