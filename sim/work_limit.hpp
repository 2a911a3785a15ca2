// When a synthesis has to stop, and how far it is: the limits of SynthesisOptions in one hand.
#pragma once

#include "sim/synthesizer.hpp"

#include <cstdint>
#include <exception>
#include <limits>

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

  /// Whether time or memory is used up, or the work was cancelled. Costs a system call or two.
  [[nodiscard]] bool reached() const;
  /// For what has nothing to show before its end. Errors: LimitReached where reached().
  void require() const {
    if (reached()) throw LimitReached();
  }
  /// By the clock of the options; infinite where there is no such limit, 0 where it is used up.
  [[nodiscard]] double remaining_seconds() const;
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

} // namespace tutti
