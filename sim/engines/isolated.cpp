#include "sim/engines/isolated.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

namespace tutti {

namespace {

/// Plain values and vectors of them, byte for byte: both ends are this very program.
class Writer {
public:
  std::string bytes;
  template <typename T> void value(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  template <typename T> void vector(const std::vector<T>& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(v.size());
    bytes.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
  }
};

class Reader {
public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  template <typename T> void value(T& v) { std::memcpy(&v, take(sizeof v), sizeof v); }
  template <typename T> void vector(std::vector<T>& v) {
    std::size_t size = 0;
    value(size);
    v.resize(size);
    if (size > 0) std::memcpy(v.data(), take(size * sizeof(T)), size * sizeof(T));
  }

private:
  const char* take(std::size_t size) {
    if (bytes_.size() - at_ < size) throw std::runtime_error("the simulation's report is cut off");
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

template <typename Stream, typename Value> void exchange(Stream& stream, Value& report) {
  stream.value(report.model);
  stream.value(report.completion);
  stream.vector(report.links);
  stream.vector(report.chunk_done);
  stream.vector(report.deliveries);
  stream.vector(report.hops);
  stream.value(report.link_transfers);
  stream.vector(report.stuck);
  stream.value(report.quiet);
}

void write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(3);
    done += static_cast<std::size_t>(n);
  }
}

std::string read_all(int fd) {
  std::string bytes;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

constexpr char report_follows = 'r', input_error_follows = 'i', failure_follows = 'f';

[[noreturn]] void be_the_child(int fd, const std::function<Report()>& simulate) {
  for (const int fatal : {SIGABRT, SIGSEGV, SIGFPE, SIGTERM, SIGINT}) std::signal(fatal, SIG_DFL);
  std::string message;
  try {
    const Report report = simulate();
    Writer writer;
    exchange(writer, report);
    message = report_follows + writer.bytes;
  } catch (const InputError& e) {
    message = input_error_follows + std::string(e.what());
  } catch (const std::exception& e) {
    message = failure_follows + std::string(e.what());
  }
  write_all(fd, message);
  _exit(0); // no destructors, no exit handlers: they belong to the parent
}

} // namespace

Report run_isolated(const std::function<Report()>& simulate) {
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
  const std::string message = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (message.empty())
    throw std::runtime_error(
        WIFSIGNALED(status)
            ? fmt::format("the simulation's process died of signal {} ({})", WTERMSIG(status),
                          strsignal(WTERMSIG(status)))
            : fmt::format("the simulation's process ended with status {}", WEXITSTATUS(status)));
  const std::string content = message.substr(1);
  if (message.front() == input_error_follows) throw InputError(content);
  if (message.front() == failure_follows) throw std::runtime_error(content);
  Report report;
  Reader reader(content);
  exchange(reader, report);
  return report;
}

} // namespace tutti
