// A process is forked for each task rather than kept for many: it begins with all that this process
// holds (topologies, cases) at the cost of a fork, its memory is its task's alone, and what crashes
// or is killed takes nothing with it. The first byte of each message says whether it is sent on the
// way or is the last: an answer, or why there is none.
#include "experiments/driver/pool/process_pool.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <exception>
#include <new>
#include <utility>

#include <poll.h>

namespace tutti {

namespace {

constexpr char says_something = 's', answers = 'a';

char letter_of(TaskFailure failure) { return static_cast<char>('0' + static_cast<int>(failure)); }

/// A task's last message.
std::string last_words(const ProcessPool::Work& work, const ProcessPool::Say& say) {
  const auto failed = [](TaskFailure failure, const std::string& why) {
    return letter_of(failure) + why;
  };
  try {
    return answers + work(say);
  } catch (const InputError& error) {
    return failed(TaskFailure::refused, error.what());
  } catch (const std::bad_alloc& error) {
    return failed(TaskFailure::no_memory, memory_text(error));
  } catch (const std::exception& error) {
    return failed(TaskFailure::threw, error.what());
  }
}

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

struct ProcessPool::Running {
  Running(std::size_t number, const TaskLimits& limits, const Work& work)
      : end{.task = number,
            .failure = TaskFailure::died,
            .text = "the process ended without a word",
            .process = {}},
        seconds(limits.seconds),
        ends_at(limits.seconds ? std::optional(clock_seconds() + *limits.seconds) : std::nullopt),
        child([&](int socket) {
          offer_to_the_kernel();
          limit_memory(limits.bytes);
          const MessageStream out(socket);
          const Say say = [&out](std::string_view message) {
            (void)out.send(says_something + std::string(message));
          };
          (void)out.send(last_words(work, say));
        }),
        stream(child.socket()) {}

  [[nodiscard]] bool is_over(double now) const { return ends_at && now >= *ends_at; }

  /// Reads what there is; false where its process has nothing more to say.
  bool hear(const Heard& heard) {
    const bool goes_on = stream.read_some();
    while (std::optional<std::string> message = stream.take()) {
      if (message->empty()) continue; // a malformed message
      const char kind = message->front();
      message->erase(0, 1);
      if (kind == says_something) {
        if (heard) heard(end.task, *message);
        continue;
      }
      end.text = std::move(*message);
      end.failure.reset();
      if (kind != answers) end.failure = static_cast<TaskFailure>(kind - letter_of({}));
    }
    return goes_on;
  }

  /// How it ended, once it is killed: also one that lives on with its socket closed.
  TaskEnd ended(bool too_late) {
    child.kill();
    end.process = child.end();
    if (too_late) {
      end.failure = TaskFailure::took_too_long;
      end.text = fmt::format("took longer than {:g} s", seconds.value_or(0));
    } else if (const std::string death = end.process.death(); !death.empty()) {
      end.failure = TaskFailure::died;
      end.text = death;
    }
    return std::move(end);
  }

  TaskEnd end; ///< as far as it is known
  std::optional<double> seconds, ends_at;
  ChildProcess child;
  MessageStream stream;
};

ProcessPool::ProcessPool(std::size_t processes) : processes_(processes) { assert(processes >= 1); }

ProcessPool::~ProcessPool() = default;

void ProcessPool::start(std::size_t task, const TaskLimits& limits, const Work& work) {
  assert(has_room());
  running_.push_back(std::make_unique<Running>(task, limits, work));
}

/// In milliseconds; -1: as long as it takes.
int ProcessPool::longest_wait(std::optional<double> most_seconds) const {
  std::optional<double> seconds = most_seconds;
  const double now = clock_seconds();
  for (const auto& each : running_)
    if (each->ends_at) seconds = std::min(seconds.value_or(3600), *each->ends_at - now);
  if (!seconds) return -1;
  return static_cast<int>(std::ceil(1000 * std::clamp(*seconds, 0.0, 3600.0)));
}

std::vector<TaskEnd> ProcessPool::wait(std::span<pollfd> others, std::optional<double> most_seconds,
                                       const Heard& heard) {
  std::vector<pollfd> waits(others.begin(), others.end());
  for (const auto& each : running_) waits.push_back({each->child.socket(), POLLIN, 0});
  const int ready = ::poll(waits.data(), waits.size(), longest_wait(most_seconds));
  if (ready < 0) // a signal: the caller asks again
    for (pollfd& each : waits) each.revents = 0;
  std::copy_n(waits.begin(), others.size(), others.begin());
  std::vector<TaskEnd> ends;
  for (std::size_t i = running_.size(); i-- > 0;) {
    Running& each = *running_[i];
    const bool has_ended = waits[others.size() + i].revents != 0 && !each.hear(heard);
    if (!has_ended && !each.is_over(clock_seconds())) continue;
    ends.push_back(each.ended(!has_ended));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return ends;
}

std::vector<ProcessPool::RunningTask> ProcessPool::running() const {
  std::vector<RunningTask> tasks;
  for (const auto& each : running_) tasks.push_back({each->end.task, each->child.process()});
  return tasks;
}

void ProcessPool::kill_all() { running_.clear(); }

} // namespace tutti
