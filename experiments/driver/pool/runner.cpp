#include "experiments/driver/pool/runner.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/processes/child_process.hpp"
#include "sim/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <poll.h>

namespace tutti {

namespace {

// The first byte of a message says what follows. Progress and stages come first, a line each time;
// the other kinds go on to the end.
constexpr char says_progress = 'P', says_stage = 'S', says_evaluation = 'E', says_input_error = 'I',
               says_no_memory = 'M', says_failure = 'F';
constexpr auto between_progress = std::chrono::milliseconds(100);

// Called by one thread at a time.
class ProgressWriter {
public:
  explicit ProgressWriter(int file) : file_(file) {}
  void operator()(const SynthesisProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + between_progress;
    (void)write_all(file_, fmt::format("{}{} {} {}\n", says_progress, progress.done, progress.total,
                                       progress.reached.ps));
  }

private:
  int file_;
  std::chrono::steady_clock::time_point next_{};
};

// What the case does with its schedule. Called by one thread.
class StageWriter {
public:
  explicit StageWriter(int file) : file_(file) {}
  void operator()(std::string_view stage, const WorkProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_ && stage == stage_) return;
    next_ = now + between_progress;
    stage_ = stage;
    (void)write_all(file_,
                    fmt::format("{}{} {} {}\n", says_stage, progress.done, progress.total, stage));
  }

private:
  int file_;
  std::string stage_;
  std::chrono::steady_clock::time_point next_{};
};

SynthesisProgress parse_progress(const std::string& line) {
  SynthesisProgress progress;
  std::istringstream(line) >> progress.done >> progress.total >> progress.reached.ps;
  return progress;
}

std::string message_of(Case c, const CaseFunction& function, int file) {
  c.options.progress = ProgressWriter(file);
  c.options.cancelled = interrupt_pending;
  StageWriter writer(file);
  GracePeriod grace;
  c.options.stage = [&](std::string_view stage, const WorkProgress& progress) {
    writer(stage, progress);
    return grace.is_over(interrupt_pending());
  };
  offer_to_the_kernel();
  limit_memory(with_margin(c.options.limit_bytes));
  try {
    return says_evaluation + evaluation_message(function(c));
  } catch (const InputError& error) {
    return std::string{says_input_error} + error.what();
  } catch (const std::bad_alloc& error) {
    return says_no_memory + memory_text(error);
  } catch (const std::exception& error) {
    return std::string{says_failure} + error.what();
  }
}

// One case in a process of its own, which ends with this object at the latest.
class Job {
public:
  Job(const Case& c, std::size_t index, std::vector<KnownBounds> known,
      const CaseFunction& function)
      : index_(index), case_(&c), child_([&](int socket) {
          Case own = c;
          own.known_bounds = std::move(known);
          (void)write_all(socket, message_of(std::move(own), function, socket));
        }) {}
  ~Job() {
    const int killed = child_.process();
    if (killed <= 0) return;
    child_.kill();
    (void)child_.end();
    if (!case_->schedule_file.empty())
      std::remove(temporary_of(case_->schedule_file, killed).c_str());
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] const Case& what() const { return *case_; }
  [[nodiscard]] std::size_t index() const { return index_; }
  [[nodiscard]] int socket() const { return child_.socket(); }
  [[nodiscard]] int process() const { return child_.process(); }
  [[nodiscard]] const std::string& message() const { return message_; }

  // Reads what there is; false at the end of the message.
  bool read_some(const RunWatcher& watcher) {
    const bool goes_on = child_.read_some(message_);
    for (std::size_t end = 0;
         (message_.starts_with(says_progress) || message_.starts_with(says_stage)) &&
         (end = message_.find('\n')) != std::string::npos;) {
      hear(message_.front(), message_.substr(1, end - 1), watcher);
      message_.erase(0, end + 1);
    }
    return goes_on;
  }

  // Waits for the process to end; how it died, or nothing.
  std::string death() { return child_.end().death; }

private:
  void hear(char kind, const std::string& line, const RunWatcher& watcher) const {
    if (kind == says_progress) {
      if (watcher.progress) watcher.progress(*case_, parse_progress(line));
      return;
    }
    WorkProgress progress;
    std::string stage;
    std::istringstream in(line);
    in >> progress.done >> progress.total >> std::ws;
    std::getline(in, stage);
    if (watcher.stage) watcher.stage(*case_, stage, progress);
  }

