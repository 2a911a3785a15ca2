// Another program as a process of its own that has to end in time: what hangs, crashes or breaks
// the GPU's driver takes nothing with it.
#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace tutti::gpu {

/// How a process ended.
struct ProcessEnd {
  int code = -1;  ///< -1: it didn't end by itself
  int signal = 0; ///< that killed it; 0: none
  bool in_time = true;
  bool interrupted = false; ///< because this process was
  bool gone = true;         ///< false: not even SIGKILL ends it
  double seconds = 0, limit_seconds = 0;

  [[nodiscard]] bool well() const { return code == 0 && in_time && !interrupted; }
  /// "ended with code 1", "was killed by signal 11 (Segmentation fault)", "was cut off
  /// at the limit, after 60 s".
  [[nodiscard]] std::string told() const;
};

/// While it lives, SIGINT, SIGTERM and SIGHUP don't end this process, but the processes that it
/// runs; nor does SIGPIPE. A signal that is ignored (nohup) stays so. One at a time, in a process
/// of one thread.
class EndingSignals {
public:
  EndingSignals();
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

  /// Whether one has come. From then on the next one ends this process at once.
  [[nodiscard]] bool came();

  /// Runs a program, whose output goes to the end of a file, with SIGTERM and then SIGKILL to it
  /// and all that it started at the deadline, or when a signal comes. What it started and left
  /// behind is killed, and all of it where this process is. Environment: TUTTI_REQUIRE_GPU=1.
  /// Errors: InputError where no process can be had, or the file can't be written. A
  /// program that can't be started ends with code 127 and says why in its output.
  ProcessEnd run(const std::vector<std::string>& words, std::chrono::milliseconds limit,
                 const std::string& output_file);

private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool wait_until(int process, Clock::time_point deadline, bool heed_signals);
  void take(int signal, int process);
  void end_group(int process, ProcessEnd& end);

  sigset_t signals_, mask_before_;
  bool came_ = false;
};

} // namespace tutti::gpu
