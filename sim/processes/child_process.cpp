#include "sim/processes/child_process.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti {

namespace {

std::string death_of(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("the process was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    return fmt::format("the process ended with code {}", WEXITSTATUS(status));
  return {};
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

} // namespace

ChildProcess::ChildProcess(const std::function<void(int socket)>& body) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw InputError(fmt::format("cannot start a job: {}", std::strerror(errno)));
  std::fflush(nullptr); // or the child would print what this process has buffered
  const int parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0) {
    const int reason = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw InputError(fmt::format("cannot start a job: {}", std::strerror(reason)));
  }
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a parent that is killed leaves no work behind
    if (::getppid() != parent) ::_exit(1);
    ::close(ends[0]);
    // What it throws mustn't run the parent's destructors here: it is a crash of this process.
    [&]() noexcept { body(ends[1]); }();
    ::_exit(0);
  }
  ::close(ends[1]);
  socket_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (process_ <= 0) return;
  kill();
  (void)end();
}

bool ChildProcess::read_some(std::string& text) {
  char buffer[65536];
  const ssize_t count = ::read(socket_, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR;
  text.append(buffer, static_cast<std::size_t>(count));
  return count > 0;
}

void ChildProcess::kill() { ::kill(process_, SIGKILL); }

ProcessEnd ChildProcess::end() {
  ::close(socket_);
  int status = 0;
  rusage usage{};
  while (::wait4(process_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return {death_of(status), seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
          std::int64_t{usage.ru_maxrss} * 1024};
}

bool write_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void offer_to_the_kernel() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!::write(file, "500", 3);
  ::close(file);
}

} // namespace tutti
