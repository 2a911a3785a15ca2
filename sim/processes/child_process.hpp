// A process that this one starts and that answers on a socket: for what may crash, what is limited
// in memory, what can live once per process (SimGrid's engine), and what must not share a process
// with threads.
#pragma once

#include "sim/error.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace tutti {

/// How a process ended, and what it took.
struct ProcessEnd {
  int signal = 0;              ///< that killed it; 0: none
  int code = 0;                ///< that it ended with, where no signal killed it
  double cpu_seconds = 0;      ///< of it and its children that have ended
  std::int64_t peak_bytes = 0; ///< most memory in use

  /// "the process was killed by signal 11 (Segmentation fault)"; empty: by itself, with code 0.
  [[nodiscard]] std::string death() const;
};

/// No process can be had: "cannot start a job: ...".
class NoProcess : public InputError {
public:
  explicit NoProcess(const std::string& message) : InputError(message) {}
};

/// Dies with the thread that made it, whatever happens to that, and with this object at the latest;
/// what it has started itself as a ChildProcess dies with it in turn.
class ChildProcess {
public:
  /// Forks: runs `body(socket)` in the child, which ends with it and gets an end of file when it
  /// closes. What `body` throws is a crash. Locks that other threads hold stay locked in the child
  /// forever: only where there are no other threads (has_other_threads()). Errors: NoProcess.
  explicit ChildProcess(const std::function<void(int socket)>& body);
  /// Executes the program in this file anew, with these arguments, whatever threads there are; its
  /// socket is its file executed_socket, and it calls end_with_parent() first. Errors: NoProcess.
  ChildProcess(const std::string& program, std::span<const std::string> arguments);
  ~ChildProcess(); ///< kills it where end() hasn't been called
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  static constexpr int executed_socket = 3;

  [[nodiscard]] int socket() const { return socket_; } ///< for poll() and a MessageStream
  /// 0 once it has ended.
  [[nodiscard]] int process() const { return process_; }
  void kill();
  /// Waits for it to end. Once.
  ProcessEnd end();

private:
  int process_ = 0;
  int socket_ = -1;
};

/// For a program that is executed as a ChildProcess: it is killed with its parent.
void end_with_parent();

/// Whether this process has other threads than this one, as Linux counts them. False where nobody
/// knows.
[[nodiscard]] bool has_other_threads();

} // namespace tutti
