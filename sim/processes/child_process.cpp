// A fork copies this process with one thread: it costs a millisecond or less, more with the memory
// in use (page tables are copied), and takes over whatever other threads were at, locks included.
// Executing a program anew (posix_spawn, which shares memory with its parent until then) costs that
// program's start and takes over nothing but the files that it is meant to.
#include "sim/processes/child_process.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti {

namespace {

NoProcess no_process(int reason) {
  return NoProcess(fmt::format("cannot start a job: {}", std::strerror(reason)));
}

/// The two ends of a connection.
std::array<int, 2> connected() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw no_process(errno);
  return ends;
}

double seconds_in(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

std::size_t thread_count() {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end;
       !error && task != end; task.increment(error))
    ++count;
  return count;
}

} // namespace

std::string ProcessEnd::death() const {
  if (signal != 0)
    return fmt::format("the process was killed by signal {} ({})", signal, ::strsignal(signal));
  if (code != 0) return fmt::format("the process ended with code {}", code);
  return {};
}

ChildProcess::ChildProcess(const std::function<void(int socket)>& body) {
  const std::array<int, 2> ends = connected();
  std::fflush(nullptr); // or the child would print what this process has buffered
  const int parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0) {
    const int reason = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw no_process(reason);
  }
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a parent that is killed leaves no work behind
    if (::getppid() != parent) ::_exit(1);
    ::close(ends[0]);
    // What it throws mustn't run the parent's destructors here: it is a crash of this process.
    [&]() noexcept { body(ends[1]); }();
    ::_exit(0); // no destructors, no exit handlers: they belong to the parent
  }
  ::close(ends[1]);
  socket_ = ends[0];
}

ChildProcess::ChildProcess(const std::string& program, std::span<const std::string> arguments) {
  const std::array<int, 2> ends = connected();
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // Also where both are one number: then the file is no longer closed when the program begins.
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], executed_socket);
  // Signals that this process handles have their default again there; what is ignored or blocked
  // stays so.
  const int failure =
      ::posix_spawn(&process_, program.c_str(), &actions, nullptr, pointers.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failure != 0) {
    process_ = 0;
    ::close(ends[0]);
    throw no_process(failure);
  }
  socket_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (process_ <= 0) return;
  kill();
  (void)end();
}

void ChildProcess::kill() { ::kill(process_, SIGKILL); }

ProcessEnd ChildProcess::end() {
  ::close(socket_);
  int status = 0;
  rusage usage{};
  while (::wait4(process_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  process_ = 0;
  ProcessEnd end;
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  end.cpu_seconds = seconds_in(usage.ru_utime) + seconds_in(usage.ru_stime);
  end.peak_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  return end;
}

void end_with_parent() {
  const int parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

bool has_other_threads() {
  if (thread_count() <= 1) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(1)); // one that was joined just now counts
  return thread_count() > 1;
}

} // namespace tutti
