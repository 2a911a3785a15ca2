// Ctrl-C and SIGTERM as events that are read, so that work can end in good order. The signals are
// blocked meanwhile, here and in child processes, and no handler is needed.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// A second Ctrl-C: stop at once, without a word.
class Interrupted : public std::exception {
public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// While it lives, SIGINT and SIGTERM don't end the process. A signal that is ignored (nohup) stays
/// so. One at a time, before threads are started.
class Interrupts {
public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Becomes readable when a signal has come; for poll(). -1 where none can be read.
  [[nodiscard]] int file() const { return file_; }
  /// How many signals have come by now.
  [[nodiscard]] std::uint64_t count();
  /// For work in this process: whether a signal has come. From then on the next one ends the
  /// process at once, as without this object. Any thread may ask. Costs a system call.
  [[nodiscard]] bool cancels();
  /// Tells a child process, for which interrupt_pending() then holds.
  void pass_on(int child) const;

private:
  sigset_t signals_, mask_before_;
  int file_ = -1;
  std::uint64_t count_ = 0;
  std::mutex one_cancels_;
};

/// How long what was made by the first signal may still be verified and replayed, from when that is
/// known on. One for all of it. One thread at a time.
class GracePeriod {
public:
  /// Whether it is over; `interrupted` begins it.
  [[nodiscard]] bool is_over(bool interrupted);

private:
  std::optional<std::chrono::steady_clock::time_point> since_;
};

/// What is said at once at the first signal: what is being ended, and what another one does. A
/// line.
[[nodiscard]] std::string interrupted_text(std::string_view stage);

/// For a child process that was forked while its parent had Interrupts: whether the parent, or the
/// terminal, has sent one of the signals. Any thread may ask. Costs a system call.
[[nodiscard]] bool interrupt_pending();

/// The exit code of a command that was interrupted, as shells have it for SIGINT.
inline constexpr int interrupted_exit_code = 130;

} // namespace tutti
