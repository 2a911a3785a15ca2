// Points in processes of their own, made by a helper process that was forked while this one was
// small and had neither threads, files nor a database open: so each costs a millisecond, whatever
// this process has become since, and dies alone.
#pragma once

#include "experiments/driver/sweep/point_messages.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"
#include "sim/processes/child_process.hpp"
#include "sim/processes/message_stream.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tutti::sweep {

/// What is done for a point, in its process: evaluate_point(). An InputError is a refusal, another
/// exception a defect.
using PointFunction = std::function<PointResults(const Point&)>;

/// evaluate_point() of the sweep's experiment.
[[nodiscard]] PointFunction evaluation_of(const Sweep& sweep, const std::string& cache);

/// What simulates points, here or elsewhere.
class Workers {
public:
  Workers() = default;
  virtual ~Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] virtual std::size_t capacity() const = 0; ///< points that they take at once
  [[nodiscard]] virtual std::size_t load() const = 0;     ///< not answered yet
  /// Pre: load() < capacity(), and the position isn't there yet.
  virtual void start(const Point& point) = 0;
  /// Points that wait are not begun; answers say which.
  virtual void drop_waiting() = 0;
  /// What has arrived, after waiting for something, for `interrupts` to be readable, or a second.
  [[nodiscard]] virtual PointAnswers wait(int interrupts) = 0;
};

/// Those of this machine. Everything it has started ends with it, and with this process.
class PointServer : public Workers {
public:
  /// Simulates `jobs` points at once. One that crashes or goes beyond its limits is an answer.
  /// Errors: InputError where no process can be had.
  PointServer(PointFunction function, PointLimits limits, std::size_t jobs);

  /// One point that waits for each that runs, so that none is idle while results are written.
  [[nodiscard]] std::size_t capacity() const override { return 2 * jobs_; }
  [[nodiscard]] std::size_t load() const override { return pending_.size(); }
  void start(const Point& point) override;
  void drop_waiting() override;
  [[nodiscard]] PointAnswers wait(int interrupts) override;

  /// Becomes readable when there are answers; for poll(). May change with answers().
  [[nodiscard]] int file() const { return server_->socket(); }
  /// What has arrived; doesn't wait. Points of a server that died are begun once more by another
  /// one, one after another; one that meets that twice has crashed.
  /// Errors: InputError where servers die again and again.
  PointAnswers answers();

  [[nodiscard]] int process() const { return server_->process(); } ///< of the server

private:
  struct Pending {
    Point point;
    int deaths = 0;   ///< of servers that had it
    bool sent = true; ///< to the server that lives
  };
  void start_server();
  void send(const Point& point);
  void send_next_suspect();
  void replace_server(PointAnswers& answers);
  void take(PointAnswers arrived, PointAnswers& answers);

  PointFunction function_;
  PointLimits limits_;
  std::size_t jobs_;
  std::map<std::size_t, Pending> pending_; // by position
  std::unique_ptr<ChildProcess> server_;
  std::vector<std::size_t> dropped_; // suspects that weren't begun again
  MessageStream stream_{-1};         ///< to the server that lives
  int deaths_ = 0;                   // since the last answer
};

} // namespace tutti::sweep
