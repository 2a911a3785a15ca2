// A collective through failures by hand: a Broadcast from npu0 down a line of three NPUs, of 1 MB,
// which takes 2 (0.5 us + 20 us) = 41 us; and recoveries with times that tests choose.
#pragma once

#include "experiments/driver/studies/failures/evaluation.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "tests/experiments/studies/frontier_samples.hpp"

#include <map>

namespace tutti::samples {

constexpr Time line_time{41'000'000};

inline FailureCase failing_line(const Topology& topology) {
  FailureCase c;
  c.label = "Line";
  c.topology_label = "line";
  c.topology = &topology;
  c.collective = {{"broadcast"}, Bytes{1'000'000}};
  c.algorithm = find_algorithm("tacos");
  c.planner = c.algorithm;
  c.engines = {&find_engine("native")};
  c.policies = {Policy::report, Policy::restart};
  c.events.events = {
      {{{}, 500'000}, {.at = {}, .kind = NetworkEvent::Kind::link_down, .link = LinkId{1}}, {}}};
  return c;
}

/// Everyone has everything at `completion`.
inline Recovery recovered(Policy policy, Time completion) {
  Recovery recovery;
  recovery.policy = policy;
  recovery.ending = Ending::complete;
  recovery.completion = completion;
  recovery.wanted = Bytes{2'000'000};
  recovery.last_came = {Time{}, Time{20'500'000}, completion};
  recovery.progress = {{Time{20'500'000}, Bytes{1'000'000}}, {completion, Bytes{2'000'000}}};
  return recovery;
}

/// npu2 never gets its chunk.
inline Recovery unrecovered(Policy policy) {
  Recovery recovery = recovered(policy, Time{20'500'000});
  recovery.ending = Ending::incomplete;
  recovery.progress.pop_back();
  recovery.last_came.back() = Time{};
  recovery.missing = {{ChunkId{0}, NodeId{2}}};
  recovery.stuck = {{.transfer = 1,
                     .why = StuckTransfer::Why::link_down,
                     .link = LinkId{1},
                     .since = Time{20'500'000}}};
  return recovery;
}

/// What it is without events; else `report` leaves npu2 out, and others take twice as long after
/// one decision in force and one that isn't.
inline Recovery recover_by_hand(const EngineRow&, const Topology&, const Collective&,
                                const Schedule&, const TimeModel&,
                                std::span<const NetworkEvent> events, const Reaction& reaction) {
  if (events.empty()) return recovered(reaction.policy, line_time);
  if (reaction.policy == Policy::report) return unrecovered(reaction.policy);
  Recovery recovery = recovered(reaction.policy, Time{2 * line_time.ps});
  const Time at = events.front().at + reaction.detection + reaction.decision;
  recovery.decisions = {{at, at + Time{1'000'000}, {events.front().at}, "1 chunk anew", true, 0.25},
                        {at, at, {events.front().at}, "nothing better", false, 0.5}};
  recovery.in_vain = Bytes{1'000'000};
  return recovery;
}

} // namespace tutti::samples
