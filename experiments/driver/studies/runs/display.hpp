// What those who wait see on stderr while cases run: a bar that is drawn over and over on a
// terminal, or (`--progress`) a line every second elsewhere.
//   tacos  [====>        ]  1200000/4000000  30 %  12 s so far, about 28 s left  2.100 ms, 100 k/s
#pragma once

#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/terminal/stage_display.hpp"

#include <cstddef>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tutti {

/// One synthesis at a time, attempt by attempt.
class SynthesisMeter {
public:
  explicit SynthesisMeter(ProgressBar::Clock clock) : pace_(std::move(clock)) {}

  /// Where the synthesis is now.
  void update(const SynthesisProgress& progress);
  /// Simulated time reached and deliveries a second in this attempt: `2.100 ms, 100 k/s`.
  [[nodiscard]] std::string pace() const;
  /// `1200000/4000000 deliveries, 30 %, 2.100 ms, 100 k/s, about 28 s left`
  [[nodiscard]] std::string line() const;

private:
  WorkPace pace_;
  SynthesisProgress now_;
};

/// Draws for one call of run_cases.
class RunDisplay {
public:
  using Form = ProgressForm;

  /// `cases`: their number. The bar shows the deliveries of a single one, or how many are done.
  /// `width`: of a line, as ProgressBar has it.
  RunDisplay(std::string label, std::size_t cases, Form form, std::ostream& out,
             ProgressBar::Clock clock, std::optional<std::size_t> width = {});
  /// On stderr: a bar where that is a terminal, else lines if they are asked for.
  RunDisplay(std::string label, std::size_t cases, bool lines_wanted);

  void finished(std::size_t done, std::size_t total);
  void progress(const Case& c, const SynthesisProgress& progress);
  /// Where a case is when its schedule has been made.
  void stage(const Case& c, const std::string& stage, const WorkProgress& progress);
  /// Says at once which stages are being ended.
  void interrupted(std::span<const Case* const> running);
  /// Calls of all of them, for run_cases. The display must outlive it.
  [[nodiscard]] RunWatcher watcher(Interrupts& interrupts);

private:
  static std::string case_text(const Case& c);
  bool single_;
  Form form_;
  std::ostream* out_;
  ProgressBar::Clock clock_;
  ProgressBar bar_;
  std::map<const Case*, SynthesisMeter> meters_;
  std::map<const Case*, StageMeter> stages_; // as last reported
  std::size_t done_ = 0, total_;
  std::optional<double> last_line_;
};

} // namespace tutti
