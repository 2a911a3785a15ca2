// A process forked from this one that answers on a socket: what a crash, a limit of memory or one
// engine per process ask for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tutti {

/// How a process ended, and what it took.
struct ProcessEnd {
  std::string death;           ///< in words; empty: it ended by itself, with code 0
  double cpu_seconds = 0;      ///< of it and its children that have ended
  std::int64_t peak_bytes = 0; ///< most memory in use
};

/// Dies with this process, whatever happens to it, and with this object at the latest.
class ChildProcess {
public:
  /// Runs `body(socket)` in the child, which ends with it and gets an end of file when it closes.
  /// Errors: InputError where no process can be had.
  explicit ChildProcess(const std::function<void(int socket)>& body);
  ~ChildProcess(); ///< kills it where end() hasn't been called
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] int socket() const { return socket_; } ///< for poll(), and for write_all()
  [[nodiscard]] int process() const { return process_; }
  /// Appends what there is, having waited for it; false at the end.
  bool read_some(std::string& text);
  void kill();
  /// Waits for it to end. Once.
  ProcessEnd end();

private:
  int process_ = 0;
  int socket_ = -1;
};

/// Writes to a socket, as long as there is a reader. False where there is none.
bool write_all(int socket, std::string_view text);

/// Where memory is short, the kernel is to end this process rather than others.
void offer_to_the_kernel();

} // namespace tutti
