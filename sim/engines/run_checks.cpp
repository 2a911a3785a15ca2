// Options are checked once, before a run, so that neither the engines nor what they are built from
// need checks of their own.
#include "sim/engines/run_checks.hpp"

#include "sim/engines/event_queue.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace tutti {

namespace {

void check_jobs(const Collective& collective, std::span<const JobTiming> jobs) {
  if (!jobs.empty() && jobs.size() != collective.parts.size())
    throw InputError(fmt::format("{} jobs are given for a collective of {} parts", jobs.size(),
                                 collective.parts.size()));
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j].priority > JobTiming::highest_priority)
      throw InputError(fmt::format("job {}: priority {} is out of range (0 to {})", j,
                                   jobs[j].priority, JobTiming::highest_priority));
    if (jobs[j].start < Time{}) throw InputError(fmt::format("job {}: it starts before time 0", j));
  }
}

void check_starts(const Topology& topology, const RunOptions& options) {
  const std::span<const Time> starts = options.starts;
  if (starts.empty()) return;
  if (starts.size() != topology.node_count())
    throw InputError(
        fmt::format("{} start times are given for {} nodes", starts.size(), topology.node_count()));
  for (std::uint32_t n = 0; n < starts.size(); ++n) {
    const Node& node = topology.node(NodeId{n});
    if (starts[n] < Time{}) throw InputError(fmt::format("{} starts before time 0", node.name));
    if (starts[n] > Time{} && !node.can.store)
      throw InputError(fmt::format("{} can't store, so it can't start late", node.name));
    require_representable(0, starts[n]);
    for (const JobTiming& job : options.jobs) require_representable(job.start.ps, starts[n]);
  }
}

void check_routes(const Topology& topology, const PathTable& paths,
                  std::span<const RouteChange> changes) {
  for (const RouteChange& change : changes)
    for (const auto& [path, replacement] : change.paths) {
      if (path.value >= paths.size() || replacement.value >= paths.size())
        throw InputError("a route change names a path that the schedule doesn't know");
      if (topology.link(paths.first(path)).from != topology.link(paths.first(replacement)).from ||
          topology.link(paths.last(path)).to != topology.link(paths.last(replacement)).to)
        throw InputError(
            fmt::format("a route change replaces a path from {} to {} by one with other ends",
                        topology.node(topology.link(paths.first(path)).from).name,
                        topology.node(topology.link(paths.last(path)).to).name));
    }
}

template <typename Range> void check_order(const Range& range, const char* what) {
  for (std::size_t i = 0; i < range.size(); ++i)
    if (range[i].at < Time{} || (i > 0 && range[i].at < range[i - 1].at))
      throw InputError(fmt::format("{} are not in the order of their times", what));
}

} // namespace

void check_run(const Topology& topology, const Collective& collective, const Schedule& schedule,
               const RunOptions& options) {
  check_jobs(collective, options.jobs);
  check_starts(topology, options);
  check_routes(topology, schedule.paths(), options.route_changes);
  check_events(options.events);
  check_order(options.route_changes, "route changes");
  if (options.begin < Time{}) throw InputError("a run can't begin before time 0");
}

void check_events(std::span<const NetworkEvent> events) { check_order(events, "network events"); }

void require_plain(const RunOptions& options, std::string_view who) {
  if (!options.is_plain())
    throw InputError(fmt::format("{} knows no network events, jobs, route changes, freezing or "
                                 "halting; fifo does",
                                 who));
}

} // namespace tutti
