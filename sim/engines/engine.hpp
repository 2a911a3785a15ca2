// Engines decide when things happen. Both follow the same rules on FIFO (docs/model.md) and share
// no decision: on `simgrid` SimGrid says how long what takes, and it also knows fluid sharing;
// `native` is for scale; `both` holds one against the other.
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/network_event.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// When one part of a collective begins, and how much it counts against the others.
struct JobTiming {
  static constexpr std::uint8_t highest_priority = 7;
  Time start = {};
  /// A higher one is served first at every queue (links, groups, reduction units), without
  /// preemption.
  std::uint8_t priority = 0;
};

/// From an instant on, transfers of one path enter over another one with the same ends. What has
/// entered before and has a link before it that is down then is taken back and enters anew.
struct RouteChange {
  Time at;
  std::vector<std::pair<PathId, PathId>> paths; ///< as in the schedule, what it is replaced by
};

class SimGridSession; // sim/engines/simgrid/worker.hpp

struct RunOptions {
  bool record_deliveries = false;    ///< fill Report::deliveries
  bool record_hops = false;          ///< fill Report::hops
  Watch watch = {};                  ///< counts transfers delivered; of simgrid nobody knows
  unsigned threads = 1;              ///< at most; what comes out is the same
  SimGridSession* simgrid = nullptr; ///< keeps what simgrid runs need; null: for this run only

  // What follows needs fifo and a listed schedule.

  /// Per part of the collective; empty: all at the beginning, with equal priority. Parts don't wait
  /// for each other: only transfers of one part and one path form a connection.
  std::span<const JobTiming> jobs = {};
  /// Per node, or empty: when it joins (a job: after the job's start). Before, it neither sends nor
  /// takes delivery; what arrives waits at it, holding no link. Paths go through it all the same,
  /// and only nodes that can store start late. fluid knows it, too.
  std::span<const Time> starts = {};
  std::span<const NetworkEvent> events = {};       ///< as sorted_events() gives them
  std::span<const RouteChange> route_changes = {}; ///< by time
  /// The run's clock begins here; events up to then have happened before.
  Time begin = {};
  /// From this instant on no transfer sets out, but for those that only pass on what is under way
  /// through nodes that can't store. What has set out goes on.
  std::optional<Time> freeze = {};
  /// A run that comes to a halt with transfers undelivered is a result (Report::stuck) and no
  /// error.
  bool may_halt = false;

  /// Whether nothing but a plain replay is asked for, all being there at once or not.
  [[nodiscard]] bool is_plain() const {
    return jobs.empty() && events.empty() && route_changes.empty() && begin == Time{} && !freeze &&
           !may_halt;
  }
};

/// Replays a schedule that verify() accepts. Errors: InputError for a discipline that the engine
/// doesn't know, options that need fifo under another one, a link bandwidth and size whose time
/// overflows, transfers that can never happen (named); of simgrid also where its clock, a double,
/// can't tell picoseconds apart, beyond 50 simulated seconds, and std::runtime_error where its
/// child process died. Stopped where the watch says so.
using EngineFunction = Report (*)(const Topology&, const Collective&, const Schedule&,
                                  const TimeModel&, const RunOptions&);

/// The same for a compact schedule.
using CompactEngineFunction = Report (*)(const Topology&, const Collective&, const CompactSchedule&,
                                         const TimeModel&, const Watch&, unsigned threads);

struct EngineRow {
  std::string_view name;
  EngineFunction run;
  bool knows_fluid;
  std::string_view note;
  CompactEngineFunction run_compact = nullptr; ///< null where the engine needs a list
};

/// simgrid, native, both.
[[nodiscard]] std::span<const EngineRow> engines();
/// Errors: InputError with the known names.
[[nodiscard]] const EngineRow& find_engine(std::string_view name);
/// Whether it replays a compact schedule as it is; elsewhere it is expanded first.
[[nodiscard]] bool takes_compact(const EngineRow& engine, Discipline discipline);

/// Own event queue, FIFO only. Unmodelled: packets, protocol overhead, finite buffers, NPU-side
/// contention other than shared groups and reduction rates.
[[nodiscard]] Report run_native(const Topology& topology, const Collective& collective,
                                const Schedule& schedule, const TimeModel& model,
                                const RunOptions& options = {});

/// The same from the compact form, with nothing kept per transfer: beside the schedule itself 8
/// bytes per (chunk, node), at some 40 ns a transfer, which threads share from 2,048 nodes on.
/// Where links share bandwidth or a switch forwards, the order across links matters and the
/// schedule is expanded first; so it is where it brings few chunks to few nodes. Errors: also
/// InputError where a chunk never reaches its sender; Stopped.
[[nodiscard]] Report run_native_compact(const Topology& topology, const Collective& collective,
                                        const CompactSchedule& schedule, const TimeModel& model,
                                        const Watch& watch = {}, unsigned threads = 1);

/// SimGrid's network, FIFO and fluid, in a process of its own, as each can hold one engine: a
/// fork or, where this one has other threads, tutti_simgrid_worker. Same unmodelled effects.
[[nodiscard]] Report run_simgrid(const Topology& topology, const Collective& collective,
                                 const Schedule& schedule, const TimeModel& model,
                                 const RunOptions& options = {});

} // namespace tutti
