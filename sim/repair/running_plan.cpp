// A plan is replayed from its beginning whenever more events are known, instead of keeping an
// engine's state and going on from there; the last full replay is kept, since several questions are
// asked of it.

#include "sim/repair/running_plan.hpp"

#include <algorithm>

namespace tutti {

namespace {

/// Without links that come up after the instant (and what happens to them from then on).
std::vector<NetworkEvent> without_recoveries(std::span<const NetworkEvent> events, Time instant,
                                             std::uint32_t link_count) {
  std::vector<bool> came_up(link_count);
  std::vector<NetworkEvent> kept;
  for (const NetworkEvent& event : events) {
    if (event.at > instant && event.kind == NetworkEvent::Kind::link_up)
      came_up[event.link.value] = true;
    if (!event.link.valid() || !came_up[event.link.value]) kept.push_back(event);
  }
  return kept;
}

} // namespace

std::size_t RecoveryCase::events_by(Time instant) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(events, instant, {}, &NetworkEvent::at) -
                                  events.begin());
}

NetworkState RecoveryCase::network(std::size_t count) const {
  NetworkState state(topology);
  for (std::size_t i = 0; i < count; ++i) state.apply(events[i]);
  return state;
}

Segment first_segment(const Collective& collective, Schedule schedule) {
  const std::size_t chunks = collective.chunks.size();
  Segment segment{{}, {}, collective, {}, {}, std::move(schedule), {}, false};
  for (std::uint32_t c = 0; c < chunks; ++c) {
    segment.chunk.emplace_back(c);
    segment.starts.add(Start::input);
  }
  return segment;
}

RunOptions RunningPlan::options() const {
  RunOptions options;
  options.record_deliveries = true;
  options.record_hops = asked_->reaction.record_hops;
  options.may_halt = true;
  options.begin = plan_.begin;
  options.starts = asked_->reaction.starts;
  options.watch = asked_->reaction.watch;
  return options;
}

const Report& RunningPlan::run(std::size_t count, std::span<const RouteChange> route_changes) {
  if (report_ && events_ == count) return *report_;
  RunOptions with = options();
  with.events = std::span(asked_->events).first(count);
  with.route_changes = route_changes;
  report_ =
      asked_->engine.run(asked_->topology, plan_.collective, plan_.schedule, asked_->model, with);
  events_ = count;
  return *report_;
}

Report RunningPlan::run_until(Time instant) const {
  const std::vector<NetworkEvent> events =
      without_recoveries(asked_->events, instant, asked_->topology.link_count());
  RunOptions with = options();
  with.events = events;
  with.freeze = instant;
  return asked_->engine.run(asked_->topology, plan_.collective, plan_.schedule, asked_->model,
                            with);
}

Segment performed(const Segment& plan, const Report& report, Time not_before) {
  Segment segment = plan;
  segment.end = std::max(report.quiet, not_before);
  segment.delivered.assign(plan.schedule.size(), true);
  for (const StuckTransfer& stuck : report.stuck) {
    segment.delivered[stuck.transfer] = false;
    if (stuck.why == StuckTransfer::Why::held_back) segment.waiting.push_back(stuck.transfer);
  }
  return segment;
}

} // namespace tutti
