#include "experiments/driver/sweep/point_server.hpp"

#include "experiments/driver/cli/progress.hpp"
#include "experiments/driver/pool/process_memory.hpp"
#include "sim/error.hpp"
#include "sim/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <deque>
#include <exception>
#include <new>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace tutti::sweep {

namespace {

constexpr int most_deaths = 5; // of servers without an answer in between

// Beside requests, a server is told this.
constexpr std::string_view drop_command = "drop";

PointResults failed(PointStatus status, std::string message) {
  PointResults results;
  results.status = status;
  results.message = std::move(message);
  return results;
}

PointResults results_of(const PointFunction& function, const PointRequest& request,
                        const PointLimits& limits) {
  try {
    return function(request);
  } catch (const InputError& error) {
    return failed(PointStatus::refused, error.what());
  } catch (const std::bad_alloc& error) {
    return failed(PointStatus::out_of_memory, limits.bytes > 0
                                                  ? "took more than " + to_text(Bytes{limits.bytes})
                                                  : memory_text(error));
  } catch (const std::exception& error) {
    return failed(PointStatus::defect, error.what());
  }
}

// One point in its process, seen from the server.
class PointProcess {
public:
  PointProcess(PointRequest request, const PointFunction& function, const PointLimits& limits)
      : request_(std::move(request)), limits_(&limits), ends_at_(steady_seconds() + limits.seconds),
        child_([&](int socket) {
          offer_to_the_kernel();
          limit_memory(limits.bytes);
          (void)write_all(socket, framed(message_of(results_of(function, request_, limits))));
        }) {}

  [[nodiscard]] int socket() const { return child_.socket(); }
  [[nodiscard]] double ends_at() const { return ends_at_; }

  // Reads what there is; false at the end.
  bool read_some() { return child_.read_some(stream_); }

  FinishedPoint finish() {
    const ProcessEnd end = child_.end();
    const std::optional<std::string> message = take_frame(stream_);
    PointResults results =
        message ? parse_results(*message)
                : failed(PointStatus::crashed,
                         end.death.empty() ? "the process ended without a word" : end.death);
    return with(std::move(results), end);
  }

  FinishedPoint stop() {
    child_.kill();
    return with(
        failed(PointStatus::timed_out, fmt::format("took longer than {:g} s", limits_->seconds)),
        child_.end());
  }

private:
  [[nodiscard]] FinishedPoint with(PointResults results, const ProcessEnd& end) const {
    results.cpu_seconds = end.cpu_seconds;
    results.peak_bytes = end.peak_bytes;
    return {request_.position, std::move(results)};
  }

  PointRequest request_;
  const PointLimits* limits_;
  double ends_at_;
  ChildProcess child_;
  std::string stream_;
};

// The helper process.
class Server {
public:
  Server(int driver, const PointFunction& function, const PointLimits& limits, std::size_t jobs)
      : driver_(driver), function_(function), limits_(limits), jobs_(jobs) {}

  // Until the driver is gone.
  void serve() {
    while (true) {
      start_waiting();
      if (!wait()) return;
      if (answers_.finished.empty() && answers_.dropped.empty()) continue;
      if (!write_all(driver_, framed(message_of(std::exchange(answers_, {}))))) return;
    }
  }

private:
  void start_waiting() {
    for (; running_.size() < jobs_ && !waiting_.empty(); waiting_.pop_front()) {
      const PointRequest& next = waiting_.front();
      try {
        running_.push_back(std::make_unique<PointProcess>(next, function_, limits_));
      } catch (const InputError& error) { // no process to be had
        if (!running_.empty()) return;    // until one has ended
        answers_.finished.push_back({next.position, failed(PointStatus::crashed, error.what())});
      }
    }
  }

