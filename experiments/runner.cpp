#include "experiments/runner.hpp"

#include "experiments/evaluation_json.hpp"
#include "sim/error.hpp"
#include "sim/files.hpp"
#include "sim/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti {

namespace {

// The first byte of a message says what follows. Progress comes first, a line each time; the other
// kinds go on to the end.
constexpr char says_progress = 'P', says_evaluation = 'E', says_input_error = 'I',
               says_no_memory = 'M', says_failure = 'F';
constexpr auto between_progress = std::chrono::milliseconds(100);

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return; // the driver is gone
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Called by one thread at a time.
class ProgressWriter {
public:
  explicit ProgressWriter(int file) : file_(file) {}
  void operator()(const SynthesisProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + between_progress;
    write_all(file_, fmt::format("{}{} {} {}\n", says_progress, progress.done, progress.total,
                                 progress.reached.ps));
  }

private:
  int file_;
  std::chrono::steady_clock::time_point next_{};
};

SynthesisProgress parse_progress(const std::string& line) {
  SynthesisProgress progress;
  std::istringstream(line) >> progress.done >> progress.total >> progress.reached.ps;
  return progress;
}

// A synthesis ends by itself at its limit. What would go well beyond in one step is refused, so
// that std::bad_alloc and not the kernel ends it.
void limit_memory([[maybe_unused]] std::int64_t bytes) {
#ifndef TUTTI_ADDRESS_SANITIZER // which takes far more than the program
  if (bytes <= 0) return;
  const rlimit most{static_cast<rlim_t>(bytes + bytes / 4), RLIM_INFINITY};
  ::setrlimit(RLIMIT_DATA, &most);
#endif
}

std::string message_of(Case c, const CaseFunction& function, int file) {
  c.options.progress = ProgressWriter(file);
  c.options.cancelled = interrupt_pending;
  limit_memory(c.options.limit_bytes);
  try {
    return says_evaluation + evaluation_message(function(c));
  } catch (const InputError& error) {
    return std::string{says_input_error} + error.what();
  } catch (const std::bad_alloc&) {
    return {says_no_memory};
  } catch (const std::exception& error) {
    return std::string{says_failure} + error.what();
  }
}

// One case in a process of its own, which ends with this object at the latest.
class Job {
public:
  Job(const Case& c, std::size_t index, const CaseFunction& function) : index_(index), case_(&c) {
    int ends[2];
    if (::pipe(ends) != 0)
      throw InputError(fmt::format("cannot start a job: {}", std::strerror(errno)));
    std::fflush(nullptr); // or the child would print what the driver has buffered
    process_ = ::fork();
    if (process_ < 0) {
      const int reason = errno;
      ::close(ends[0]);
      ::close(ends[1]);
      throw InputError(fmt::format("cannot start a job: {}", std::strerror(reason)));
    }
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a driver that is killed leaves no work behind
      ::close(ends[0]);
      write_all(ends[1], message_of(c, function, ends[1]));
      ::_exit(0);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  ~Job() {
    if (process_ <= 0) return;
    const pid_t killed = process_;
    ::kill(killed, SIGKILL);
    (void)death();
    if (!case_->schedule_file.empty())
      std::remove(temporary_of(case_->schedule_file, killed).c_str());
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] const Case& what() const { return *case_; }
  [[nodiscard]] std::size_t index() const { return index_; }
  [[nodiscard]] int pipe() const { return pipe_; }
  [[nodiscard]] pid_t process() const { return process_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  // Reads what there is; false at the end of the message.
  bool read_some(const CaseProgress& heard) {
    char buffer[65536];
    const ssize_t count = ::read(pipe_, buffer, sizeof buffer);
    if (count < 0) return errno == EINTR;
    message_.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end = 0;
         message_.starts_with(says_progress) && (end = message_.find('\n')) != std::string::npos;) {
      if (heard) heard(*case_, parse_progress(message_.substr(1, end - 1)));
      message_.erase(0, end + 1);
    }
    return count > 0;
  }

  // Waits for the process to end; how it died, or nothing.
  std::string death() {
    ::close(pipe_);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    if (WIFSIGNALED(status))
      return fmt::format("the process was killed by signal {} ({})", WTERMSIG(status),
                         ::strsignal(WTERMSIG(status)));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      return fmt::format("the process ended with code {}", WEXITSTATUS(status));
    return {};
  }

private:
  std::size_t index_; // into cases
  const Case* case_;
  pid_t process_ = 0;
  int pipe_ = -1;
  std::string message_;
};

Evaluation without_result(const Case& c) {
  Evaluation e;
  e.run = c.run;
  e.topology = c.topology_label;
  e.collective = c.collective.text();
  e.algorithm = c.algorithm.name;
  e.size = c.collective.size;
  e.npus = c.topology->npu_count();
  return e;
}

Evaluation failed(const Case& c, const std::string& problem) {
  Evaluation e = without_result(c);
  e.problem = problem;
  return e;
}

Evaluation given_up(const Case& c, const std::string& note) {
  Evaluation e = without_result(c);
  e.status = Status::timed_out;
  e.note = note;
  return e;
}

using Result = std::pair<Evaluation, std::optional<InputError>>;

Result finish(Job& job) {
  const std::string death = job.death();
  if (!death.empty()) return {failed(job.what(), death), {}};
  if (job.message().empty()) return {failed(job.what(), "the process ended without a word"), {}};
  const std::string content = job.message().substr(1);
  switch (job.message().front()) {
  case says_input_error: return {{}, InputError(content)};
  case says_no_memory: return {given_up(job.what(), "out of memory"), {}};
  case says_failure: return {failed(job.what(), content), {}};
  default: return {parse_evaluation(content), {}};
  }
}

class Run {
public:
  Run(std::span<const Case> cases, const RunWatcher& watcher, const CaseFunction& function)
      : cases_(cases), watcher_(watcher), function_(function), results_(cases.size()),
        errors_(cases.size()) {}

