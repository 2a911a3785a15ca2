// A WorkLimit for those who ask in every iteration.
#pragma once

#include "sim/work_limit.hpp"

#include <chrono>

namespace tutti {

/// Asks the limit, which costs system calls, every few milliseconds; once reached it stays so.
class LimitWatch {
public:
  /// The limit must outlive this.
  explicit LimitWatch(const WorkLimit& limit) : limit_(&limit) {}

  [[nodiscard]] bool reached() {
    const Clock::time_point now = Clock::now();
    if (!reached_ && now >= next_) {
      reached_ = limit_->reached();
      next_ = now + std::chrono::milliseconds(3);
    }
    return reached_;
  }
  /// For what has nothing to show before its end. Errors: LimitReached.
  void require() {
    if (reached()) throw LimitReached();
  }

private:
  using Clock = std::chrono::steady_clock;

  const WorkLimit* limit_;
  Clock::time_point next_ = Clock::now();
  bool reached_ = false;
};

} // namespace tutti
