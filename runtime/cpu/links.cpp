// A calendar of busy intervals for each link and group: a message takes the first interval in which
// the link and all of its groups are free, and intervals that have passed are dropped.

#include "runtime/cpu/links.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tutti::runtime {

namespace {

/// Rounded up: never faster than the link.
std::int64_t whole_nanoseconds(double seconds) {
  return static_cast<std::int64_t>(std::ceil(seconds * 1e9));
}

} // namespace

std::int64_t steady_now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

EmulatedLinks::Crossing EmulatedLinks::send(const Connection& connection, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const std::int64_t now = steady_now();
  Crossing crossing;
  std::int64_t head = now, end = now, latency = 0;
  for (std::uint32_t i = 0; i < connection.links; ++i) {
    const std::uint32_t id = plan_.path_links[connection.first_link + i];
    const EmulatedLink& link = plan_.links[id];
    const std::int64_t start = take_link(id, bytes, head, now);
    const std::int64_t length =
        whole_nanoseconds(static_cast<double>(bytes) * link.seconds_per_byte);
    end = std::max(start + length, end + latency);
    latency = whole_nanoseconds(link.latency_seconds);
    head = (link.stores ? end : start) + latency;
    if (i == 0) crossing.taken = end;
  }
  crossing.due = end + latency;
  last_due_ = std::max(last_due_, crossing.due);
  return crossing;
}

std::int64_t EmulatedLinks::last_due() {
  const std::scoped_lock lock(mutex_);
  return last_due_;
}

std::span<const std::uint32_t> EmulatedLinks::groups_of(std::uint32_t link) const {
  return std::span(plan_.link_groups)
      .subspan(plan_.links[link].first_group, plan_.links[link].groups);
}

/// The start on the link; it and its groups are taken.
std::int64_t EmulatedLinks::take_link(std::uint32_t link, std::uint64_t bytes, std::int64_t head,
                                      std::int64_t now) {
  const auto length = [bytes](double seconds_per_byte) {
    return whole_nanoseconds(static_cast<double>(bytes) * seconds_per_byte);
  };
  const std::int64_t own = length(plan_.links[link].seconds_per_byte);
  std::int64_t start = head;
  for (std::int64_t before = -1; before != start;) { // until all are free at once
    before = start;
    start = first_free(links_[link], start, own);
    for (const std::uint32_t g : groups_of(link))
      start = first_free(groups_[g], start, length(plan_.groups[g].seconds_per_byte));
  }
  occupy(links_[link], {start, start + own}, now);
  for (const std::uint32_t g : groups_of(link))
    occupy(groups_[g], {start, start + length(plan_.groups[g].seconds_per_byte)}, now);
  return start;
}

std::int64_t EmulatedLinks::first_free(const Calendar& calendar, std::int64_t from,
                                       std::int64_t length) {
  for (const Busy& busy : calendar) {
    if (busy.to <= from) continue;
    if (busy.from >= from + length) break;
    from = busy.to;
  }
  return from;
}

void EmulatedLinks::occupy(Calendar& calendar, Busy busy, std::int64_t now) {
  std::erase_if(calendar, [now](const Busy& b) { return b.to <= now; });
  calendar.insert(std::ranges::upper_bound(calendar, busy.from, {}, &Busy::from), busy);
}

} // namespace tutti::runtime
