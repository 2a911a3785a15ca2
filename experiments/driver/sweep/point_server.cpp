// Two processes deep: the driver's messages go to the helper, whose pool forks one process a point.
// A helper that dies is replaced, and what it was at is begun again one point after another, so
// that the one that kills helpers is found.
#include "experiments/driver/sweep/point_server.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/pool/process_pool.hpp"
#include "experiments/driver/studies/not_built.hpp"
#include "sim/error.hpp"
#include "sim/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <csignal>
#include <deque>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace tutti::sweep {

namespace {

constexpr int most_deaths = 5; // of servers without an answer in between

// Beside requests, a server is sent this.
constexpr std::string_view drop_command = "drop";

PointResults failed(PointStatus status, std::string message) {
  PointResults results;
  results.status = status;
  results.message = std::move(message);
  return results;
}

PointStatus status_of(TaskFailure failure) {
  switch (failure) {
  case TaskFailure::refused: return PointStatus::refused;
  case TaskFailure::took_too_long: return PointStatus::timed_out;
  case TaskFailure::no_memory: return PointStatus::out_of_memory;
  case TaskFailure::threw: return PointStatus::defect;
  case TaskFailure::died: break;
  }
  return PointStatus::crashed;
}

// How much more a point asked for than it may take differs from run to run.
PointResults results_of(const TaskEnd& end, const PointLimits& limits) {
  PointResults results =
      !end.failure ? parse_results(end.text)
      : *end.failure == TaskFailure::no_memory && limits.bytes > 0
          ? failed(PointStatus::out_of_memory, "took more than " + to_text(Bytes{limits.bytes}))
          : failed(status_of(*end.failure), end.text);
  results.cpu_seconds = end.process.cpu_seconds;
  results.peak_bytes = end.process.peak_bytes;
  return results;
}

// The helper process: a pool, and the points that wait for room in it.
class Server {
public:
  Server(int driver, const PointFunction& function, const PointLimits& limits, std::size_t jobs)
      : driver_file_(driver), driver_(driver), function_(function), limits_(limits), pool_(jobs) {}

  // Until the driver is gone.
  void serve() {
    while (true) {
      start_waiting();
      if (!wait()) return;
      if (answers_.finished.empty() && answers_.dropped.empty()) continue;
      if (!driver_.send(message_of(std::exchange(answers_, {})))) return;
    }
  }

private:
  void start_waiting() {
    for (; pool_.has_room() && !waiting_.empty(); waiting_.pop_front()) {
      const Point& next = waiting_.front();
      try {
        pool_.start(next.position, {limits_.seconds, limits_.bytes},
                    [&](const ProcessPool::Say&) { return message_of(function_(next)); });
      } catch (const NoProcess& error) {
        if (!pool_.is_idle()) return; // until one has ended
        answers_.finished.push_back({next.position, failed(PointStatus::crashed, error.what())});
      }
    }
  }

  // Until something has happened; deals with it. False when the driver is gone.
  bool wait() {
    std::array<pollfd, 1> driver{{{driver_file_, POLLIN, 0}}};
    const std::optional<double> most =
        answers_.finished.empty() ? std::nullopt : std::optional(0.0);
    for (const TaskEnd& end : pool_.wait(driver, most))
      answers_.finished.push_back({end.task, results_of(end, limits_)});
    return driver[0].revents == 0 || hear();
  }

  bool hear() {
    if (!driver_.read_some()) return false;
    while (auto message = driver_.take()) {
      if (*message == drop_command)
        drop();
      else
        waiting_.push_back(parse_point(*message));
    }
    return true;
  }

  void drop() {
    for (const Point& each : waiting_) answers_.dropped.push_back(each.position);
    waiting_.clear();
  }

  int driver_file_;
  MessageStream driver_;
  const PointFunction& function_;
  const PointLimits& limits_;
  ProcessPool pool_;
  std::deque<Point> waiting_;
  PointAnswers answers_;
};

// Signals are for the driver, which lets points finish or kills the server; and what points print
// must not come between the driver's lines.
void withdraw() {
  sigset_t blocked; // not ignored: SimGrid's processes set handlers, but keep the mask
  sigemptyset(&blocked);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&blocked, signal);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return;
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, file);
  ::close(nowhere);
}

