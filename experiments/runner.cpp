#include "experiments/runner.hpp"

#include "experiments/evaluation_json.hpp"
#include "sim/error.hpp"
#include "sim/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti {

namespace {

// The first byte of a message says what follows.
constexpr char says_evaluation = 'E', says_input_error = 'I', says_failure = 'F';

struct Job {
  std::size_t index = 0; // into cases
  pid_t process = 0;
  int pipe = -1;
  std::string message;
};

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return; // the driver is gone
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string message_of(const Case& c, const CaseFunction& function) {
  try {
    return says_evaluation + evaluation_message(function(c));
  } catch (const InputError& error) {
    return std::string{says_input_error} + error.what();
  } catch (const std::exception& error) {
    return std::string{says_failure} + error.what();
  }
}

Job start(const Case& c, std::size_t index, const CaseFunction& function) {
  int ends[2];
  if (::pipe(ends) != 0)
    throw InputError(fmt::format("cannot start a job: {}", std::strerror(errno)));
  std::fflush(nullptr); // or the child would print what the driver has buffered
  const pid_t process = ::fork();
  if (process < 0) {
    const int reason = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw InputError(fmt::format("cannot start a job: {}", std::strerror(reason)));
  }
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a driver that is killed leaves no work behind
    ::close(ends[0]);
    write_all(ends[1], message_of(c, function));
    ::_exit(0);
  }
  ::close(ends[1]);
  return {index, process, ends[0], {}};
}

// Reads what there is; false at the end of the message.
bool read_some(Job& job) {
  char buffer[65536];
  const ssize_t count = ::read(job.pipe, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR;
  job.message.append(buffer, static_cast<std::size_t>(count));
  return count > 0;
}

std::string death_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return fmt::format("the process was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    return fmt::format("the process ended with code {}", WEXITSTATUS(status));
  return {};
}

Evaluation failed(const Case& c, const std::string& problem) {
  Evaluation e;
  e.run = c.run;
  e.topology = c.topology_label;
  e.collective = c.collective.text();
  e.algorithm = c.algorithm.name;
  e.size = c.collective.size;
  e.npus = c.topology->npu_count();
  e.problem = problem;
  return e;
}

using Result = std::pair<Evaluation, std::optional<InputError>>;

Result finish(const Job& job, const Case& c) {
  ::close(job.pipe);
  const std::string death = death_of(job.process);
  if (!death.empty()) return {failed(c, death), {}};
  if (job.message.empty()) return {failed(c, "the process ended without a word"), {}};
  const std::string content = job.message.substr(1);
  switch (job.message.front()) {
  case says_input_error: return {{}, InputError(content)};
  case says_failure: return {failed(c, content), {}};
  default: return {parse_evaluation(content), {}};
  }
}

// Waits until at least one job has something to read, and reads; returns those that have ended.
std::vector<Job> ended(std::vector<Job>& running) {
  std::vector<pollfd> waits;
  for (const Job& job : running) waits.push_back({job.pipe, POLLIN, 0});
  std::vector<Job> done;
  if (::poll(waits.data(), waits.size(), -1) < 0) return done; // a signal: the caller asks again
  for (std::size_t i = running.size(); i-- > 0;) {
    if (waits[i].revents == 0 || read_some(running[i])) continue;
    done.push_back(std::move(running[i]));
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return done;
}

} // namespace

std::vector<Evaluation> run_cases(std::span<const Case> cases, std::size_t jobs,
                                  const CaseFinished& finished, const CaseFunction& function) {
  assert(jobs >= 1);
  std::vector<Evaluation> results(cases.size());
  std::vector<std::optional<InputError>> errors(cases.size());
  std::vector<Job> running;
  std::size_t next = 0, done = 0;
  bool bad = false;
  while (true) {
    while (!bad && next < cases.size() && running.size() < jobs) {
      running.push_back(start(cases[next], next, function));
      ++next;
    }
    if (running.empty()) break;
    for (const Job& job : ended(running)) {
      auto [result, error] = finish(job, cases[job.index]);
      bad |= error.has_value();
      results[job.index] = std::move(result);
      errors[job.index] = std::move(error);
      if (finished) finished(++done, cases.size());
    }
  }
  for (const auto& error : errors)
    if (error) throw InputError(*error);
  return results;
}

void require_sound(std::span<const Case> cases) {
  for (const Case& c : cases) {
    for (const Discipline discipline : c.disciplines) require_discipline(*c.engine, discipline);
    const std::uint32_t pieces = c.chunks.value_or(1) * c.algorithm.pieces;
    require_reachable(*c.topology, make_collective(*c.topology, c.collective, pieces));
  }
}

std::size_t default_jobs() { return std::max(1U, std::thread::hardware_concurrency()); }

} // namespace tutti
