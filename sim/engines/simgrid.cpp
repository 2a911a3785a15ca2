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
      : platform_(std::vector<double>(links, femtoseconds_per_second)), transmissions_(links) {
    platform_.on_done = [this](std::size_t link) {
      transmitted(LinkId{static_cast<std::uint32_t>(link)});
    };
  }

  void schedule(std::int64_t now, const Event& event, LinkId via) {
    Transmission& carrier = transmissions_[via.value];
    if (carrier.under_way && event.at >= carrier.until)
      carrier.consequences.push_back(event);
    else if (event.at == now)
      instants_[now].events.push_back(event);
    else
      await(event);
  }

  void transmit(LinkId link, std::int64_t, std::int64_t until) {
    transmissions_[link.value].until = until;
    transmissions_[link.value].under_way = true;
    ++instants_[until].transmissions;
    const double left = (static_cast<double>(until) - platform_.now()) * 1e3;
    platform_.communicate({&link.value, 1}, static_cast<std::uint64_t>(std::llround(left)),
                          link.value);
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
  struct Transmission {
    std::int64_t until = 0;
    bool under_way = false;
    std::vector<Event> consequences; // at or after `until`
  };
  /// What happens at one picosecond. It is complete when all its transmissions have ended and its
  /// timer, if any, has fired; only then is it handled.
  struct Instant {
    std::uint32_t transmissions = 0;
    bool timer = false;
    std::vector<Event> events;
  };

  void await(const Event& event) {
    Instant& instant = instants_[event.at];
    instant.events.push_back(event);
    if (instant.timer || instant.transmissions > 0) return;
    instant.timer = true;
    platform_.at(event.at, [this, at = event.at] {
      instants_[at].timer = false;
      handle_if_complete(at);
    });
  }

  void transmitted(LinkId link) {
    Transmission& over = transmissions_[link.value];
    const std::int64_t now = over.until;
    check_clock(now);
    over.under_way = false;
    Instant& instant = instants_[now];
    --instant.transmissions;
    scratch_.swap(over.consequences);
    for (const Event& event : scratch_) {
      if (event.at == now)
        instants_[now].events.push_back(event);
      else
        await(event);
    }
    scratch_.clear();
    handle_if_complete(now);
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
  std::vector<Transmission> transmissions_;            // per link
  std::unordered_map<std::int64_t, Instant> instants_; // looked up by time only, never iterated
  std::vector<Event> scratch_, handled_;
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
