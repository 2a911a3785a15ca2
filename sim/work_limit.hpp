// When a synthesis has to stop, and how far it is: the limits of SynthesisOptions in one hand.
#pragma once

#include "sim/synthesizer.hpp"

#include <cstdint>
#include <exception>
#include <limits>
#include <string>
#include <string_view>

namespace tutti {

/// The most memory that this process ever held.
[[nodiscard]] std::int64_t peak_rss_bytes();

/// What WorkLimit::require() throws. Whoever has something to show by then catches it; synthesize()
/// makes of it that there is no schedule yet.
class LimitReached : public std::exception {
public:
  [[nodiscard]] const char* what() const noexcept override { return "the limit was reached"; }
};

/// Starts with its construction. Copies share the options, which must outlive them.
class WorkLimit {
public:
  /// Never reached, and nobody waits.
  WorkLimit() = default;
  explicit WorkLimit(const SynthesisOptions& options);

  /// Whether time or nine tenths of the memory are used up, or the work was cancelled: the last
  /// tenth is for what there is by then. Costs a system call or two.
  [[nodiscard]] bool reached() const;
  /// For replays within a synthesis: asks now and then, and throws LimitReached where reached().
  /// Empty where there is nothing to ask. Refers to this.
  [[nodiscard]] Watch watch() const;
  /// For what has nothing to show before its end. Errors: LimitReached where reached().
  void require() const {
    if (reached()) throw LimitReached();
  }
  /// By the clock of the options; infinite where there is no such limit, 0 where it is used up.
  [[nodiscard]] double remaining_seconds() const;
  /// Whether time goes by another clock than the wall's, which may move on with each question.
  [[nodiscard]] bool is_counted() const { return options_ != nullptr && options_->clock; }
  /// Tells those who wait how far the work is. Costs nothing where nobody waits.
  void report(std::uint64_t done, std::uint64_t total, Time time) const {
    if (reports_ && options_ != nullptr && options_->progress)
      options_->progress({done, total, time});
  }
  /// The same limit, for work beside what reports already.
  [[nodiscard]] WorkLimit silent() const {
    WorkLimit limit = *this;
    limit.reports_ = false;
    return limit;
  }

private:
  const SynthesisOptions* options_ = nullptr;
  double deadline_ = std::numeric_limits<double>::infinity(); ///< by the clock of the options
  bool reports_ = true;
};

/// The limit of what makes a schedule is also one of what is done with it then: verification,
/// replays and bounds are stages within the same seconds, and a tenth (5 at least) more. The
/// options' stages, which then end; from now on.
[[nodiscard]] StageWatch stages_within_limit(const SynthesisOptions& options);
/// Why a stage of such options was ended, of "its replay": by a limit, or whoever interrupted it.
[[nodiscard]] std::string ended_text(const SynthesisOptions& options, std::string_view stage);

} // namespace tutti
