// Programs from outside that outlive the process that asks them: an interpreter and what it loads
// may take a second to start, and each of a thousand cases is a process of its own.
#pragma once

#include "sim/processes/child_process.hpp"
#include "sim/processes/outside_program.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tutti {

/// Lends programs to this process and to whatever it forks. One that is given back free is lent
/// again; one that is given back at work is killed. All end with this object, or with the thread
/// that made it.
class ProgramKeeper {
public:
  ProgramKeeper() = default;
  ~ProgramKeeper();
  ProgramKeeper(const ProgramKeeper&) = delete;
  ProgramKeeper& operator=(const ProgramKeeper&) = delete;

  /// Once, before what borrows from it is forked. Pre: there are no other threads. Errors:
  /// NoProcess, ProgramFailure.
  void start();
  /// A free one that was started so, or a new one; null where the keeper hasn't been started.
  /// Errors: ProgramFailure.
  [[nodiscard]] std::unique_ptr<OutsideProgram>
  lend(const std::string& file, std::span<const std::string> arguments, std::int64_t limit_bytes);

private:
  int requests_ = -1;
  std::unique_ptr<ChildProcess> process_;
};

} // namespace tutti
