// Network events, route changes, starts of parts and the freeze each come sorted from RunOptions;
// one cursor for each list, and the earliest of the four next times, are all that an engine asks
// for.

#include "sim/engines/changes.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

namespace tutti {

Changes::Changes(const Topology& topology, const PathTable& paths, const RunOptions& options)
    : events_(options.events), route_changes_(options.route_changes), network_(topology) {
  if (options.freeze) freeze_ = options.freeze->ps;
  for (std::size_t p = 0; p < options.jobs.size(); ++p)
    parts_.emplace_back(options.jobs[p].start, p);
  std::sort(parts_.begin(), parts_.end());
  if (!route_changes_.empty())
    for (std::uint32_t p = 0; p < paths.size(); ++p) routes_.emplace_back(p);
  find_next();
}

Changes::Due Changes::take(std::int64_t now) {
  const Time until{now};
  Due due;
  const std::size_t first_event = next_event_, first_part = next_part_;
  while (next_event_ < events_.size() && events_[next_event_].at <= until)
    network_.apply(events_[next_event_++]);
  due.events = events_.subspan(first_event, next_event_ - first_event);
  for (;
       next_route_change_ < route_changes_.size() && route_changes_[next_route_change_].at <= until;
       ++next_route_change_) {
    due.reroutes = true;
    for (const auto& [path, replacement] : route_changes_[next_route_change_].paths)
      routes_[path.value] = replacement;
  }
  due.freezes = !frozen_ && freeze_ <= now;
  frozen_ = frozen_ || due.freezes;
  while (next_part_ < parts_.size() && parts_[next_part_].first <= until) ++next_part_;
  due.parts = std::span(parts_).subspan(first_part, next_part_ - first_part);
  find_next();
  return due;
}

void Changes::find_next() {
  next_ = frozen_ ? never : freeze_;
  if (next_event_ < events_.size()) next_ = std::min(next_, events_[next_event_].at.ps);
  if (next_route_change_ < route_changes_.size())
    next_ = std::min(next_, route_changes_[next_route_change_].at.ps);
  if (next_part_ < parts_.size()) next_ = std::min(next_, parts_[next_part_].first.ps);
}

Levels::Levels(const Collective& collective, std::span<const JobTiming> jobs) {
  std::set<std::uint8_t, std::greater<>> priorities;
  for (const JobTiming& job : jobs) priorities.insert(job.priority);
  if (priorities.size() < 2) return;
  count_ = priorities.size();
  of_chunk_.resize(collective.chunks.size());
  for (std::size_t p = 0; p < jobs.size(); ++p) {
    const CollectivePart& part = collective.parts[p];
    const auto level = std::distance(priorities.begin(), priorities.find(jobs[p].priority));
    std::fill_n(of_chunk_.begin() + part.first.value, part.chunk_count,
                static_cast<std::uint8_t>(level));
  }
}

} // namespace tutti
