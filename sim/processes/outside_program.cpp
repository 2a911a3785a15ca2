// Three pipes, all of which are served while one waits for any: a program that writes before it has
// read everything, or that complains at length, would else wait for us as we wait for it. Of its
// complaints the end is kept, since that says why.
#include "sim/processes/outside_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti {

namespace {

constexpr std::size_t most_complaints = 4096;
constexpr std::size_t at_once = 65536;

void pause() {
  constexpr timespec time{0, 5'000'000};
  ::nanosleep(&time, nullptr);
}

/// In the child, where only what is safe in a signal handler may be called.
[[noreturn]] void become(char* const* words, const std::array<int, 3>& files, int parent,
                         std::int64_t limit_bytes, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::setpgid(0, 0);
  for (int file = 0; file < 3; ++file) ::dup2(files[static_cast<std::size_t>(file)], file);
  for (const int handled : {SIGPIPE, SIGINT, SIGTERM}) ::signal(handled, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (limit_bytes > 0) {
    const rlimit limit{static_cast<rlim_t>(limit_bytes), static_cast<rlim_t>(limit_bytes)};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ::execvp(words[0], words);
  const int reason = errno;
  (void)!::write(report, &reason, sizeof reason);
  ::_exit(127);
}

} // namespace

std::array<int, 2> socket_ends(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw ProgramFailure(fmt::format("cannot start a program: {}", std::strerror(errno)));
  return ends;
}

RunningProgram start_program(const std::string& file, std::span<const std::string> arguments,
                             std::int64_t limit_bytes) {
  std::vector<std::string> texts{file};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  const std::array in = socket_ends(SOCK_STREAM), out = socket_ends(SOCK_STREAM),
                   errors = socket_ends(SOCK_STREAM), report = socket_ends(SOCK_STREAM);
  const int parent = ::getpid();
  RunningProgram started{::fork(), in[0], out[0], errors[0]};
  const int no_process = errno;
  if (started.process == 0)
    become(words.data(), {in[1], out[1], errors[1]}, parent, limit_bytes, report[1]);
  for (const auto& ends : {in, out, errors, report}) ::close(ends[1]);
  int reason = started.process < 0 ? no_process : 0;
  if (started.process > 0 && ::read(report[0], &reason, sizeof reason) <= 0) reason = 0;
  ::close(report[0]);
  if (reason == 0) return started;
  close_ends(started);
  if (started.process > 0) ::waitpid(started.process, nullptr, 0);
  throw ProgramFailure(fmt::format("{} can't be started: {}", file, std::strerror(reason)));
}

void close_ends(const RunningProgram& program) {
  for (const int end : {program.in, program.out, program.errors}) ::close(end);
}

void kill_program(const RunningProgram& program) {
  ::kill(-program.process, SIGKILL);
  ::kill(program.process, SIGKILL); // where it hasn't made its group yet
  ::waitpid(program.process, nullptr, 0);
}

std::optional<ProgramEnd> end_of(const RunningProgram& program) {
  siginfo_t end{};
  ::waitid(P_PID, static_cast<id_t>(program.process), &end, WEXITED | WNOWAIT | WNOHANG);
  if (end.si_pid == 0) return std::nullopt;
  return ProgramEnd{end.si_code != CLD_EXITED, end.si_status};
}

OutsideProgram::OutsideProgram(std::string file, std::span<const std::string> arguments,
                               std::int64_t limit_bytes)
    : file_(std::move(file)), owner_(::getpid()),
      is_(start_program(file_, arguments, limit_bytes)) {}

OutsideProgram::OutsideProgram(std::string file, const RunningProgram& lent, int session)
    : file_(std::move(file)), owner_(::getpid()), is_(lent), session_(session) {}

OutsideProgram::~OutsideProgram() {
  close_ends(is_);
  if (session_ >= 0)
    ::close(session_);
  else if (owner_ == ::getpid())
    kill_program(is_);
}

void OutsideProgram::tell(char state) const {
  if (session_ >= 0) (void)::send(session_, &state, 1, MSG_NOSIGNAL);
}

const std::optional<ProgramEnd>& OutsideProgram::ended() {
  if (end_) return end_;
  ProgramEnd end;
  if (session_ < 0)
    end_ = end_of(is_);
  else if (::recv(session_, &end, sizeof end, MSG_DONTWAIT) == sizeof end)
    end_ = end;
  return end_;
}

void OutsideProgram::set_free() const {
  if (said_.empty()) tell('i');
}

void OutsideProgram::read_errors() {
  std::array<char, at_once> buffer;
  const ssize_t count = ::read(is_.errors, buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) {
    ::close(is_.errors);
    is_.errors = -1; // which poll() passes over
    return;
  }
  complaints_.append(buffer.data(), static_cast<std::size_t>(count));
  if (complaints_.size() > most_complaints)
    complaints_.erase(0, complaints_.size() - most_complaints);
}

bool OutsideProgram::exchange(std::string_view& to_send, std::size_t most,
                              const WhileWaiting& ask) {
  constexpr int milliseconds_between = 50;
  std::array<pollfd, 3> waits{pollfd{to_send.empty() ? -1 : is_.in, POLLOUT, 0},
                              pollfd{is_.out, POLLIN, 0}, pollfd{is_.errors, POLLIN, 0}};
  while (true) {
    if (ask) ask();
    const int ready = ::poll(waits.data(), waits.size(), milliseconds_between);
    if (ready > 0) break;
    if (ready == 0 && ended()) return false; // though what it has started may hold its output
  }
  if (waits[2].revents != 0) read_errors();
  if (waits[0].revents != 0) {
    const ssize_t sent =
        ::send(is_.in, to_send.data(), to_send.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) to_send.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EINTR && errno != EAGAIN) return false;
  }
  if (waits[1].revents == 0) return true;
  std::array<char, at_once> buffer;
  const ssize_t count = ::read(is_.out, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR;
  said_.append(buffer.data(), static_cast<std::size_t>(count));
  if (said_.size() > most) {
    ::kill(-is_.process, SIGKILL);
    throw ProgramFailure(fmt::format("{} said more than {} bytes", file_, most));
  }
  return count > 0;
}

void OutsideProgram::send(std::string_view text, const WhileWaiting& ask) {
  constexpr std::size_t most_before_asked = 1U << 20;
  tell('b');
  pollfd unasked{is_.out, POLLIN, 0};
  if (std::string_view nothing; ::poll(&unasked, 1, 0) > 0) (void)exchange(nothing, at_once, ask);
  if (!said_.empty())
    throw ProgramFailure(file_ + " said something unasked: " + said_.substr(0, 60));
  while (!text.empty())
    if (!exchange(text, most_before_asked, ask)) fail("takes no questions any more");
}

std::string OutsideProgram::line(std::size_t most, const WhileWaiting& ask) {
  std::string_view nothing;
  while (true) {
    const std::size_t end = said_.find('\n', searched_);
    if (end != std::string::npos) {
      std::string first = said_.substr(0, end);
      said_.erase(0, end + 1);
      searched_ = 0;
      return first;
    }
    searched_ = said_.size();
    if (!exchange(nothing, most, ask)) fail("ended without an answer");
  }
}

std::string OutsideProgram::rest(std::size_t most, const WhileWaiting& ask) {
  ::shutdown(is_.in, SHUT_WR);
  std::string_view nothing;
  while (exchange(nothing, most, ask)) {
  }
  std::optional<ProgramEnd> end;
  while (!(end = ended())) { // its output is closed, and it goes on
    if (ask) ask();
    pause();
  }
  if (end->by_signal || end->status != 0) fail("failed");
  if (said_.empty()) fail("says nothing");
  return std::exchange(said_, {});
}

double OutsideProgram::cpu_seconds() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(is_.process, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// It may only have closed its output; one that goes on is killed.
void OutsideProgram::fail(const std::string& otherwise) {
  std::optional<ProgramEnd> end;
  constexpr int tries = 100; // what has closed its output mostly is about to end
  for (int i = 0; i < tries && !(end = ended()); ++i) pause();
  while (is_.errors >= 0) {
    pollfd wait{is_.errors, POLLIN, 0};
    if (::poll(&wait, 1, 0) <= 0) break;
    read_errors();
  }
  std::string words = file_ + " " + otherwise;
  if (end && end->by_signal)
    words = fmt::format("{} was killed by signal {} ({})", file_, end->status,
                        ::strsignal(end->status));
  else if (end && end->status != 0)
    words = fmt::format("{} ended with code {}", file_, end->status);
  std::string_view last = complaints_;
  while (!last.empty() && (last.back() == '\n' || last.back() == '\r')) last.remove_suffix(1);
  last = last.substr(last.rfind('\n') + 1); // npos + 1 == 0
  throw ProgramFailure(last.empty() ? words : fmt::format("{}: {}", words, last));
}

} // namespace tutti
