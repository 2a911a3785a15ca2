// FIFO on SimGrid: every crossing of a link is a SimGrid communication over that link alone, every
// latency a SimGrid timer. SimGrid's clock is a double in seconds, so a communication is given the
// time until its due picosecond in femtoseconds: rounding never adds up, and a clock that is off is
// an error.

#include "sim/engines/fifo_core.hpp"
#include "sim/engines/isolated.hpp"
#include "sim/engines/simgrid_fluid.hpp"
#include "sim/engines/simgrid_platform.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <unordered_map>

namespace tutti {

namespace {

constexpr double femtoseconds_per_second = 1e15; // rate of every SimGrid link: one unit is 1 fs

class SimGridClock {
public:
  explicit SimGridClock(std::uint32_t links)
      : platform_(std::vector<double>(links, femtoseconds_per_second)), sent_(links) {
    platform_.on_done = [this](std::size_t link) { transmitted(link); };
  }

  void schedule(std::int64_t now, const Event& event) {
    Instant& instant = instants_[event.at];
    instant.events.push_back(event);
    if (event.at == now || instant.timer || instant.transmissions > 0) return;
    instant.timer = true;
    platform_.at(event.at, [this, at = event.at] {
      instants_[at].timer = false;
      handle_if_complete(at);
    });
  }

  void transmit(std::int64_t, const Event& sent) {
    ++instants_[sent.at].transmissions;
    sent_[sent.subject] = sent;
    const double left = (static_cast<double>(sent.at) - platform_.now()) * 1e3;
    platform_.communicate({&sent_[sent.subject].subject, 1},
                          static_cast<std::uint64_t>(std::llround(left)), sent.subject);
  }

  void run(FifoCore<SimGridClock>& core) {
    core_ = &core;
    platform_.at(0, [this] {
      core_->begin();
      core_->serve(0);
      handle_all(0);
    });
    platform_.run();
  }

private:
  /// What happens at one picosecond. It is complete when all its transmissions have ended and its
  /// timer, if any, has fired; only then is it handled.
  struct Instant {
    std::uint32_t transmissions = 0;
    bool timer = false;
    std::vector<Event> events;
  };

  void transmitted(std::size_t link) {
    const Event& sent = sent_[link];
    check_clock(sent.at);
    Instant& instant = instants_[sent.at];
    --instant.transmissions;
    instant.events.push_back(sent);
    handle_if_complete(sent.at);
  }

  void check_clock(std::int64_t expected) const {
    const double off = platform_.now() - static_cast<double>(expected);
    if (std::abs(off) > 0.4)
      throw std::runtime_error(
          fmt::format("SimGrid's clock is {} ps off at {}: a double can't resolve this run", off,
                      to_text(Time{expected})));
  }

  void handle_if_complete(std::int64_t now) {
    const Instant& instant = instants_[now];
    if (instant.transmissions == 0 && !instant.timer) handle_all(now);
  }

  /// Handles the events of the instant, round by round, until a round adds none.
  void handle_all(std::int64_t now) {
    while (true) {
      handled_.swap(instants_[now].events);
      if (handled_.empty()) break;
      for (const Event& event : handled_) core_->handle(event);
      handled_.clear();
      if (instants_[now].events.empty()) core_->serve(now);
    }
    instants_.erase(now);
  }

  SimGridPlatform platform_;
  FifoCore<SimGridClock>* core_ = nullptr;
  std::vector<Event> sent_;                            // per link: the end of its transmission
  std::unordered_map<std::int64_t, Instant> instants_; // looked up by time only, never iterated
  std::vector<Event> handled_;
};

Report run_fifo(const Topology& topology, const Collective& collective, const Schedule& schedule,
                const TimeModel& model, const RunOptions& options) {
  SimGridClock clock(topology.link_count());
  FifoCore<SimGridClock> core(topology, collective, schedule, model, options, clock);
  clock.run(core);
  return core.finish();
}

} // namespace

Report run_simgrid(const Topology& topology, const Collective& collective, const Schedule& schedule,
                   const TimeModel& model, const RunOptions& options) {
  const auto simulate = model.discipline == Discipline::fluid ? run_simgrid_fluid : run_fifo;
  Report report =
      run_isolated([&] { return simulate(topology, collective, schedule, model, options); });
  report.engine = "simgrid";
  return report;
}

} // namespace tutti
