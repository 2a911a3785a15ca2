// A collective through failures: what happens to it if nobody does anything, if stuck transfers
// take other routes, if the rest is planned anew, if it starts over.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/network_event.hpp"
#include "sim/repair/residual.hpp"
#include "sim/repair/segment.hpp"
#include "sim/synthesizer.hpp"
#include "sim/words.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class Policy : std::uint8_t {
  report,       ///< nothing is done: what is stuck waits for its link
  reroute,      ///< what can't go on takes the shortest path that is left, between the same ends
  resynthesize, ///< the rest is planned anew, from who holds what, on the network as it is
  restart,      ///< everything is planned anew for those alive, from their own inputs
};
inline constexpr Words<Policy, 4> policy_words{"policy",
                                               {"report", "reroute", "resynthesize", "restart"}};
[[nodiscard]] constexpr std::string_view to_text(Policy policy) {
  return policy_words.text(policy);
}
inline constexpr std::array all_policies{Policy::report, Policy::reroute, Policy::resynthesize,
                                         Policy::restart};

/// Plans a collective on a network whose links are numbered anew (PresentNetwork).
using Planner = std::function<Outcome(const Topology& network, const Collective& collective)>;

/// A lower bound that is above this time of a schedule for the collective, in words; empty where
/// none is.
using BoundCheck = std::function<std::string(const Topology& topology, const Collective& collective,
                                             const TimeModel& model, Time time)>;

struct Reaction {
  Policy policy = Policy::report;
  /// From an event until someone knows, and from then until the answer is in force. Meanwhile the
  /// old plan goes on, as far as it can.
  Time detection, decision;
  /// What resynthesize and restart plan with. The seconds it needs are not in `decision`.
  Planner plan;
  Watch watch = {}; ///< of each replay
  /// Asked of each plan and of each run that is complete, with up to 200,000 transfers: an
  /// engine that is faster than a bound is a defect. May be empty.
  BoundCheck beaten_bound = {};
  /// RunOptions::starts, by the clock of the whole run: a plan made anew doesn't make anyone join
  /// sooner, and whoever dies before its start never joins. Planners don't know of them.
  std::span<const Time> starts = {};
  /// Asked where `plan` has no plan that isn't proven impossible: it isn't made for what is left.
  /// May be empty.
  Planner fallback = {};
  bool record_hops = false; ///< fill Recovery::hops
};

/// One answer to events, at one instant.
struct Decision {
  Time at;                  ///< in force: what has not set out by then does not
  Time begin;               ///< the new plan's transfers enter (what was under way has ended)
  std::vector<Time> causes; ///< when the events happened that it answers, in order
  std::string what;         ///< "12 paths rerouted", "1,024 chunks planned anew by tacos", ...
  bool in_force = true; ///< false: going on as before was at least as fast, or no plan was found
  double planning_seconds = 0; ///< CPU
  bool by_fallback = false;    ///< the plan is that of Reaction::fallback
};

/// Bytes of (chunk, NPU) that are in place from an instant on, of all that NPUs want and don't hold
/// at the start.
struct ProgressPoint {
  Time at;
  Bytes in_place;
};

struct Recovery {
  Policy policy = Policy::report;
  Ending ending = Ending::incomplete;
  /// The last delivery of what someone alive wants; meaningful also where not complete. 0 where
  /// there was none. Where complete, at least the last start of members alive.
  Time completion;
  Time last_start; ///< of members alive; 0 without starts
  std::vector<Segment> segments;
  std::vector<std::vector<Time>> deliveries; ///< per segment and transfer
  std::vector<std::vector<HopRecord>> hops;  ///< per segment; only where asked for
  std::vector<RouteChange> route_changes;
  /// Later ones came when everyone had joined and had all it wants.
  std::size_t events_counted = 0;
  std::vector<Decision> decisions;
  std::vector<ChunkAt> lost;    ///< given up, or held by nobody alive in the end
  std::vector<ChunkAt> missing; ///< what NPUs alive want, that isn't lost, and that they don't have
  std::vector<StuckTransfer> stuck; ///< of the last segment
  std::vector<LinkUse> links;       ///< of all segments
  /// Carried over links (each counts) by deliveries that nothing in place at the end came from.
  Bytes in_vain;
  std::vector<ProgressPoint> progress; ///< by time; what is dropped or dies later doesn't count
  std::vector<Time> last_came;         ///< per NPU: the last delivery of what it wants; 0 for none
  Bytes wanted;                        ///< what `progress` reaches if nothing fails
  /// A defect of Tutti or of the planner, in words: a schedule that isn't correct, what
  /// check_history() says of the above, an engine that beat a bound. Empty where all is well.
  std::string problem;

  [[nodiscard]] bool complete() const { return ending == Ending::complete; }
};

/// Errors: InputError of the engine (fluid has no events; starts out of range), of sorted_events();
/// Stopped. Pre: verify() accepts the schedule.
[[nodiscard]] Recovery recover(const EngineRow& engine, const Topology& topology,
                               const Collective& collective, const Schedule& schedule,
                               const TimeModel& model, std::span<const NetworkEvent> events,
                               const Reaction& reaction);

/// Which NPUs lack how much, and since when nothing has come, in words, at most `most` of them:
/// "npu5 lacks 12 of 63 chunks, the last came at 1.2 ms". For people.
[[nodiscard]] std::vector<std::string> missing_text(const Topology& topology,
                                                    const Collective& collective,
                                                    const Recovery& recovery, std::size_t most);

} // namespace tutti
