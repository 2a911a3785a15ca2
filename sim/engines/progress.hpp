// How far a crossing has come on a link whose rate changes, exactly.
#pragma once

#include "sim/engines/event_queue.hpp"
#include "sim/error.hpp"
#include "sim/units.hpp"

#include <cstdint>

namespace tutti {

/// Work is counted in bytes times picoseconds per second, of which a rate of B bytes/s does B a
/// picosecond: no division but the last one rounds, so that a constant rate gives serialization().
class Progress {
public:
  static constexpr std::int64_t never = EventQueue::never;

  /// `due` is now + serialization(size, rate).
  void start(std::int64_t now, Bytes size, Bandwidth rate, std::int64_t due) {
    bytes_ = size.count;
    fraction_ = 0;
    rate_ = rate;
    since_ = now;
    due_ = due;
  }

  /// From now on this rate; 0 = it stands still. What is done at this very instant stays done.
  /// Returns whether due() is another than before. Errors: InputError where it exceeds 53 days.
  bool set_rate(std::int64_t now, Bandwidth rate) {
    if (rate == rate_ || due_ == now) return false;
    const Work rest = rest_at(now);
    bytes_ = static_cast<std::int64_t>(rest / picoseconds_per_second);
    fraction_ = static_cast<std::int64_t>(rest % picoseconds_per_second);
    since_ = now;
    rate_ = rate;
    if (rate.bytes_per_second == 0) {
      due_ = never;
      return true;
    }
    const Work left = (rest + rate.bytes_per_second - 1) / rate.bytes_per_second;
    if (left > INT64_MAX / 2) require_representable(INT64_MAX, Time{});
    due_ = now + static_cast<std::int64_t>(left);
    require_representable(due_, Time{});
    return true;
  }

  [[nodiscard]] std::int64_t due() const { return due_; } ///< `never` while it stands still
  /// When the present rate came; where it stands still: since when.
  [[nodiscard]] std::int64_t since() const { return since_; }
  /// What is not across at `now`, in whole bytes. Pre: now <= due().
  [[nodiscard]] Bytes rest(std::int64_t now) const {
    const Work rest = rest_at(now);
    if (rest <= 0) return {};
    return {
        static_cast<std::int64_t>((rest + picoseconds_per_second - 1) / picoseconds_per_second)};
  }

private:
  __extension__ typedef __int128 Work;
  static constexpr std::int64_t picoseconds_per_second = 1'000'000'000'000;

  [[nodiscard]] Work rest_at(std::int64_t now) const {
    return Work{bytes_} * picoseconds_per_second + fraction_ -
           Work{rate_.bytes_per_second} * (now - since_);
  }

  std::int64_t bytes_ = 0, fraction_ = 0; // the work left at since_; fraction_ in bytes * ps / s
  Bandwidth rate_;
  std::int64_t since_ = 0, due_ = 0; // ps
};

} // namespace tutti
