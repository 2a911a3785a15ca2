// Ends the process where a call to CUDA doesn't return: there is nobody else left who could.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tutti::runtime {

/// `error: why` on stderr, exit code 1, and no destructors: they would wait for the GPU.
[[noreturn]] void end_process(const std::string& why);

/// For how long a watchdog waits, and then for kernels that were told to end.
struct Patience {
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds between_looks{20};

  /// Pre: > 0.
  explicit Patience(double watchdog_seconds);
  /// When whoever watches until `deadline` must be through with it, if he gets to it at all.
  [[nodiscard]] Clock::time_point last_after(Clock::time_point deadline) const {
    return deadline + 2 * to_stop;
  }

  Clock::duration without_progress;
  Clock::duration to_stop; ///< blocks look at the stop flag every few milliseconds: 1 s at least
};

/// A thread that ends the process at a deadline, but where that is put off or the scope ends first.
class LastResort {
public:
  using Clock = std::chrono::steady_clock;

  /// `why` is asked by the thread, and calls no CUDA.
  LastResort(Clock::time_point deadline, std::function<std::string()> why);
  ~LastResort();
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

  void put_off(Clock::time_point deadline);

private:
  void live();

  std::mutex mutex_;
  std::condition_variable wake_;
  Clock::time_point deadline_;
  bool over_ = false;
  std::function<std::string()> why_;
  std::thread thread_;
};

} // namespace tutti::runtime
