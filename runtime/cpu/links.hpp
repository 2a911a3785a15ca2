// Links that copies between threads are throttled to, by the clock.
#pragma once

#include "runtime/plans/plan.hpp"

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace tutti::runtime {

/// Nanoseconds of std::chrono::steady_clock.
[[nodiscard]] std::int64_t steady_now();

/// When each link and group is free. Messages take the links of their path one after another, each
/// the first time that it and its groups are free; as the FIFO engines' recurrence, but that a
/// message takes its later links when it starts, not when it reaches them.
class EmulatedLinks {
public:
  explicit EmulatedLinks(const Plan& plan)
      : plan_(plan), links_(plan.links.size()), groups_(plan.groups.size()) {}

  struct Crossing {
    std::int64_t taken = 0; ///< the first link has all of it
    std::int64_t due = 0;   ///< all of it is there
  };
  /// A message that starts now. Thread-safe.
  [[nodiscard]] Crossing send(const Connection& connection, std::uint64_t bytes);
  /// When the last of the messages is there. Thread-safe.
  [[nodiscard]] std::int64_t last_due();

private:
  struct Busy {
    std::int64_t from = 0, to = 0;
  };
  using Calendar = std::vector<Busy>; // ascending, apart from each other
  static std::int64_t first_free(const Calendar& calendar, std::int64_t from, std::int64_t length);
  static void occupy(Calendar& calendar, Busy busy, std::int64_t now);
  std::int64_t take_link(std::uint32_t link, std::uint64_t bytes, std::int64_t head,
                         std::int64_t now);
  [[nodiscard]] std::span<const std::uint32_t> groups_of(std::uint32_t link) const;

  const Plan& plan_;
  std::mutex mutex_;
  std::vector<Calendar> links_, groups_;
  std::int64_t last_due_ = 0;
};

} // namespace tutti::runtime
