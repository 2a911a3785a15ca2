// Every picosecond of an NPU is in exactly one account, and no iteration is below its bound. Under
// noise nothing is planned anew: a running job has the plans that it has. Each draw is held to a
// bound, too: whoever starts late computes all the same, and where links are as they were planned
// for, no communication is faster than its plan's bound.
#include "experiments/driver/studies/training/iteration.hpp"

#include "sim/engines/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tutti {

namespace {

Time compute_time(const TrainingProgram& program) {
  Time time;
  for (const Operation& operation : program.operations())
    if (operation.kind == Operation::Kind::compute) time += Time{operation.amount};
  return time;
}

} // namespace

std::string account_problem(const IterationReport& report) {
  for (std::size_t npu = 0; npu < report.accounts.size(); ++npu) {
    const Time total = report.accounts[npu].total();
    if (total != report.duration)
      return fmt::format("engine {}: the times of npu{} add up to {}, not to {}", report.engine,
                         npu, to_text(total), to_text(report.duration));
    for (std::size_t p = 0; p < purpose_count; ++p)
      if (report.accounts[npu].exposed[p] > report.communication[npu][p])
        return fmt::format("engine {}: npu{} waits longer for {} communication than there is",
                           report.engine, npu, to_text(static_cast<Purpose>(p)));
  }
  return {};
}

// Whatever overlaps: no NPU can compute less than its program says, and no planned communication
// takes less than its own bound.
IterationBound::IterationBound(const Workload& workload,
                               std::span<const PlannedCommunication> communications) {
  std::vector<Time> of_programs;
  for (const TrainingProgram& program : workload.programs)
    of_programs.push_back(compute_time(program));
  for (const ProgramPlace& place : workload.places)
    computing_.push_back(of_programs[place.program]);
  for (const PlannedCommunication& communication : communications)
    communicating_ = std::max(communicating_, communication.bound);
}

Time IterationBound::time(std::span<const Time> starts) const {
  Time bound = communicating_;
  for (std::size_t npu = 0; npu < computing_.size(); ++npu)
    bound = std::max(bound, (starts.empty() ? Time{} : starts[npu]) + computing_[npu]);
  return bound;
}

IterationReport IterationCase::run() const {
  return engine.name == "native" ? run_iteration_native(topology, workload, plans, options)
                                 : run_iteration_simgrid(topology, workload, plans, options);
}

bool IterationCase::is_below(Time bound, const IterationReport& report) const {
  return report.duration + rounding_of(engine, topology, workload, plans, bound) < bound;
}

void add_noisy_iterations(const IterationCase& iteration, const NoiseRequest& request,
                          unsigned threads, const StageWatch& stage, TrainingRun& quiet) {
  const IterationBound as_planned(iteration.workload, quiet.communications);
  const IterationBound on_any_links(iteration.workload, {});
  const auto run = [&](const DrawnConditions& drawn, const Watch& watch) {
    IterationOptions options = iteration.options;
    options.starts = drawn.starts;
    options.record = {};
    options.watch = watch;
    const IterationCase one{drawn.network, iteration.workload, iteration.plans, options,
                            iteration.engine};
    const IterationReport report = one.run();
    const bool is_planned = &drawn.network == &iteration.topology;
    const Time bound = (is_planned ? as_planned : on_any_links).time(drawn.starts);
    std::string found = account_problem(report);
    if (one.is_below(bound, report))
      found = fmt::format("engine {}: takes {} in a draw, below its bound {}", report.engine,
                          to_text(report.duration), to_text(bound));
    return Draw{report.duration, *std::ranges::max_element(drawn.starts), "", found};
  };
  NoisePlan plan;
  plan.topology = &iteration.topology;
  plan.members = all_npus(iteration.topology);
  plan.starts.assign(iteration.options.starts.begin(), iteration.options.starts.end());
  plan.threads = iteration.engine.name == "native" ? threads : 1; // SimGrid: one engine per process
  draw_noise(std::move(plan), request, quiet.bound, quiet.report->duration, run, stage,
             fmt::format("{} on {}", quiet.plan, iteration.engine.name), quiet.noises,
             quiet.problem);
}

} // namespace tutti
