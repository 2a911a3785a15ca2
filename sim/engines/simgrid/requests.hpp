// What a simulation on SimGrid is of, and what it comes to, as messages: for the process that
// simulates.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/engines/simgrid/platform.hpp"
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

/// What the library that is linked with SimGrid does, in a process that has simulated nothing on it
/// before. Errors: as run_simgrid(), run_iteration_simgrid() and load_simgrid_platform().
struct SimGridFunctions {
  Report (*replay)(const Topology& topology, const Collective& collective, const Schedule& schedule,
                   const TimeModel& model, const RunOptions& options);
  IterationReport (*iterate)(const Topology& topology, const Workload& workload,
                             const WorkloadPlans& plans, const IterationOptions& options);
  /// The platform's bytes.
  std::string (*load)(const std::string& content, const std::string& source, bool routes,
                      double most_seconds);
};
/// Does what a request says: the bytes of what that comes to.
[[nodiscard]] std::string simgrid_answer(const std::string& request, const SimGridFunctions& by);

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

inline constexpr auto exchange_properties = [](auto& stream, auto& properties) {
  exchange_items(stream, properties, [](auto& s, auto& property) {
    s.text(property.first);
    s.text(property.second);
  });
};

inline constexpr auto exchange_platform = [](auto& stream, auto& platform) {
  exchange_items(stream, platform.hosts, [](auto& s, auto& host) {
    s.text(host.name);
    exchange_properties(s, host.properties);
  });
  exchange_items(stream, platform.links, [](auto& s, auto& link) {
    s.text(link.name);
    s.value(link.bandwidth);
    s.value(link.latency);
    s.value(link.sharing);
    exchange_properties(s, link.properties);
  });
  exchange_properties(stream, platform.properties);
  stream.vector(platform.route_begin);
  stream.vector(platform.route_links);
  stream.vector(platform.route_latency);
};

} // namespace tutti