  std::size_t index_; // into cases
  const Case* case_;
  ChildProcess child_;
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

Evaluation given_up(const Case& c, Status status, const std::string& note) {
  Evaluation e = without_result(c);
  e.status = status;
  e.note = note;
  return e;
}

Evaluation refused(const Case& c, const std::string& note) {
  Evaluation e = without_result(c);
  e.status = Status::infeasible;
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
  case says_input_error: return {refused(job.what(), content), InputError(content)};
  case says_no_memory: return {given_up(job.what(), Status::out_of_memory, content), {}};
  case says_failure: return {failed(job.what(), content), {}};
  default: return {parse_evaluation(content), {}};
  }
}

/// Bounds of one network, collective and size serve all algorithms.
class BoundMemory {
public:
  [[nodiscard]] std::vector<KnownBounds> known_to(const Case& c) const {
    const auto found = known_.find(key_of(c));
    return found == known_.end() ? std::vector<KnownBounds>{} : found->second;
  }
  void remember(const Case& c, const Evaluation& e) {
    for (const Replay& replay : e.replays)
      known_[key_of(c)].push_back(
          {replay.report.model, e.chunks_per_shard, replay.bound, replay.bound_at_chunks});
  }

private:
  using Key = std::tuple<const Topology*, std::string, Bytes, BoundEffort>;
  static Key key_of(const Case& c) {
    return {c.topology, c.collective.text(), c.collective.size, c.bound};
  }
  std::map<Key, std::vector<KnownBounds>> known_;
};

class Run {
public:
  Run(std::span<const Case> cases, const RunWatcher& watcher, const CaseFunction& function)
      : cases_(cases), watcher_(watcher), function_(function), results_(cases.size()),
        errors_(cases.size()) {}

  std::vector<Evaluation> run(std::size_t jobs, Refusals& refusals) {
    while (true) {
      while (!ending_ && next_ < cases_.size() && running_.size() < jobs) {
        running_.push_back(std::make_unique<Job>(cases_[next_], next_,
                                                 bounds_.known_to(cases_[next_]), function_));
        ++next_;
      }
      if (running_.empty()) break;
      wait();
    }
    for (const std::optional<InputError>& error : errors_)
      if (error)
        refusals.refuse(*error);
      else
        refusals.accept();
    for (; next_ < cases_.size(); ++next_)
      results_[next_] = given_up(cases_[next_], Status::timed_out, "interrupted before it began");
    return std::move(results_);
  }

private:
  // Until a job has something to read, or a signal has come; deals with it.
  void wait() {
    std::vector<pollfd> waits;
    for (const auto& job : running_) waits.push_back({job->socket(), POLLIN, 0});
    if (watcher_.interrupts) waits.push_back({watcher_.interrupts->file(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), -1) < 0) return; // a signal: the caller asks again
    if (watcher_.interrupts && watcher_.interrupts->count() > interrupts_) interrupt();
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (waits[i].revents == 0 || running_[i]->read_some(watcher_)) continue;
      end(*running_[i]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void interrupt() {
    interrupts_ = watcher_.interrupts->count();
    if (interrupts_ > 1) throw Interrupted();
    ending_ = true;
    std::vector<const Case*> cases;
    for (const auto& job : running_) {
      watcher_.interrupts->pass_on(job->process());
      cases.push_back(&job->what());
    }
    if (watcher_.interrupted) watcher_.interrupted(cases);
  }

  void end(Job& job) {
    auto [result, error] = finish(job);
    bounds_.remember(job.what(), result);
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
  BoundMemory bounds_;
  std::size_t next_ = 0, done_ = 0;
  std::uint64_t interrupts_ = 0;
  bool ending_ = false;
};

} // namespace

std::vector<Evaluation> run_cases(std::span<const Case> cases, std::size_t jobs,
                                  const RunWatcher& watcher, const CaseFunction& function) {
  Refusals refusals;
  std::vector<Evaluation> results = run_cases(cases, jobs, refusals, watcher, function);
  refusals.require_some();
  return results;
}

std::vector<Evaluation> run_cases(std::span<const Case> cases, std::size_t jobs, Refusals& refusals,
                                  const RunWatcher& watcher, const CaseFunction& function) {
  assert(jobs >= 1);
  return Run(cases, watcher, function).run(jobs, refusals);
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
