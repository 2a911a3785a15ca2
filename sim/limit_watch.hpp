// A WorkLimit for those who ask in every iteration.
#pragma once

#include "sim/work_limit.hpp"

#include <chrono>
#include <cstdint>

namespace tutti {

/// Asks the limit, which costs system calls, every few milliseconds; once reached it stays so. A
/// limit that is counted is asked each time, so that it ends the work at the same place everywhere.
class LimitWatch {
public:
  /// The limit must outlive this. It ends after so many questions, whatever the limit says.
  explicit LimitWatch(const WorkLimit& limit, std::uint64_t most_questions = UINT64_MAX)
      : limit_(&limit), most_questions_(most_questions) {}

  [[nodiscard]] bool reached() {
    if (reached_ || questions_ >= most_questions_) return true;
    ++questions_;
    if (limit_->is_counted()) return reached_ = limit_->reached();
    const Clock::time_point now = Clock::now();
    if (now >= next_) {
      reached_ = limit_->reached();
      next_ = now + std::chrono::milliseconds(3);
    }
    return reached_;
  }
  /// That were answered with "go on", but for one.
  [[nodiscard]] std::uint64_t questions() const { return questions_; }
  /// For what has nothing to show before its end. Errors: LimitReached.
  void require() {
    if (reached()) throw LimitReached();
  }

private:
  using Clock = std::chrono::steady_clock;

  const WorkLimit* limit_;
  std::uint64_t most_questions_, questions_ = 0;
  Clock::time_point next_ = Clock::now();
  bool reached_ = false;
};

} // namespace tutti
