// A clock on SimGrid: every crossing of a link is a SimGrid communication over that link alone,
// every latency a SimGrid timer. SimGrid's clock is a double in seconds, so a communication is
// given the time until its due picosecond in femtoseconds: rounding never adds up, and a clock that
// is off is an error. Where a due picosecond changes the communication is cancelled and the rest
// made anew.
#pragma once

#include "sim/engines/event_queue.hpp"
#include "sim/engines/simgrid_platform.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tutti {

/// `Core` is what happens: FifoCore, DynamicCore, ...
template <template <typename> typename Core> class SimGridClock {
public:
  explicit SimGridClock(std::uint32_t links)
      : platform_(std::vector<double>(links, femtoseconds_per_second)), sent_(links) {
    platform_.on_done = [this](std::size_t link) { transmitted(link); };
  }

  void schedule(std::int64_t now, const Event& event) {
    Instant& instant = instants_[event.at];
    instant.events.push_back(event);
    if (event.at != now && instant.transmissions == 0) set_timer(event.at);
  }

  void transmit(std::int64_t, const Event& sent) {
    ++instants_[sent.at].transmissions;
    sent_[sent.subject] = sent;
    const double left = (static_cast<double>(sent.at) - platform_.now()) * 1e3;
    platform_.communicate({&sent_[sent.subject].subject, 1},
                          static_cast<std::uint64_t>(std::llround(left)), sent.subject);
  }

  void retransmit(std::int64_t now, const Event& sent) {
    Event& before = sent_[sent.subject];
    if (before.at != EventQueue::never && before.at > now) {
      platform_.cancel(sent.subject);
      withdraw(before.at);
    }
    before = sent;
    if (sent.at != EventQueue::never) transmit(now, sent);
  }

  void run(Core<SimGridClock>& core) {
    core_ = &core;
    platform_.at(0, [this] {
      const std::int64_t begin = core_->begin();
      if (begin > 0)
        platform_.at(begin, [this, begin] { start(begin); });
      else
        start(begin);
    });
    platform_.run();
  }

private:
  static constexpr double femtoseconds_per_second = 1e15; // of every SimGrid link: a unit is 1 fs

  /// What happens at one picosecond. It is complete when all its transmissions have ended and its
  /// timer, if any, has fired; only then is it handled.
  struct Instant {
    std::uint32_t transmissions = 0;
    bool timer = false;
    std::vector<Event> events;
  };

  void start(std::int64_t begin) {
    await_change();
    core_->serve(begin);
    handle_all(begin);
  }

  void set_timer(std::int64_t at) {
    Instant& instant = instants_[at];
    if (instant.timer) return;
    instant.timer = true;
    platform_.at(at, [this, at] {
      instants_[at].timer = false;
      handle_if_complete(at);
    });
  }

  void await_change() {
    if (core_->next_change() != EventQueue::never) set_timer(core_->next_change());
  }

  /// A transmission that was to end then won't.
  void withdraw(std::int64_t at) {
    Instant& instant = instants_[at];
    if (--instant.transmissions > 0 || instant.timer) return;
    if (instant.events.empty())
      instants_.erase(at);
    else
      set_timer(at);
  }

  void transmitted(std::size_t link) {
    const Event& sent = sent_[link];
    platform_.check_clock(sent.at);
    Instant& instant = instants_[sent.at];
    --instant.transmissions;
    instant.events.push_back(sent);
    handle_if_complete(sent.at);
  }

  void handle_if_complete(std::int64_t now) {
    const Instant& instant = instants_[now];
    if (instant.transmissions == 0 && !instant.timer) handle_all(now);
  }

  /// Handles the events of the instant, round by round, until a round adds none.
  void handle_all(std::int64_t now) {
    if (core_->next_change() == now) {
      core_->change(now);
      await_change();
      if (instants_[now].events.empty()) core_->serve(now);
    }
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
  Core<SimGridClock>* core_ = nullptr;
  std::vector<Event> sent_;                            // per link: the end of its transmission
  std::unordered_map<std::int64_t, Instant> instants_; // looked up by time only, never iterated
  std::vector<Event> handled_;
};

} // namespace tutti
