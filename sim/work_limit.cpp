// Memory is judged by the peak resident set of the whole process (getrusage), since allocations
// happen inside of solvers too.

#include "sim/work_limit.hpp"

#include <algorithm>
#include <limits>

#include <sys/resource.h>

namespace tutti {

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point deadline_of(const SynthesisOptions& options) {
  if (options.limit_seconds <= 0) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(options.limit_seconds, 1e9)));
}

} // namespace

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024; // Linux counts in KiB
}

WorkLimit::WorkLimit(const SynthesisOptions& options)
    : options_(&options), deadline_(deadline_of(options)) {}

bool WorkLimit::reached() const {
  if (options_ == nullptr) return false;
  return (options_->cancelled && options_->cancelled()) || Clock::now() > deadline_ ||
         (options_->limit_bytes > 0 && peak_rss_bytes() > options_->limit_bytes);
}

double WorkLimit::remaining_seconds() const {
  if (deadline_ == Clock::time_point::max()) return std::numeric_limits<double>::infinity();
  return std::max(0.0, std::chrono::duration<double>(deadline_ - Clock::now()).count());
}

} // namespace tutti
