// Did a repaired collective do what is said of it? Answers from the definition: who physically
// holds what, from each NPU's own input on, delivery by delivery. Shares no code with those who
// plan, replay or account for repairs.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/network_event.hpp"
#include "sim/repair/segment.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What happened.
struct HistoryRecord {
  std::span<const Segment> segments;
  std::span<const std::vector<Time>> deliveries; ///< [segment][transfer]; of what was delivered
  std::span<const NetworkEvent> events;          ///< as sorted_events() gives them
  std::span<const RouteChange> route_changes;    ///< as the engine was given them
  std::span<const Time> starts = {};             ///< per node, or empty: when it joins
  /// Whether each crossing takes whole picoseconds, rounded up; else it may take one less.
  bool rounds_up = true;
};

/// What is said of it.
struct HistoryClaim {
  Ending ending = Ending::incomplete;
  /// The last delivery that someone alive wanted; where complete, at least the last start of those
  /// alive who hold or want something.
  Time completion;
  std::span<const ChunkAt> lost;    ///< contributions that are in no result any more, in order
  std::span<const ChunkAt> missing; ///< what NPUs alive want and don't have, in order
  /// Events from this one on came after everyone alive had joined and had all it wants: who dies
  /// then has not died as far as the claim goes.
  std::size_t events_counted = 0;
};

/// The first thing that isn't so, in words with segment, transfer or chunk; nothing where all is.
///
/// The definition. An NPU's own input is there as long as it lives. Beside it, it has one working
/// value of each chunk: a set of contributions (of a chunk that is copied: the chunk or nothing).
/// Beside that lies what has come to it and waits (Segment::waiting), until the chunk's next plan.
/// A segment sets the values of its sources as Segment::starts and takes_in say; what others have
/// lies there until its first delivery overwrites it; switches and memories are empty. A delivery
/// hands on the sender's value, which moves on where the sender can't copy; a copy takes the place
/// of the receiver's value and must not lose any of it, a reduction is added to it. Who joins late
/// neither sends nor takes delivery before; what a plan lets it take in, or go back to, it has from
/// its start on.
/// So these are faults:
/// - of deliveries: one that the network can't have made by then (EarliestArrival: over a link that
///   is down, out of or into an NPU that is dead, out of one that had not joined), into an NPU that
///   had not joined, of what the sender doesn't have, of a contribution that the receiver has
///   already (it would count twice), outside its segment;
/// - of plans: sources that begin with what they don't have, or with contributions that overlap; a
///   contribution that is left out though its NPU lives, or though a value that someone alive has
///   would have added it in place of those chosen that it has within it (whether some other choice
///   of values holds more is not asked). Only who begins anew leaves out what the dead gave;
/// - of claims: lost are exactly those contributions that nobody alive holds in the end, and those
///   that a plan has left out; missing is exactly what NPUs alive want and can't show: a value of
///   every contribution that isn't lost, once, and no other. Ending, completion and the events that
///   count follow.
///
/// Pre: the segments' schedules and the first one's collective are as verify() accepts them; a
/// value in deliveries for each that is delivered. Cost: O(crossings + chunks * nodes), times
/// contributors / 64 for chunks that reduce.
[[nodiscard]] std::optional<std::string> check_history(const Topology& topology,
                                                       const Collective& collective,
                                                       const HistoryRecord& record,
                                                       const HistoryClaim& claim);

} // namespace tutti
