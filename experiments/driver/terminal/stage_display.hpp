// What those who wait see on stderr of work with several stages: the present one, and how far it
// is; on a terminal drawn over and over, or (`--progress`) as a line every second elsewhere.
//   tutti: direct on torus2d:32x32: reroute on native: 120000/4000000, 3 %, 2 M/s, about 2 s left,
//   at most 0.3 GB
#pragma once

#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/terminal/progress.hpp"
#include "sim/synthesizer.hpp"
#include "sim/watch.hpp"

#include <functional>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace tutti {

inline constexpr double seconds_between_lines = 1;

/// One stage at a time.
class StageMeter {
public:
  explicit StageMeter(ProgressBar::Clock clock) : clock_(clock), pace_(std::move(clock)) {}

  void update(std::string_view stage, const WorkProgress& progress);
  [[nodiscard]] const std::string& stage() const { return stage_; }
  /// `replay on native, 27 M/s, at most 12.8 GB`
  [[nodiscard]] std::string words() const;
  /// `tutti: {label}: replay on native: 120000/4000000, 3 %, 27 M/s, about 1 s left, at most 12.8
  /// GB`, without what nobody knows.
  [[nodiscard]] std::string line(std::string_view label) const;

private:
  [[nodiscard]] std::string memory_text() const;
  ProgressBar::Clock clock_;
  WorkPace pace_;
  std::string stage_;
  WorkProgress now_;
};

/// Whether a line is due: the last one (by the same clock; then now's) is long enough ago.
[[nodiscard]] bool is_line_due(std::optional<double>& last, double now);

class StageDisplay {
public:
  /// `out` must outlive it.
  StageDisplay(std::string label, ProgressForm form, std::ostream& out, ProgressBar::Clock clock);
  /// On stderr, by the steady clock.
  explicit StageDisplay(std::string label, bool lines_wanted = false);

  void update(std::string_view stage, const WorkProgress& progress);
  /// Erases what is drawn, before something else is written there.
  void erase() { bar_.finish(); }
  /// A watch that shows, and never ends anything. Refers to the display.
  [[nodiscard]] StageWatch watch();

private:
  std::string label_;
  ProgressForm form_;
  std::ostream* out_;
  ProgressBar::Clock clock_;
  ProgressBar bar_;
  StageMeter meter_;
  std::optional<double> last_line_;
};

/// Work in this process that Ctrl-C ends in good order. A thread hears of the first signal,
/// whatever the work does meanwhile, and says what is being ended; a second one ends the process.
class InterruptibleWork {
public:
  /// `label` stands before the stages.
  InterruptibleWork(Interrupts& interrupts, std::string label, bool lines_wanted);

  /// The first signal ends the synthesis of these options, and what is done with schedules a second
  /// later. The options must not outlive this.
  void watch(SynthesisOptions& options);
  /// The same announcer (empty: empty), which writes to stderr, on a clean line.
  template <typename... Arguments>
  [[nodiscard]] std::function<void(Arguments...)>
  beside(std::function<void(Arguments...)> announce) {
    if (!announce) return {};
    return [this, announce = std::move(announce)](Arguments... arguments) {
      const std::lock_guard lock(mutex_);
      display_.erase();
      announce(arguments...);
    };
  }
  /// The line is clean from now on.
  void finish() {
    const std::lock_guard lock(mutex_);
    display_.erase();
  }

private:
  bool ends(std::string_view stage, const WorkProgress& progress);
  void listen(const std::stop_token& ended);

  Interrupts& interrupts_;
  std::mutex mutex_; // of what follows
  StageDisplay display_;
  std::string stage_;
  GracePeriod grace_;
  bool interrupted_ = false;
  std::jthread thread_; // the last: it ends before all that it uses
};

} // namespace tutti
