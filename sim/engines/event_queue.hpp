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
      return;
    }
    push_heap(event);
  }

  [[nodiscard]] std::int64_t next_time() const {
    const std::int64_t line = *std::min_element(heads_.begin(), heads_.end());
    return heap_.empty() ? line : std::min(line, heap_.front().at);
  }

  /// Pre: next_time() != never. Events of one time come in no particular (but a fixed) order.
  Event pop() {
    const auto earliest = std::min_element(heads_.begin(), heads_.end());
    if (!heap_.empty() && heap_.front().at < *earliest) return pop_heap();
    const auto i = static_cast<std::size_t>(earliest - heads_.begin());
    const Event event = lines_[i].pop();
    heads_[i] = lines_[i].empty() ? never : lines_[i].front().at;
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

  std::array<Line, 6> lines_;
  std::array<std::int64_t, 6> heads_;
  std::vector<Event> heap_;
};

} // namespace tutti