bool is_readable(int file) {
  pollfd wait{file, POLLIN, 0};
  return ::poll(&wait, 1, 0) > 0;
}

} // namespace

PointFunction evaluation_of(const Sweep& sweep, const std::string& cache) {
  std::map<std::string, std::size_t> places;
  for (const std::string& name : value_names(sweep)) places.emplace(name, places.size());
  return [experiment = sweep.experiment, cache, places = std::move(places)](const Point& point) {
    const auto value_of = [&](const std::string& name) { return point.values[places.at(name)]; };
    try {
      return evaluate_point(*experiment, value_of, point.seed, cache);
    } catch (const NotBuilt& missing) {
      throw InputError(missing.text());
    }
  };
}

PointServer::PointServer(PointFunction function, PointLimits limits, std::size_t jobs)
    : function_(std::move(function)), limits_(limits), jobs_(jobs) {
  assert(jobs >= 1);
  start_server();
}

void PointServer::start_server() {
  server_ = std::make_unique<ChildProcess>([this](int socket) {
    withdraw();
    Server(socket, function_, limits_, jobs_).serve();
  });
  stream_ = MessageStream(server_->socket());
}

void PointServer::send(const Point& point) {
  // Where the server is gone, answers() finds out.
  (void)stream_.send(message_of(point));
}

void PointServer::start(const Point& point) {
  assert(load() < capacity());
  pending_[point.position].point = point;
  send(point);
}

PointAnswers PointServer::wait(int interrupts) {
  constexpr int longest_ms = 1000;
  std::array<pollfd, 2> waits{{{file(), POLLIN, 0}, {interrupts, POLLIN, 0}}};
  (void)::poll(waits.data(), waits.size(), longest_ms); // also ends early at a signal
  return answers();
}

void PointServer::drop_waiting() {
  (void)stream_.send(drop_command);
  for (const auto& [position, pending] : pending_)
    if (!pending.sent) dropped_.push_back(position);
  for (const std::size_t position : dropped_) pending_.erase(position);
}

PointAnswers PointServer::answers() {
  PointAnswers answers;
  answers.dropped = std::exchange(dropped_, {});
  while (is_readable(server_->socket())) {
    const bool lives = stream_.read_some();
    while (const auto message = stream_.take()) take(parse_answers(*message), answers);
    if (!lives) replace_server(answers);
    send_next_suspect();
  }
  return answers;
}

void PointServer::take(PointAnswers arrived, PointAnswers& answers) {
  deaths_ = 0;
  for (FinishedPoint& each : arrived.finished)
    if (pending_.erase(each.position) > 0) answers.finished.push_back(std::move(each));
  for (const std::size_t position : arrived.dropped)
    if (pending_.erase(position) > 0) answers.dropped.push_back(position);
}

void PointServer::replace_server(PointAnswers& answers) {
  const std::string death = server_->end().death();
  if (++deaths_ >= most_deaths)
    throw InputError(
        fmt::format("the process that starts points died {} times, last: {}; what is finished is "
                    "kept, and the same command goes on",
                    most_deaths, death));
  start_server();
  for (auto each = pending_.begin(); each != pending_.end();) {
    Pending& pending = each->second;
    pending.deaths += pending.sent ? 1 : 0;
    pending.sent = false;
    if (pending.deaths < 2) {
      ++each;
      continue;
    }
    answers.finished.push_back(
        {each->first, failed(PointStatus::crashed, "its server died at it twice: " + death)});
    each = pending_.erase(each);
  }
}

// One at a time, so that the one that kills servers takes no other with it.
void PointServer::send_next_suspect() {
  Pending* next = nullptr;
  for (auto& [position, pending] : pending_) {
    if (pending.sent && pending.deaths > 0) return;
    if (!pending.sent && next == nullptr) next = &pending;
  }
  if (next == nullptr) return;
  next->sent = true;
  send(next->point);
}

} // namespace tutti::sweep
