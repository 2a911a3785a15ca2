// What a simulation on SimGrid is of, and what it comes to, as messages: for the worker program
// that simulates where this process must not be forked.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/iteration.hpp"
#include "sim/processes/message_stream.hpp"

#include <string>

namespace tutti {

/// What both ends must agree on: Tutti's version, and that of these messages.
[[nodiscard]] std::string simgrid_worker_version();

/// run_simgrid() with these arguments, but for the watch.
[[nodiscard]] std::string replay_request(const Topology& topology, const Collective& collective,
                                         const Schedule& schedule, const TimeModel& model,
                                         const RunOptions& options);
/// run_iteration_simgrid() with these arguments, but for the watch.
[[nodiscard]] std::string iteration_request(const Topology& topology, const Workload& workload,
                                            const WorkloadPlans& plans,
                                            const IterationOptions& options);

/// load_simgrid_platform() with these arguments.
[[nodiscard]] std::string platform_request(const std::string& content, const std::string& source,
                                           bool routes, double most_seconds);

/// Simulates in this process, which has simulated nothing on SimGrid before, what a request says:
/// the report's bytes; or loads a platform, in a process of its own.
/// Errors: as run_simgrid(), run_iteration_simgrid() and load_simgrid_platform().
[[nodiscard]] std::string simgrid_answer(const std::string& request);

/// The fields of a report but the engine's name, in the order in which they travel.
inline constexpr auto exchange_report = [](auto& stream, auto& report) {
  stream.value(report.model);
  stream.text(report.network_parameters);
  stream.value(report.completion);
  stream.vector(report.links);
  stream.vector(report.chunk_done);
  stream.vector(report.deliveries);
  stream.vector(report.hops);
  stream.value(report.link_transfers);
  stream.vector(report.stuck);
  stream.value(report.quiet);
};
inline constexpr auto exchange_iteration = [](auto& stream, auto& report) {
  stream.value(report.model);
  stream.value(report.duration);
  stream.vector(report.accounts);
  stream.vector(report.communication);
  stream.vector(report.links);
  stream.vector(report.spans);
  stream.value(report.operations);
  stream.value(report.communications);
  stream.value(report.link_transfers);
  stream.value(report.replayed);
};

/// What the isolated runs do, in this process.
[[nodiscard]] Report simulate_on_simgrid(const Topology& topology, const Collective& collective,
                                         const Schedule& schedule, const TimeModel& model,
                                         const RunOptions& options);
[[nodiscard]] IterationReport simulate_iteration_on_simgrid(const Topology& topology,
                                                            const Workload& workload,
                                                            const WorkloadPlans& plans,
                                                            const IterationOptions& options);

} // namespace tutti
