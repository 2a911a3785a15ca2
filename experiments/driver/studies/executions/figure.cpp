// Two curves per algorithm, measured and predicted, over the size: where they part is where the
// model doesn't know the machine.
#include "experiments/driver/studies/executions/figure.hpp"

#include "experiments/driver/figures/curves.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

constexpr double ms_per_s = 1e3;

void add_point(std::vector<Curve>& curves, const std::string& name, std::size_t dash, Bytes size,
               double seconds) {
  auto at = std::ranges::find(curves, name, &Curve::name);
  // Both curves of an algorithm come together: one hue for two.
  if (at == curves.end())
    at = curves.insert(curves.end(), Curve{name, {}, {}, CurveLook{curves.size() / 2, dash}});
  at->points.push_back({static_cast<double>(size.count), ms_per_s * seconds});
}

} // namespace

bool was_measured(const ExecutionEvaluation& evaluation) {
  return std::ranges::any_of(evaluation.runs,
                             [](const ExecutionRun& run) { return run.ratio() > 0; });
}

Figure execution_figure(const ExecutionEvaluation& e) {
  CurveChart chart;
  chart.heading = {fmt::format("{}{} on {}: measured and predicted",
                               e.label.empty() ? "" : e.label + ": ", e.collective, e.topology),
                   fmt::format("{}, links {}; median of {}; predicted for {}", e.device,
                               e.emulated ? "throttled to the topology's" : "as fast as they go",
                               e.repetitions, e.profile ? "the profiled network" : "the topology")};
  chart.axis = CurveAxis::bytes;
  chart.x_label = "collective size";
  chart.y_label = "time [ms]";
  chart.logarithmic = true;
  for (const ExecutionRun& run : e.runs)
    if (run.ratio() > 0) {
      add_point(chart.curves, run.algorithm + ", measured", 0, run.size, run.measured());
      add_point(chart.curves, run.algorithm + ", predicted", 1, run.size,
                run.predicted.front().seconds());
    }
  for (Curve& curve : chart.curves) std::ranges::stable_sort(curve.points, {}, &PlotPoint::x);
  return curve_figure(chart);
}

} // namespace tutti
