// Engines decide when things happen. Both follow the same recurrence on FIFO (README, "The model");
// `simgrid` is the reference and also knows fluid sharing, `native` is for scale.
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tutti {

struct RunOptions {
  bool record_deliveries = false; ///< fill Report::deliveries
  bool record_hops = false;       ///< fill Report::hops
};

/// Replays a schedule that verify() accepts. Errors: InputError for a discipline that the engine
/// doesn't know, a link bandwidth and size whose time overflows, transfers that can never happen
/// (named). simgrid also std::runtime_error: its clock is a double, which can't tell picoseconds
/// apart from some 2,000 simulated seconds on; or its child process died.
using EngineFunction = Report (*)(const Topology&, const Collective&, const Schedule&,
                                  const TimeModel&, const RunOptions&);

/// The same for a compact schedule.
using CompactEngineFunction = Report (*)(const Topology&, const Collective&, const CompactSchedule&,
                                         const TimeModel&);

struct EngineRow {
  std::string_view name;
  EngineFunction run;
  bool knows_fluid;
  std::string_view note;
  CompactEngineFunction run_compact = nullptr; ///< null where the engine needs a list
};

/// simgrid, native.
[[nodiscard]] std::span<const EngineRow> engines();
/// Errors: InputError with the known names.
[[nodiscard]] const EngineRow& find_engine(std::string_view name);

/// Own event queue, FIFO only. Unmodelled: packets, protocol overhead, finite buffers, NPU-side
/// contention other than shared groups and reduction rates.
[[nodiscard]] Report run_native(const Topology& topology, const Collective& collective,
                                const Schedule& schedule, const TimeModel& model,
                                const RunOptions& options = {});

/// The same from the compact form, with nothing kept per transfer: beside the schedule itself one
/// bit per (chunk, node). Where links share bandwidth or a switch forwards, the order across
/// links matters and the schedule is expanded first. Errors: also InputError where a chunk never
/// reaches its sender.
[[nodiscard]] Report run_native_compact(const Topology& topology, const Collective& collective,
                                        const CompactSchedule& schedule, const TimeModel& model);

/// SimGrid's event loop, FIFO and fluid. One SimGrid engine can live per process, so the simulation
/// runs in a forked child and the report comes back through a pipe. Same unmodelled effects.
[[nodiscard]] Report run_simgrid(const Topology& topology, const Collective& collective,
                                 const Schedule& schedule, const TimeModel& model,
                                 const RunOptions& options = {});

} // namespace tutti
