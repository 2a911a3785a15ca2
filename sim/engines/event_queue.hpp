// The native engine's event queue: earliest first, in O(1) for the delays that recur.
//
// Events that are born with the same delay are born in the order of their times, so each of the few
// delays of a homogeneous network (a chunk's time on a link, the latency) gets a plain FIFO, a
// "delay line". Whatever finds no line free goes to a 4-ary heap. Unequal sizes or links thus cost
// O(log events), equal ones O(lines).
#pragma once

#include "sim/error.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// Errors: InputError where `at` plus `latency` leaves what a run can number. Each of both is at
/// most 53 days, so their sum doesn't overflow.
inline void require_representable(std::int64_t at, Time latency) {
  if (at > INT64_MAX / 2 - latency.ps) throw InputError("the simulated time exceeds 53 days");
}

struct Event {
  std::int64_t at = 0; ///< ps
  std::uint32_t subject = 0;
  std::uint32_t kind = 0;
};

class EventQueue {
public:
  static constexpr std::int64_t never = INT64_MAX;

  EventQueue() { heads_.fill(never); }

  /// Pre: event.at >= now, and `now` never falls.
  void push(std::int64_t now, const Event& event) {
    const std::int64_t delay = event.at - now;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      Line& line = lines_[i];
      if (line.delay != delay) {
        if (!line.empty()) continue;
        line.delay = delay; // a line that ran empty serves another delay
      }
      if (line.empty()) heads_[i] = event.at;
      line.push(event);
      if (event.at < next_time_) come_next(i, event.at);
      return;
    }
    push_heap(event);
    if (event.at < next_time_) come_next(heap_comes, event.at);
  }

  [[nodiscard]] std::int64_t next_time() const { return next_time_; }

  /// Pre: next_time() != never. Events of one time come in no particular (but a fixed) order.
  Event pop() {
    if (next_ == heap_comes) {
      const Event event = pop_heap();
      find_next();
      return event;
    }
    Line& line = lines_[next_];
    const Event event = line.pop();
    heads_[next_] = line.empty() ? never : line.front().at;
    if (heads_[next_] != event.at) find_next(); // else the line goes on
    return event;
  }

private:
  /// A ring buffer.
  class Line {
  public:
    std::int64_t delay = -1;
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] const Event& front() const { return ring_[first_]; }
    void push(const Event& event) {
      if (count_ == ring_.size()) grow();
      ring_[(first_ + count_++) & (ring_.size() - 1)] = event;
    }
    Event pop() {
      const Event event = ring_[first_];
      first_ = (first_ + 1) & (ring_.size() - 1);
      --count_;
      return event;
    }

  private:
    void grow() {
      std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(first_), ring_.end());
      first_ = 0;
      ring_.resize(std::max<std::size_t>(16, ring_.size() * 2));
    }
    std::vector<Event> ring_; // a power of two long
    std::size_t first_ = 0, count_ = 0;
  };

  void come_next(std::size_t what, std::int64_t at) {
    next_ = what;
    next_time_ = at;
  }
  void find_next() {
    const auto earliest = std::min_element(heads_.begin(), heads_.end());
    come_next(static_cast<std::size_t>(earliest - heads_.begin()), *earliest);
    if (!heap_.empty() && heap_.front().at < next_time_) come_next(heap_comes, heap_.front().at);
  }

  void push_heap(const Event& event) {
    std::size_t i = heap_.size();
    heap_.push_back(event);
    for (; i > 0 && event.at < heap_[(i - 1) / 4].at; i = (i - 1) / 4)
      heap_[i] = heap_[(i - 1) / 4];
    heap_[i] = event;
  }

  Event pop_heap() {
    const Event top = heap_.front(), last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    std::size_t i = 0;
    while (4 * i + 1 < size) {
      std::size_t least = 4 * i + 1;
      const std::size_t end = std::min(least + 4, size);
      for (std::size_t child = least + 1; child < end; ++child)
        if (heap_[child].at < heap_[least].at) least = child;
      if (heap_[least].at >= last.at) break;
      heap_[i] = heap_[least];
      i = least;
    }
    if (size > 0) heap_[i] = last;
    return top;
  }

  static constexpr std::size_t heap_comes = SIZE_MAX;
  std::array<Line, 6> lines_;
  std::array<std::int64_t, 6> heads_;
  std::vector<Event> heap_;
  std::size_t next_ = heap_comes; // the line that has the next event, or the heap
  std::int64_t next_time_ = never;
};

} // namespace tutti
