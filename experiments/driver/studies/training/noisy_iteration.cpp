// Nothing is planned anew: a running job has the plans that it has. Each draw is held to a bound:
// whoever starts late computes all the same, and where links are as they were planned for, no
// communication is faster than its plan's bound.
#include "experiments/driver/studies/training/noisy_iteration.hpp"

#include "experiments/driver/studies/training/checks.hpp"
#include "sim/engines/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

IterationReport IterationCase::run() const {
  return engine.name == "native" ? run_iteration_native(topology, workload, plans, options)
                                 : run_iteration_simgrid(topology, workload, plans, options);
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
    const IterationReport report =
        IterationCase{drawn.network, iteration.workload, iteration.plans, options, iteration.engine}
            .run();
    const bool is_planned = &drawn.network == &iteration.topology;
    const Time bound = (is_planned ? as_planned : on_any_links).time(drawn.starts);
    std::string found = account_problem(report);
    if (report.duration + rounding_of(iteration.engine, drawn.network, iteration.workload,
                                      iteration.plans, bound) <
        bound)
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
