// A thread of its own, since the one that calls CUDA may be stuck in a call for ever.
#include "runtime/cuda/last_resort.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tutti::runtime {

void end_process(const std::string& why) {
  (void)std::fflush(stdout);
  (void)std::fprintf(stderr, "error: %s\n", why.c_str());
  (void)std::fflush(stderr);
  std::_Exit(EXIT_FAILURE);
}

Patience::Patience(double watchdog_seconds) {
  constexpr double most = 1e9; // s: what the clock can add to now
  without_progress = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(watchdog_seconds, most)));
  to_stop = std::max<Clock::duration>(without_progress, std::chrono::seconds(1));
}

LastResort::LastResort(Clock::time_point deadline, std::function<std::string()> why)
    : deadline_(deadline), why_(std::move(why)), thread_([this] { live(); }) {}

LastResort::~LastResort() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LastResort::put_off(Clock::time_point deadline) {
  const std::scoped_lock lock(mutex_);
  deadline_ = deadline; // an earlier one is found when the thread wakes up for the one before
}

void LastResort::live() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (Clock::now() >= deadline_) end_process(why_());
    wake_.wait_until(lock, deadline_);
  }
}

} // namespace tutti::runtime
