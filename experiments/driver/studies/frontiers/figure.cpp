// Bandwidth over size as the paper draws it: points with few steps lead at small sizes, points with
// few rounds per chunk at large ones, and where two curves cross the best algorithm changes.
#include "experiments/driver/studies/frontiers/figure.hpp"

#include "experiments/driver/figures/curves.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

namespace {

constexpr double bytes_per_gb = 1e9;

Heading heading_of(const FrontierEvaluation& e) {
  return {
      fmt::format("{}{} on {}", e.label.empty() ? "" : e.label + ": ", e.collective, e.topology),
      fmt::format("(chunks, steps, rounds) of each algorithm; engine {}, links busy for {}, "
                  "forwarding {}",
                  e.engines.front(), to_text(e.model.link_busy), to_text(e.model.forwarding))};
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
