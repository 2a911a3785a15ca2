#include "sim/processes/isolated.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace tutti {

namespace {

void write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(3);
    done += static_cast<std::size_t>(n);
  }
}

/// Errors: Stopped.
std::string read_all(int fd, const Watch& watch) {
  constexpr int milliseconds_between = 50;
  std::string bytes;
  std::vector<char> buffer(1 << 16);
  while (true) {
    if (watch) {
      if (watch({})) throw Stopped();
      pollfd waits{fd, POLLIN, 0};
      if (poll(&waits, 1, milliseconds_between) <= 0) continue; // nothing yet, or a signal
    }
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

constexpr char report_follows = 'r', input_error_follows = 'i', failure_follows = 'f',
               no_memory = 'm';

[[noreturn]] void be_the_child(int fd, const std::function<std::string()>& simulate) {
  for (const int fatal : {SIGABRT, SIGSEGV, SIGFPE, SIGTERM, SIGINT}) std::signal(fatal, SIG_DFL);
  std::string message;
  try {
    message = report_follows + simulate();
  } catch (const InputError& e) {
    message = input_error_follows + std::string(e.what());
  } catch (const std::bad_alloc&) {
    message = no_memory;
  } catch (const std::exception& e) {
    message = failure_follows + std::string(e.what());
  }
  write_all(fd, message);
  _exit(0); // no destructors, no exit handlers: they belong to the parent
}

/// How the child ended.
int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Of a child that writes to `fd`; kills it where the watch, or reading, throws.
std::string message_of(pid_t child, int fd, const Watch& watch) {
  try {
    std::string message = read_all(fd, watch);
    close(fd);
    return message;
  } catch (...) {
    kill(child, SIGKILL);
    close(fd);
    (void)status_of(child);
    throw;
  }
}

} // namespace

std::string bytes_of_child(const std::function<std::string()>& simulate, const Watch& watch) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::fflush(nullptr); // or the child would print the parent's pending output again
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw std::system_error(error, std::generic_category(), "fork");
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a caller that is killed leaves no work behind
    close(ends[0]);
    be_the_child(ends[1], simulate);
  }
  close(ends[1]);
  const std::string message = message_of(child, ends[0], watch);
  const int status = status_of(child);
  if (message.empty())
    throw std::runtime_error(
        WIFSIGNALED(status)
            ? fmt::format("the work's process died of signal {} ({})", WTERMSIG(status),
                          strsignal(WTERMSIG(status)))
            : fmt::format("the work's process ended with status {}", WEXITSTATUS(status)));
  std::string content = message.substr(1);
  if (message.front() == input_error_follows) throw InputError(content);
  if (message.front() == no_memory) throw std::bad_alloc();
  if (message.front() == failure_follows) throw std::runtime_error(content);
  return content;
}

} // namespace tutti
