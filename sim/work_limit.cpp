// Memory is judged by the peak resident set of the whole process (getrusage), since allocations
// happen inside of solvers too.

#include "sim/work_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include <sys/resource.h>

namespace tutti {

namespace {

/// By the clock of the options, or else the wall clock.
double seconds_now(const SynthesisOptions& options) {
  if (options.clock) return options.clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024; // Linux counts in KiB
}

WorkLimit::WorkLimit(const SynthesisOptions& options) : options_(&options) {
  if (options.limit_seconds > 0) deadline_ = seconds_now(options) + options.limit_seconds;
}

bool WorkLimit::reached() const {
  if (options_ == nullptr) return false;
  return (options_->cancelled && options_->cancelled()) ||
         (deadline_ < std::numeric_limits<double>::infinity() &&
          seconds_now(*options_) > deadline_) ||
         (options_->limit_bytes > 0 && peak_rss_bytes() > options_->limit_bytes / 10 * 9);
}

Watch WorkLimit::watch() const {
  if (options_ == nullptr) return {};
  return [this](const WorkProgress&) {
    require();
    return false;
  };
}

double WorkLimit::remaining_seconds() const {
  if (deadline_ == std::numeric_limits<double>::infinity()) return deadline_;
  return std::max(0.0, deadline_ - seconds_now(*options_));
}

StageWatch stages_within_limit(const SynthesisOptions& options) {
  constexpr double least_more = 5;
  if (options.limit_seconds <= 0) return options.stage;
  SynthesisOptions time;
  time.clock = options.clock;
  const double end =
      seconds_now(time) + options.limit_seconds + std::max(options.limit_seconds / 10, least_more);
  return [time, end, stage = options.stage](std::string_view name, const WorkProgress& progress) {
    return (stage && stage(name, progress)) || seconds_now(time) > end;
  };
}

std::string ended_text(const SynthesisOptions& options, std::string_view stage) {
  const bool by_limit = options.limit_seconds > 0 && !(options.cancelled && options.cancelled());
  return fmt::format(
      fmt::runtime(by_limit ? "the limit leaves no time for {}" : "interrupted in {}"), stage);
}

} // namespace tutti
