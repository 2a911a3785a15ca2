// The engine on SimGrid: its two disciplines, each in a process of its own.

#include "sim/engines/run_checks.hpp"
#include "sim/engines/simgrid/replay.hpp"
#include "sim/engines/simgrid/requests.hpp"
#include "sim/engines/simgrid/worker.hpp"
#include "sim/processes/child_process.hpp"
#include "sim/processes/isolated.hpp"

namespace tutti {

Report simulate_on_simgrid(const Topology& topology, const Collective& collective,
                           const Schedule& schedule, const TimeModel& model,
                           const RunOptions& options) {
  const auto simulate =
      model.discipline == Discipline::fluid ? replay_fluid_on_simgrid : replay_fifo_on_simgrid;
  return simulate(topology, collective, schedule, model, options);
}

Report run_simgrid(const Topology& topology, const Collective& collective, const Schedule& schedule,
                   const TimeModel& model, const RunOptions& options) {
  if (model.discipline == Discipline::fluid) require_plain(options, "fluid sharing");
  check_run(topology, collective, schedule, options);
  Report report;
  if (!has_other_threads()) {
    report = run_isolated(
        [&] { return simulate_on_simgrid(topology, collective, schedule, model, options); },
        exchange_report, options.watch);
  } else {
    const std::string bytes = answer_of_simgrid_worker(
        replay_request(topology, collective, schedule, model, options), options.watch);
    ByteReader(bytes).whole(report, exchange_report);
  }
  report.engine = "simgrid";
  return report;
}

} // namespace tutti
