// Each process leads a group of its own, so that one call ends it with all that it started. Only
// signals and one wait are used, no thread: bare machines may have old kernels, and a process with
// threads can't fork in safety.
#include "gpu/benchmark_run/process.hpp"

#include "gpu/text.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::gpu {

namespace {

/// For a process to end by itself when told to, and for the kernel to end it where it doesn't.
constexpr std::chrono::milliseconds grace{2000}, time_to_die{10'000};

constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP};

bool is_ending(int signal) { return std::ranges::find(ending, signal) != std::end(ending); }

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

timespec left_until(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::max(std::chrono::nanoseconds(0),
                             std::chrono::nanoseconds(deadline - std::chrono::steady_clock::now()));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((left - seconds).count())};
}

[[noreturn]] void become(const std::vector<std::string>& words, int output, int parent,
                         const sigset_t& mask) {
  (void)::setpgid(0, 0);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  (void)::sigprocmask(SIG_SETMASK, &mask, nullptr);
  (void)::dup2(output, STDOUT_FILENO);
  (void)::dup2(output, STDERR_FILENO);
  if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0)
    (void)::dup2(nothing, STDIN_FILENO);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the process has one thread
  (void)::setenv("TUTTI_REQUIRE_GPU", "1", 1);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  (void)::execvp(arguments.front(), arguments.data());
  (void)std::fprintf(stderr, "error: %s can't be started: %s\n", arguments.front(),
                     std::strerror(errno));
  ::_exit(127);
}

} // namespace

std::string ProcessEnd::told() const {
  if (!gone) return "doesn't end, though killed: the GPU's driver holds it";
  if (!in_time) return "was cut off at the limit, after " + seconds_text(limit_seconds);
  if (interrupted) return "was interrupted";
  if (signal != 0)
    return "was killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  return "ended with code " + std::to_string(code);
}

EndingSignals::EndingSignals() {
  (void)std::signal(SIGCHLD, SIG_DFL); // ignored, it would let nobody wait for a process
  (void)::sigemptyset(&signals_);
  (void)::sigaddset(&signals_, SIGCHLD);
  (void)::sigaddset(&signals_, SIGPIPE); // who reads what is printed may be gone
  for (const int signal : ending)
    if (!is_ignored(signal)) (void)::sigaddset(&signals_, signal);
  (void)::sigprocmask(SIG_BLOCK, &signals_, &mask_before_);
}

EndingSignals::~EndingSignals() {
  const timespec at_once{};
  while (::sigtimedwait(&signals_, nullptr, &at_once) > 0) {
  } // what has come is dealt with
  (void)::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

/// The first one counts; the second ends this process, and the other if there is one.
void EndingSignals::take(int signal, int process) {
  if (!std::exchange(came_, true)) return;
  if (process != 0) (void)::kill(-process, SIGKILL);
  (void)std::signal(signal, SIG_DFL);
  (void)::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  (void)::raise(signal);
}

bool EndingSignals::came() {
  const timespec at_once{};
  for (int signal = 0; (signal = ::sigtimedwait(&signals_, nullptr, &at_once)) > 0;)
    if (is_ending(signal)) take(signal, 0);
  return came_;
}

/// Whether the process has ended by then; it is left for waitpid(). Signals end the wait.
bool EndingSignals::wait_until(int process, Clock::time_point deadline, bool heed_signals) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == process)
      return true;
    if (Clock::now() >= deadline) return false;
    const timespec left = left_until(deadline);
    const int signal = ::sigtimedwait(&signals_, nullptr, &left);
    if (!is_ending(signal)) continue; // the process, or nothing
    take(signal, process);
    if (heed_signals) return false;
  }
}

/// Of a process that has to end.
void EndingSignals::end_group(int process, ProcessEnd& end) {
  (void)::kill(-process, SIGTERM);
  if (wait_until(process, Clock::now() + grace, false)) return;
  (void)::kill(-process, SIGKILL);
  end.gone = wait_until(process, Clock::now() + time_to_die, false);
}

ProcessEnd EndingSignals::run(const std::vector<std::string>& words,
                              std::chrono::milliseconds limit, const std::string& output_file) {
  const int output = ::open(output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (output < 0) throw InputError(output_file + ": cannot write: " + std::strerror(errno));
  (void)std::fflush(nullptr); // or the child would print what this process has buffered
  const auto begin = Clock::now();
  const int parent = ::getpid();
  const int process = ::fork();
  if (process == 0) become(words, output, parent, mask_before_);
  const int reason = errno;
  (void)::close(output);
  if (process < 0) throw InputError(std::string("no process can be had: ") + std::strerror(reason));
  (void)::setpgid(process, process); // whoever of the two is first

  ProcessEnd end;
  end.limit_seconds = std::chrono::duration<double>(limit).count();
  if (!wait_until(process, begin + limit, true)) {
    end.interrupted = came_;
    end.in_time = came_;
    end_group(process, end);
  }
  (void)::kill(-process, SIGKILL); // what it left behind
  end.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  int status = 0;
  if (!end.gone || ::waitpid(process, &status, 0) != process) return end;
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

} // namespace tutti::gpu