  std::vector<Evaluation> run(std::size_t jobs) {
    while (true) {
      while (!ending_ && next_ < cases_.size() && running_.size() < jobs) {
        running_.push_back(std::make_unique<Job>(cases_[next_], next_, function_));
        ++next_;
      }
      if (running_.empty()) break;
      wait();
    }
    for (const auto& error : errors_)
      if (error) throw InputError(*error);
    for (; next_ < cases_.size(); ++next_)
      results_[next_] = given_up(cases_[next_], "interrupted before it began");
    return std::move(results_);
  }

private:
  // Until a job has something to read, or a signal has come; deals with it.
  void wait() {
    std::vector<pollfd> waits;
    for (const auto& job : running_) waits.push_back({job->pipe(), POLLIN, 0});
    if (watcher_.interrupts) waits.push_back({watcher_.interrupts->file(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), -1) < 0) return; // a signal: the caller asks again
    if (watcher_.interrupts && watcher_.interrupts->count() > interrupts_) interrupt();
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (waits[i].revents == 0 || running_[i]->read_some(watcher_.progress)) continue;
      end(*running_[i]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void interrupt() {
    interrupts_ = watcher_.interrupts->count();
    if (interrupts_ > 1) throw Interrupted();
    ending_ = true;
    for (const auto& job : running_) watcher_.interrupts->pass_on(job->process());
  }

  void end(Job& job) {
    auto [result, error] = finish(job);
    ending_ |= error.has_value();
    results_[job.index()] = std::move(result);
    errors_[job.index()] = std::move(error);
    if (watcher_.finished) watcher_.finished(++done_, cases_.size());
  }

  std::span<const Case> cases_;
  const RunWatcher& watcher_;
  const CaseFunction& function_;
  std::vector<Evaluation> results_;
  std::vector<std::optional<InputError>> errors_;
  std::vector<std::unique_ptr<Job>> running_;
  std::size_t next_ = 0, done_ = 0;
  std::uint64_t interrupts_ = 0;
  bool ending_ = false;
};

} // namespace

std::vector<Evaluation> run_cases(std::span<const Case> cases, std::size_t jobs,
                                  const RunWatcher& watcher, const CaseFunction& function) {
  assert(jobs >= 1);
  return Run(cases, watcher, function).run(jobs);
}

void require_sound(std::span<const Case> cases) {
  for (const Case& c : cases) {
    for (const Discipline discipline : c.disciplines) require_discipline(*c.engine, discipline);
    require_reachable(*c.topology,
                      make_collective(*c.topology, c.collective, c.chunks.value_or(1)));
  }
}

std::size_t default_jobs() { return std::max(1U, std::thread::hardware_concurrency()); }

} // namespace tutti
