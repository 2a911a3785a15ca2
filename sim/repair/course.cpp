#include "sim/repair/course.hpp"

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

std::vector<bool> alive_at(const Topology& topology, std::span<const NetworkEvent> events,
                           Time instant) {
  std::vector<bool> alive(topology.node_count(), true);
  for (const NetworkEvent& event : events)
    if (event.kind == NetworkEvent::Kind::npu_down && event.at <= instant)
      alive[event.npu.value] = false;
  return alive;
}

/// What has come to a node and waits there for sends that don't set out any more is let in when all
/// is quiet. Not where the node can't copy: then such a send would have taken along what was there,
/// of which the arrival may hold some, too.
void let_in(const Topology& topology, const Schedule& schedule, const std::vector<bool>& alive,
            Time quiet, Report& given_up) {
  std::erase_if(given_up.stuck, [&](const StuckTransfer& stuck) {
    using Why = StuckTransfer::Why; // lost: also where the receiver has died since
    if (stuck.why != Why::held_back && stuck.why != Why::lost) return false;
    const PathId path = schedule.path_of(stuck.transfer);
    const NodeId receiver = topology.link(schedule.paths().last(path)).to;
    const Abilities& can = topology.node(receiver).can;
    if (!alive[receiver.value] || !can.store || !can.copy) return false;
    given_up.deliveries[stuck.transfer] = quiet;
    return true;
  });
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

RunOptions Course::options() const {
  RunOptions options;
  options.record_deliveries = true;
  options.may_halt = true;
  options.begin = plan_.begin;
  options.watch = asked_->reaction.watch;
  return options;
}

const Report& Course::run(std::size_t count, std::span<const RouteChange> route_changes) {
  if (report_ && events_ == count) return *report_;
  RunOptions with = options();
  with.events = std::span(asked_->events).first(count);
  with.route_changes = route_changes;
  report_ =
      asked_->engine.run(asked_->topology, plan_.collective, plan_.schedule, asked_->model, with);
  events_ = count;
  return *report_;
}

Report Course::run_until(Time instant) const {
  const std::vector<NetworkEvent> events =
      without_recoveries(asked_->events, instant, asked_->topology.link_count());
  RunOptions with = options();
  with.events = events;
  with.freeze = instant;
  Report given_up =
      asked_->engine.run(asked_->topology, plan_.collective, plan_.schedule, asked_->model, with);
  const Time quiet = std::max(given_up.quiet, instant);
  let_in(asked_->topology, plan_.schedule, alive_at(asked_->topology, events, quiet), quiet,
         given_up);
  return given_up;
}

Segment performed(const Segment& plan, const Report& report, Time not_before) {
  Segment segment = plan;
  segment.end = std::max(report.quiet, not_before);
  segment.delivered.assign(plan.schedule.size(), true);
  for (const StuckTransfer& stuck : report.stuck) segment.delivered[stuck.transfer] = false;
  return segment;
}

} // namespace tutti
