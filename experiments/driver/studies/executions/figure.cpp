// Two curves per algorithm, of measured and of predicted times over the size, both axes
// logarithmic: where they part is where the model doesn't know the machine.
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/executions/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace tutti {

namespace {

void add_point(std::vector<Curve>& curves, const std::string& name, CurveLook look, Bytes size,
               double time) {
  auto at = std::ranges::find(curves, name, &Curve::name);
  if (at == curves.end()) at = curves.insert(curves.end(), Curve{name, {}, {}, look});
  at->points.push_back({static_cast<double>(size.count), time});
}

/// "predictions are off by 4 % in the median, 22 % at most"
std::string errors_text(std::span<const ExecutionRun* const> runs) {
  std::vector<double> errors;
  for (const ExecutionRun* run : runs)
    if (!run->fitted)
      errors.push_back(std::abs(run->predicted.front().seconds() / run->measured() - 1));
  if (errors.empty()) return "all predictions are fitted";
  std::ranges::sort(errors);
  return fmt::format("predictions are off by {:.0f} % in the median, {:.0f} % at most",
                     100 * errors[(errors.size() - 1) / 2], 100 * errors.back());
}

} // namespace

std::vector<NamedFigure> execution_figures(const ExecutionEvaluation& e) {
  std::vector<const ExecutionRun*> runs;
  std::vector<std::string> algorithms;
  double longest = 0; // in seconds
  for (const ExecutionRun& run : e.runs) {
    if (run.ratio() <= 0) continue;
    runs.push_back(&run);
    longest = std::max({longest, run.measured(), run.predicted.front().seconds()});
    if (std::ranges::find(algorithms, run.algorithm) == algorithms.end())
      algorithms.push_back(run.algorithm);
  }
  if (runs.empty()) return {};
  const std::vector<std::size_t> hues = series_hues(algorithms);
  const TimeUnit unit = time_unit(static_cast<double>(ps_per_s) * longest);
  CurveChart chart;
  chart.heading = {labelled_title(e.label, fmt::format("{} on {}: {}", e.collective, e.topology,
                                                       errors_text(runs))),
                   fmt::format("{}, links {}; median of {}; predicted for {}", e.device,
                               e.emulated ? "throttled to the topology's" : "as fast as they go",
                               e.repetitions, e.profile ? "the profiled network" : "the topology")};
  chart.axis = CurveAxis::bytes;
  chart.x_label = "collective size";
  chart.y_label = fmt::format("time [{}]", unit.name);
  chart.logarithmic = true;
  for (const ExecutionRun* run : runs) {
    const auto place = std::ranges::find(algorithms, run->algorithm) - algorithms.begin();
    const std::size_t hue = hues[static_cast<std::size_t>(place)];
    const double scale = static_cast<double>(ps_per_s) / unit.ps;
    add_point(chart.curves, run->algorithm + ", measured", {hue, 0}, run->size,
              scale * run->measured());
    add_point(chart.curves, run->algorithm + ", predicted", {hue, 1}, run->size,
              scale * run->predicted.front().seconds());
  }
  for (Curve& curve : chart.curves) std::ranges::stable_sort(curve.points, {}, &PlotPoint::x);
  return {{file_stem("execution", e.label), curve_figure(chart)}};
}

} // namespace tutti
