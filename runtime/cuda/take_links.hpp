// Emulated links: a message waits as long as the network would need for it.
//
// Each link and each group has a clock, the time until which it is taken; a message pushes them on
// by what it needs, in the order in which messages come: one clock for each, not a calendar, so
// that blocks need no lock. The rules are the simulator's: a link passes a message on when all of
// it is there, or as soon as its head is (cut-through). The sender takes the first link of the path
// and tells when; the receiver takes each further one when the message gets there.
#pragma once

#include "runtime/cuda/device_code.hpp"
#include "runtime/cuda/run_view.hpp"

#include <cmath>
#include <cstdint>

namespace tutti::runtime {

/// A message at the end of a link of its path; ns.
struct Crossing {
  std::uint64_t taken = 0; ///< until then the link is
  std::uint64_t head = 0;  ///< when it can start on the next link
  std::uint64_t due = 0;   ///< when all of it is there
};

[[nodiscard]] TUTTI_DEVICE inline std::uint64_t later(std::uint64_t a, std::uint64_t b) {
  return a < b ? b : a;
}

/// Rounded up: never faster than the link.
[[nodiscard]] TUTTI_DEVICE inline std::uint64_t nanoseconds(double seconds) {
  return static_cast<std::uint64_t>(std::ceil(seconds * 1e9));
}

/// When a message that reaches the link at `head` starts on it; takes the link and its groups.
/// `Machine::claim(clock, from, span)` raises a clock to max(clock, from) + span, at once for all
/// blocks, and returns max(clock, from).
template <typename Machine>
[[nodiscard]] TUTTI_DEVICE std::uint64_t take_link(Machine& machine, const RunView& run,
                                                   std::uint32_t id, std::uint64_t head,
                                                   double bytes) {
  const EmulatedLink& link = run.links[id];
  const std::uint64_t span = nanoseconds(link.seconds_per_byte * bytes);
  const std::uint64_t free = machine.claim(&run.link_free[id], head, span);
  std::uint64_t start = free;
  for (std::uint32_t i = 0; i < link.groups; ++i) {
    const std::uint32_t group = run.link_groups[link.first_group + i];
    start = machine.claim(&run.group_free[group], start,
                          nanoseconds(run.groups[group].seconds_per_byte * bytes));
  }
  // What waits for a group holds its link.
  if (start != free) (void)machine.claim(&run.link_free[id], start + span, 0);
  return start;
}

/// What starts on the link at `start`, and was complete before it at `due`.
[[nodiscard]] TUTTI_DEVICE inline Crossing pass_link(const EmulatedLink& link, std::uint64_t start,
                                                     std::uint64_t due, double bytes) {
  const std::uint64_t latency = nanoseconds(link.latency_seconds);
  Crossing crossing;
  crossing.taken = start + nanoseconds(link.seconds_per_byte * bytes);
  crossing.due = later(crossing.taken, due) + latency;
  crossing.head = link.stores ? crossing.due : start + latency;
  return crossing;
}

} // namespace tutti::runtime
