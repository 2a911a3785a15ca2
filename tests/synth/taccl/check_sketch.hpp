// Does this schedule keep to this sketch? Written from what a sketch says, not from the logical
// topology that synthesis makes of it.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "synth/taccl/sketch.hpp"

#include <optional>
#include <string>

namespace tutti {

/// The first way in which it doesn't, in words; nothing where it does:
///   every transfer goes from an NPU to another one, through nothing that is an NPU;
///   within a machine over a direct link that is allowed, or between two NPUs of one hyperedge;
///   from one machine to another by a connection of the sketch;
///   a chunk that is copied leaves the machine of its source, and a sum enters the machine of its
///   destination, only through those whom the sketch names for that NPU;
///   over a connection between machines a sender's own chunks go first, where that is asked;
///   the rotations that the sketch names take its transfers to its transfers (those that it leaves
///   to be found aren't checked).
/// Policies aren't rules and aren't checked. Pre: verify() accepts the schedule, require_fitting()
/// the sketch. Cost: O(transfers * log * rotations).
[[nodiscard]] std::optional<std::string> sketch_fault(const Topology& topology,
                                                      const Collective& collective,
                                                      const Schedule& schedule,
                                                      const Sketch& sketch);

} // namespace tutti
