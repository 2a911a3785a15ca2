// Tasks in processes of their own, several at once: SimGrid allows one engine per process, memory
// is measured and limited per task, and a crash costs one task and not the run. Runs of an
// experiment and points of a sweep are both tasks here.
#pragma once

#include "sim/processes/child_process.hpp"
#include "sim/processes/message_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct pollfd;

namespace tutti {

struct TaskLimits {
  std::optional<double> seconds = {}; ///< by the clock
  std::int64_t bytes = 0;             ///< of memory; 0: none
};

/// Why a task has no answer.
enum class TaskFailure : std::uint8_t {
  refused,       ///< bad input: its InputError
  took_too_long, ///< was killed at its limit of time
  no_memory,     ///< std::bad_alloc
  threw,         ///< another exception: a defect
  died,          ///< its process crashed, was killed, or ended without a word
};

/// How a task ended.
struct TaskEnd {
  std::size_t task = 0;
  std::optional<TaskFailure> failure; ///< none: its work has returned
  std::string text;                   ///< what that returned; else what went wrong, in words
  ProcessEnd process;
};

class ProcessPool {
public:
  /// Sends this process a message before the answer. Any thread of the task's process, one at a
  /// time.
  using Say = std::function<void(std::string_view)>;
  /// What a task's process does. What it throws is a failure.
  using Work = std::function<std::string(const Say&)>;
  /// What a task has said; called in this process.
  using Heard = std::function<void(std::size_t task, const std::string& message)>;

  /// Tasks that run at once. Pre: processes >= 1.
  explicit ProcessPool(std::size_t processes);
  ~ProcessPool(); ///< kills those that run
  ProcessPool(const ProcessPool&) = delete;
  ProcessPool& operator=(const ProcessPool&) = delete;

  [[nodiscard]] bool has_room() const { return running_.size() < processes_; }
  [[nodiscard]] bool is_idle() const { return running_.empty(); }
  /// Begins it at once. `task`: how its end names it. Pre: has_room(). Errors: NoProcess.
  void start(std::size_t task, const TaskLimits& limits, const Work& work);

  /// Waits until a task says something or ends, one of `others` is ready, a signal comes, or
  /// `most_seconds` are over: which tasks have ended. One beyond its time is killed.
  [[nodiscard]] std::vector<TaskEnd>
  wait(std::span<pollfd> others, std::optional<double> most_seconds = {}, const Heard& heard = {});

  struct RunningTask {
    std::size_t task = 0;
    int process = 0;
  };
  /// In the order in which they began.
  [[nodiscard]] std::vector<RunningTask> running() const;
  /// Waits for them to end. Their ends are not reported.
  void kill_all();

private:
  struct Running;
  [[nodiscard]] int longest_wait(std::optional<double> most_seconds) const;

  std::size_t processes_;
  std::vector<std::unique_ptr<Running>> running_;
};

} // namespace tutti