  // Until something has happened; deals with it. False when the driver is gone.
  bool wait() {
    std::vector<pollfd> waits{{driver_, POLLIN, 0}};
    double next_end = steady_seconds() + 3600;
    for (const auto& each : running_) {
      waits.push_back({each->socket(), POLLIN, 0});
      next_end = std::min(next_end, each->ends_at());
    }
    const double left = answers_.finished.empty() ? next_end - steady_seconds() : 0;
    const auto milliseconds = static_cast<int>(std::ceil(1000 * std::max(0.0, left)));
    if (::poll(waits.data(), waits.size(), milliseconds) < 0) return true; // a signal: ask again
    for (std::size_t i = running_.size(); i-- > 0;) {
      const bool ended = waits[i + 1].revents != 0 && !running_[i]->read_some();
      if (!ended && steady_seconds() < running_[i]->ends_at()) continue;
      answers_.finished.push_back(ended ? running_[i]->finish() : running_[i]->stop());
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return waits[0].revents == 0 || hear();
  }

  bool hear() {
    if (!read_driver()) return false;
    while (auto message = take_frame(stream_)) {
      if (*message == drop_command)
        drop();
      else
        waiting_.push_back(parse_request(*message));
    }
    return true;
  }

  bool read_driver() {
    char buffer[65536];
    const ssize_t count = ::read(driver_, buffer, sizeof buffer);
    if (count > 0) stream_.append(buffer, static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
  }

  void drop() {
    for (const PointRequest& each : waiting_) answers_.dropped.push_back(each.position);
    waiting_.clear();
  }

  int driver_;
  const PointFunction& function_;
  const PointLimits& limits_;
  std::size_t jobs_;
  std::deque<PointRequest> waiting_;
  std::vector<std::unique_ptr<PointProcess>> running_;
  PointAnswers answers_;
  std::string stream_;
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

PointFunction evaluation_of(const Study& study, const std::string& cache) {
  return [experiment = study.experiment, cache](const PointRequest& request) {
    const auto value_of = [&request](const std::string& name) { return request.values.at(name); };
    return evaluate_point(*experiment, value_of, request.seed, cache);
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
}

void PointServer::send(const PointRequest& request) {
  // Where the server is gone, answers() finds out.
  (void)write_all(server_->socket(), framed(message_of(request)));
}

void PointServer::start(const PointRequest& request) {
  assert(load() < capacity());
  requests_[request.position].request = request;
  send(request);
}

void PointServer::drop_waiting() {
  (void)write_all(server_->socket(), framed(drop_command));
  for (const auto& [position, pending] : requests_)
    if (!pending.sent) dropped_.push_back(position);
  for (const std::size_t position : dropped_) requests_.erase(position);
}

PointAnswers PointServer::answers() {
  PointAnswers answers;
  answers.dropped = std::exchange(dropped_, {});
  while (is_readable(server_->socket())) {
    const bool lives = server_->read_some(stream_);
    while (const auto message = take_frame(stream_)) take(parse_answers(*message), answers);
    if (!lives) replace_server(answers);
    send_next_suspect();
  }
  return answers;
}

void PointServer::take(PointAnswers arrived, PointAnswers& answers) {
  deaths_ = 0;
  for (FinishedPoint& each : arrived.finished)
    if (requests_.erase(each.position) > 0) answers.finished.push_back(std::move(each));
  for (const std::size_t position : arrived.dropped)
    if (requests_.erase(position) > 0) answers.dropped.push_back(position);
}

void PointServer::replace_server(PointAnswers& answers) {
  const std::string death = server_->end().death;
  if (++deaths_ >= most_deaths)
    throw InputError(
        fmt::format("the process that starts points died {} times, last: {}", most_deaths, death));
  stream_.clear();
  start_server();
  for (auto each = requests_.begin(); each != requests_.end();) {
    Pending& pending = each->second;
    pending.deaths += pending.sent ? 1 : 0;
    pending.sent = false;
    if (pending.deaths < 2) {
      ++each;
      continue;
    }
    answers.finished.push_back(
        {each->first, failed(PointStatus::crashed, "its server died at it twice: " + death)});
    each = requests_.erase(each);
  }
}

// One at a time, so that the one that kills servers takes no other with it.
void PointServer::send_next_suspect() {
  Pending* next = nullptr;
  for (auto& [position, pending] : requests_) {
    if (pending.sent && pending.deaths > 0) return;
    if (!pending.sent && next == nullptr) next = &pending;
  }
  if (next == nullptr) return;
  next->sent = true;
  send(next->request);
}

} // namespace tutti::sweep
