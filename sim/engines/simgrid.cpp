// FIFO on SimGrid's clock.

#include "sim/engines/changes.hpp"
#include "sim/engines/dynamic_core.hpp"
#include "sim/engines/fifo_core.hpp"
#include "sim/engines/simgrid_clock.hpp"
#include "sim/engines/simgrid_fluid.hpp"
#include "sim/processes/isolated.hpp"

namespace tutti {

namespace {

constexpr auto exchange_fields = [](auto& stream, auto& report) {
  stream.value(report.model);
  stream.value(report.completion);
  stream.vector(report.links);
  stream.vector(report.chunk_done);
  stream.vector(report.deliveries);
  stream.vector(report.hops);
  stream.value(report.link_transfers);
  stream.vector(report.stuck);
  stream.value(report.quiet);
};

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

Report run_simgrid(const Topology& topology, const Collective& collective, const Schedule& schedule,
                   const TimeModel& model, const RunOptions& options) {
  if (model.discipline == Discipline::fluid) require_plain(options, "fluid sharing");
  const auto simulate = model.discipline == Discipline::fluid ? run_simgrid_fluid
                        : options.is_plain()                  ? run_plain
                                                              : run_dynamic;
  Report report =
      run_isolated([&] { return simulate(topology, collective, schedule, model, options); },
                   exchange_fields, options.watch);
  report.engine = "simgrid";
  return report;
}

} // namespace tutti
