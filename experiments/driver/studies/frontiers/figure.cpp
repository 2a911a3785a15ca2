// Bandwidth over size as the paper draws it: points with few steps lead at small sizes, points with
// few rounds per chunk at large ones, and where two curves cross the best algorithm changes.
#include "experiments/driver/studies/frontiers/study.hpp"

#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/runs/table.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

namespace {

constexpr double bytes_per_gb = 1e9;

/// ": (2,2,3) is best, (6,3,7) from 273.5 KiB"
std::string conclusion_of(const FrontierEvaluation& e) {
  if (e.best.empty()) return "";
  const auto name = [&](std::size_t i) {
    return instance_text(e.frontier.points[e.best[i].which]);
  };
  std::string text = ": " + name(0) + " is best";
  if (e.best.size() == 1) return text + " at all sizes";
  for (std::size_t i = 1; i < e.best.size(); ++i)
    text += fmt::format(", {} from {}", name(i), short_text(e.best[i].size));
  return text;
}

Heading heading_of(const FrontierEvaluation& e) {
  return {labelled_title(e.label,
                         fmt::format("{} on {}{}", e.collective, e.topology, conclusion_of(e))),
          "(chunks, steps, rounds) of each algorithm; " +
              simulation_text(e.engines.front(), e.model)};
}

Curve curve_of(const FrontierEvaluation& e, std::size_t p) {
  Curve curve{instance_text(e.frontier.points[p]), {}};
  for (const SizedPoint& sized : e.points[p].at)
    curve.points.push_back(
        {static_cast<double>(sized.size.count), sized.replay.algbw / bytes_per_gb});
  return curve;
}

// Sizes where another point becomes best, which the first entry isn't.
std::vector<CurveMark> marks_of(const FrontierEvaluation& e) {
  std::vector<CurveMark> marks;
  for (std::size_t i = 1; i < e.best.size(); ++i)
    marks.push_back({static_cast<double>(e.best[i].size.count),
                     fmt::format("{} from {}", instance_text(e.frontier.points[e.best[i].which]),
                                 short_text(e.best[i].size))});
  return marks;
}

} // namespace

Figure frontier_figure(const FrontierEvaluation& e) {
  CurveChart chart;
  chart.heading = heading_of(e);
  chart.axis = CurveAxis::bytes;
  chart.x_label = "collective size";
  chart.y_label = "algorithm bandwidth [GB/s]";
  chart.logarithmic = true;
  chart.marks = marks_of(e);
  for (std::size_t p = 0; p < e.points.size(); ++p)
    if (Curve curve = curve_of(e, p); !curve.points.empty())
      chart.curves.push_back(std::move(curve));
  return curve_figure(chart);
}

} // namespace tutti
