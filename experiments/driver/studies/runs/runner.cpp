// What a case's process says: progress and stages while it goes on, then its evaluation, or why
// there is none. Cases begin in their order, and what one has found out about bounds goes to
// those that begin later.
#include "experiments/driver/studies/runs/runner.hpp"

#include "experiments/driver/pool/process_pool.hpp"
#include "experiments/driver/studies/runs/message.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/work_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <poll.h>

namespace tutti {

namespace {

// The first byte of what is said on the way says what follows.
constexpr char says_progress = 'P', says_stage = 'S';
constexpr auto between_progress = std::chrono::milliseconds(100);

// Called by one thread at a time.
class ProgressWriter {
public:
  explicit ProgressWriter(const ProcessPool::Say& say) : say_(say) {}
  void operator()(const SynthesisProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + between_progress;
    say_(fmt::format("{}{} {} {}", says_progress, progress.done, progress.total,
                     progress.reached.ps));
  }

private:
  ProcessPool::Say say_;
  std::chrono::steady_clock::time_point next_{};
};

// What the case does with its schedule. Called by one thread.
class StageWriter {
public:
  explicit StageWriter(const ProcessPool::Say& say) : say_(say) {}
  void operator()(std::string_view stage, const WorkProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_ && stage == stage_) return;
    next_ = now + between_progress;
    stage_ = stage;
    say_(fmt::format("{}{} {} {} {}", says_stage, progress.done, progress.total, peak_rss_bytes(),
                     stage));
  }

private:
  ProcessPool::Say say_;
  std::string stage_;
  std::chrono::steady_clock::time_point next_{};
};

SynthesisProgress parse_progress(const std::string& line) {
  SynthesisProgress progress;
  std::istringstream(line) >> progress.done >> progress.total >> progress.reached.ps;
  return progress;
}

std::string message_of(Case c, const CaseFunction& function, const ProcessPool::Say& say) {
  c.options.progress = ProgressWriter(say);
  c.options.cancelled = interrupt_pending;
  StageWriter writer(say);
  GracePeriod grace;
  c.options.stage = [&](std::string_view stage, const WorkProgress& progress) {
    writer(stage, progress);
    return grace.is_over(interrupt_pending());
  };
  return evaluation_message(function(c));
}

void hear(const Case& c, const std::string& message, const RunWatcher& watcher) {
  const std::string line = message.substr(1);
  if (message.front() == says_progress) {
    if (watcher.progress) watcher.progress(c, parse_progress(line));
    return;
  }
  WorkProgress progress;
  std::string stage;
  std::istringstream in(line);
  in >> progress.done >> progress.total >> progress.memory >> std::ws;
  std::getline(in, stage);
  if (watcher.stage) watcher.stage(c, stage, progress);
}

Evaluation without_result(const Case& c) {
  Evaluation e;
  e.run = c.run;
  e.topology = c.topology_label;
  e.collective = c.collective.text();
  e.algorithm = c.algorithm.name;
  e.size = size_of(*c.topology, c.collective);
  e.npus = c.topology->npu_count();
  return e;
}

Evaluation given_up(const Case& c, Status status, const std::string& note) {
  Evaluation e = without_result(c);
  e.status = status;
  e.note = note;
  return e;
}

Evaluation evaluation_of(const Case& c, const TaskEnd& end) {
  if (!end.failure) return parse_evaluation(end.text);
  if (*end.failure == TaskFailure::refused) return given_up(c, Status::unsupported, end.text);
  if (*end.failure == TaskFailure::no_memory) return given_up(c, Status::out_of_memory, end.text);
  Evaluation failed = without_result(c);
  failed.problem = end.text;
  return failed;
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
    return {c.topology, c.collective.text() + c.change.planned_for, c.collective.size, c.bound};
  }
  std::map<Key, std::vector<KnownBounds>> known_;
};

class Run {
public:
  Run(std::span<const Case> cases, std::size_t jobs, const RunWatcher& watcher,
      const CaseFunction& function)
      : cases_(cases), watcher_(watcher), function_(function), pool_(jobs), results_(cases.size()),
        errors_(cases.size()) {}
  ~Run() {
    const std::vector<ProcessPool::RunningTask> killed = pool_.running();
    pool_.kill_all();
    for (const auto& [index, process] : killed)
      if (const std::string& file = cases_[index].schedule_file; !file.empty())
        std::remove(temporary_of(file, process).c_str());
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  std::vector<Evaluation> run(Refusals& refusals) {
    while (true) {
      while (!ending_ && next_ < cases_.size() && pool_.has_room()) start(next_++);
      if (pool_.is_idle()) break;
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
  void start(std::size_t index) {
    const Case& c = cases_[index];
    pool_.start(index, {.bytes = c.options.limit_bytes}, [&](const ProcessPool::Say& say) {
      Case own = c;
      own.known_bounds = bounds_.known_to(c);
      return message_of(std::move(own), function_, say);
    });
  }

  // Until a job has said something, or a signal has come; deals with it.
  void wait() {
    std::vector<pollfd> signals;
    if (watcher_.interrupts) signals.push_back({watcher_.interrupts->file(), POLLIN, 0});
    const auto heard = [this](std::size_t index, const std::string& message) {
      hear(cases_[index], message, watcher_);
    };
    const std::vector<TaskEnd> ends = pool_.wait(signals, {}, heard);
    if (watcher_.interrupts && watcher_.interrupts->count() > interrupts_) interrupt();
    for (const TaskEnd& end : ends) finish(end);
  }

  void interrupt() {
    interrupts_ = watcher_.interrupts->count();
    if (interrupts_ > 1) throw Interrupted();
    ending_ = true;
    std::vector<const Case*> cases;
    for (const auto& [index, process] : pool_.running()) {
      watcher_.interrupts->pass_on(process);
      cases.push_back(&cases_[index]);
    }
    if (watcher_.interrupted) watcher_.interrupted(cases);
  }

  void finish(const TaskEnd& end) {
    const Case& c = cases_[end.task];
    results_[end.task] = evaluation_of(c, end);
    bounds_.remember(c, results_[end.task]);
    if (end.failure == TaskFailure::refused) errors_[end.task].emplace(end.text);
    if (watcher_.finished) watcher_.finished(++done_, cases_.size());
  }

  std::span<const Case> cases_;
  const RunWatcher& watcher_;
  const CaseFunction& function_;
  ProcessPool pool_;
  std::vector<Evaluation> results_;
  std::vector<std::optional<InputError>> errors_;
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
  return Run(cases, jobs, watcher, function).run(refusals);
}

void require_sound(std::span<const Case> cases) {
  for (const Case& c : cases) {
    for (const Discipline discipline : c.disciplines) require_discipline(*c.engine, discipline);
    (void)make_collective(*c.topology, c.collective, c.chunks.value_or(1));
  }
}

std::size_t default_jobs() { return std::max(1U, std::thread::hardware_concurrency()); }

} // namespace tutti
