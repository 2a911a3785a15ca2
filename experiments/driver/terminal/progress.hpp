// A progress bar for anything over two seconds, silent where the output isn't a terminal:
//   fig02  [==========>             ]  7/16  43 %  9 s so far, about 12 s left
// What runs may add a few words of its own at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

/// How progress shows: not at all, as a bar on a terminal, or as lines elsewhere.
enum class ProgressForm : std::uint8_t { none, bar, lines };
/// A bar where stderr is a terminal; else lines, if they are wanted.
[[nodiscard]] ProgressForm form_on_stderr(bool lines_wanted);

/// Draws over its own line; the line is erased at the end, so that results stand alone.
class ProgressBar {
public:
  /// Seconds since any fixed point, never falling.
  using Clock = std::function<double()>;

  /// `shown` false: never writes. `out` must outlive the bar.
  /// `width`: of a line in cells, which nothing that is drawn exceeds; none: any.
  ProgressBar(std::string label, std::ostream& out, bool shown, Clock clock,
              std::optional<std::size_t> width = {});
  /// On stderr, shown where that is a terminal, by the steady clock.
  explicit ProgressBar(std::string label);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` of `total` units are finished. Cheap and welcome to be called often, with equal values
  /// too: draws at most ten times a second, first two seconds after the start. The time left
  /// supposes that units take equally long; it isn't shown before the first is done.
  void update(std::uint64_t done, std::uint64_t total);
  /// The same where nobody knows how far it is: the words and the time so far, without a bar.
  void update();
  /// Words for the end of the line, shown from the next update on.
  void say(std::string words) { words_ = std::move(words); }

  /// Erases the line. Idempotent; the destructor does it too.
  void finish();

private:
  /// Whether a line is due; how many seconds have passed.
  std::optional<double> due();
  void draw(std::string line);
  std::string label_, words_;
  std::ostream* out_;
  bool shown_;
  Clock clock_;
  std::optional<std::size_t> width_;
  double start_;
  std::optional<double> drawn_at_; ///< when last drawn; empty while no line is on the screen
};

/// How fast work goes that is done in attempts or stages, one after another.
class WorkPace {
public:
  explicit WorkPace(ProgressBar::Clock clock) : clock_(std::move(clock)), start_(clock_()) {}

  /// Less done than before, or another number in all, mean that something else has begun.
  void update(std::uint64_t done, std::uint64_t total);
  /// `100 k/s`
  [[nodiscard]] std::string rate_text() const;
  /// `1200000/4000000{unit}, 30 %`
  [[nodiscard]] std::string count_text(std::string_view unit) const;
  /// `, about 28 s left`; empty where nobody knows.
  [[nodiscard]] std::string left_text() const;

private:
  [[nodiscard]] double rate() const; ///< a second
  ProgressBar::Clock clock_;
  double start_;
  std::uint64_t done_ = 0, total_ = 0;
};

/// `12 s`, `3 min 05 s`, `2 h 10 min`, rounded up.
[[nodiscard]] std::string duration_text(double seconds);
/// The steady clock.
[[nodiscard]] double steady_seconds();

} // namespace tutti
