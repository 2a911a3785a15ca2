// Each process leads a group of its own, so that one call ends it with all that it started. It is
// asked for every few milliseconds: with neither threads nor blocked signals, little can go wrong.
#include "gpu/benchmark_run/process.hpp"

#include "gpu/text.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::gpu {

namespace {

using Clock = std::chrono::steady_clock;

/// How long a process may take to end when asked to, and the kernel to end it where it doesn't.
constexpr std::chrono::milliseconds grace{2000}, time_to_die{10'000};

volatile std::sig_atomic_t interrupted = 0;

/// Whether it ends by then. It is left for waitpid().
bool ends_by(int process, Clock::time_point deadline, bool heeds_interrupts) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == process)
      return true;
    if (Clock::now() >= deadline || (heeds_interrupts && was_interrupted())) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

[[noreturn]] void become(const std::vector<std::string>& command, int output, int parent) {
  (void)::setpgid(0, 0);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  (void)std::signal(SIGPIPE, SIG_DFL);
  (void)::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  (void)::dup2(output, STDOUT_FILENO);
  (void)::dup2(output, STDERR_FILENO);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the process has one thread
  (void)::setenv("TUTTI_REQUIRE_GPU", "1", 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  (void)::execvp(arguments.front(), arguments.data());
  (void)std::fprintf(stderr, "error: %s can't be started: %s\n", arguments.front(),
                     std::strerror(errno));
  ::_exit(127);
}

/// The last of a text, in one line.
std::string last_of(std::string text) {
  constexpr std::size_t most = 500;
  text.erase(text.find_last_not_of(" \n") + 1);
  if (text.size() > most) text.replace(0, text.size() - most, "...");
  std::ranges::replace(text, '\n', ' ');
  return text;
}

} // namespace

void note_interrupts() {
  interrupted = 0;
  (void)std::signal(SIGCHLD, SIG_DFL); // ignored, it would let nobody wait for a process
  (void)std::signal(SIGPIPE, SIG_IGN); // who reads what is printed may be gone
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {
    }, noted{};
    noted.sa_handler = [](int) { interrupted = 1; };
    noted.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      (void)::sigaction(signal, &noted, nullptr);
  }
}

bool was_interrupted() { return interrupted != 0; }

ProcessEnd run_process(const std::vector<std::string>& command, std::chrono::milliseconds limit,
                       const std::string& output_file) {
  const auto fail = [](const std::string& what) {
    throw InputError(what + ": " + std::strerror(errno));
  };
  const int output = ::open(output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (output < 0 || ::dprintf(output, "$ %s\n", command_text(command).c_str()) < 0)
    fail(output_file + ": cannot write");
  const std::size_t said_before = static_cast<std::size_t>(::lseek(output, 0, SEEK_END));
  (void)std::fflush(nullptr); // or the child would print what this process has buffered
  const auto begin = Clock::now();
  const int parent = ::getpid(), process = ::fork();
  if (process == 0) become(command, output, parent);
  if (process < 0) fail("no process can be had");
  (void)::setpgid(process, process); // whoever of the two is first

  ProcessEnd end;
  bool is_gone = ends_by(process, begin + limit, true);
  if (!is_gone) {
    end.in_time = was_interrupted();
    (void)::kill(-process, SIGTERM);
    is_gone = ends_by(process, Clock::now() + grace, false);
  }
  (void)::kill(-process, SIGKILL); // also what it left behind
  is_gone = is_gone || ends_by(process, Clock::now() + time_to_die, false);
  int status = 0;
  if (is_gone && ::waitpid(process, &status, 0) == process && WIFEXITED(status))
    end.code = WEXITSTATUS(status);
  if (!is_gone)
    end.words = "doesn't end, though killed: the GPU's driver holds it";
  else if (!end.in_time)
    end.words = "wasn't done after " + seconds_text(std::chrono::duration<double>(limit).count());
  else if (WIFSIGNALED(status))
    end.words = "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
                ::strsignal(WTERMSIG(status)) + ")";
  else
    end.words = "ended with code " + std::to_string(end.code);
  end.last_words = last_of(read_file(output_file).substr(said_before));
  const std::chrono::duration<double> took = Clock::now() - begin;
  (void)::dprintf(output, "(%s, %s)\n", end.words.c_str(), seconds_text(took.count()).c_str());
  (void)::close(output);
  return end;
}

} // namespace tutti::gpu
