// The engine on SimGrid: what its library's process answers (worker.hpp).

#include "sim/engines/run_checks.hpp"
#include "sim/engines/simgrid/requests.hpp"
#include "sim/engines/simgrid/worker.hpp"
#include "sim/iteration/checks.hpp"

namespace tutti {

Report run_simgrid(const Topology& topology, const Collective& collective, const Schedule& schedule,
                   const TimeModel& model, const RunOptions& options) {
  if (model.discipline == Discipline::fluid) require_plain(options, "fluid sharing");
  check_run(topology, collective, schedule, options);
  Report report;
  SimGridSession once;
  SimGridSession& session = options.simgrid != nullptr ? *options.simgrid : once;
  const std::string bytes =
      session.answer(replay_request(topology, collective, schedule, model, options), options.watch);
  ByteReader(bytes).whole(report, exchange_report);
  report.engine = "simgrid";
  return report;
}

IterationReport run_iteration_simgrid(const Topology& topology, const Workload& workload,
                                      const WorkloadPlans& plans, const IterationOptions& options) {
  check_iteration(topology, workload, plans, options);
  IterationReport report;
  const std::string bytes =
      answer_of_simgrid(iteration_request(topology, workload, plans, options), options.watch);
  ByteReader(bytes).whole(report, exchange_iteration);
  report.engine = "simgrid";
  return report;
}

SimGridPlatform load_simgrid_platform(const std::string& content, const std::string& source,
                                      bool routes, double most_seconds) {
  SimGridPlatform platform;
  const std::string bytes =
      answer_of_simgrid(platform_request(content, source, routes, most_seconds), {});
  ByteReader(bytes).whole(platform, exchange_platform);
  return platform;
}

} // namespace tutti
