// FIFO on SimGrid's clock.

#include "sim/engines/changes.hpp"
#include "sim/engines/dynamic_core.hpp"
#include "sim/engines/fifo_core.hpp"
#include "sim/engines/simgrid_clock.hpp"
#include "sim/engines/simgrid_fluid.hpp"
#include "sim/engines/simgrid_requests.hpp"
#include "sim/engines/simgrid_worker.hpp"
#include "sim/processes/child_process.hpp"
#include "sim/processes/isolated.hpp"

namespace tutti {

namespace {

Report run_plain(const Topology& topology, const Collective& collective, const Schedule& schedule,
                 const TimeModel& model, const RunOptions& options) {
  SimGridClock<FifoCore> clock(topology.link_count());
  FifoCore<SimGridClock<FifoCore>> core(topology, collective, schedule, model, options, clock);
  clock.run(core);
  return core.finish();
}

template <typename Clock> using ScheduledCore = DynamicCore<Clock, ScheduledTransfers>;

Report run_dynamic(const Topology& topology, const Collective& collective, const Schedule& schedule,
                   const TimeModel& model, const RunOptions& options) {
  SimGridClock<ScheduledCore> clock(topology.link_count());
  ScheduledCore<SimGridClock<ScheduledCore>> core(
      topology, ScheduledTransfers(topology, collective, schedule, options), model, options, clock);
  clock.run(core);
  return core.finish();
}

} // namespace

Report simulate_on_simgrid(const Topology& topology, const Collective& collective,
                           const Schedule& schedule, const TimeModel& model,
                           const RunOptions& options) {
  const auto simulate = model.discipline == Discipline::fluid ? run_simgrid_fluid
                        : options.is_plain()                  ? run_plain
                                                              : run_dynamic;
  return simulate(topology, collective, schedule, model, options);
}

Report run_simgrid(const Topology& topology, const Collective& collective, const Schedule& schedule,
                   const TimeModel& model, const RunOptions& options) {
  if (model.discipline == Discipline::fluid) require_plain(options, "fluid sharing");
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
