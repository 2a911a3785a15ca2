// Bus bandwidth over size, a figure for each collective on each machine: measured, predicted with
// its interval, and predicted by the other machines alone.
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/figure_frame.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/fits/columns.hpp"
#include "sim/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

NamedFigure figure_of(const FitStudy& study, Networks networks, const FitEvaluation& made,
                      const FitSystem& system, CollectiveKind kind) {
  constexpr double gb = 1e9;
  const LabelledTopology& network = networks[system.topology];
  const double factor = bus_factor(kind, network.topology.npu_count());
  CurveChart chart;
  chart.heading.title = fmt::format("{}, {}: measured, and predicted under transport {}",
                                    network.label, to_text(kind), study.name);
  chart.x_label = "size";
  chart.y_label = "bus bandwidth (GB/s)";
  Curve measured{"measured", {}, {}, CurveLook{0, 0}}, fitted{"predicted", {}, {}, CurveLook{1, 1}},
      unseen{"predicted without these rows", {}, {}, CurveLook{2, 2}};
  for (const FittedRow& row : made.rows) {
    if (row.system != &system || row.row->measured.kind != kind) continue;
    const auto size = static_cast<double>(row.row->measured.size.count);
    if (!measured.points.empty() && measured.points.back().x == size) continue; // in place
    const auto busbw = [&](double seconds) { return factor * size / seconds / gb; };
    measured.points.push_back({size, busbw(row.row->measured.seconds)});
    fitted.points.push_back({size, busbw(row.predicted.seconds())});
    fitted.band.push_back(
        {size, busbw(row.interval.high.seconds()), busbw(row.interval.low.seconds())});
    unseen.points.push_back(
        {size, busbw(row.row->measured.seconds * std::exp(row.errors.without_system))});
  }
  chart.curves = {std::move(measured), std::move(fitted)};
  if (study.systems.size() > 1) chart.curves.push_back(std::move(unseen));
  return {file_stem("fit", fmt::format("{} {} {}", study.label, network.label, to_text(kind))),
          curve_figure(chart)};
}

} // namespace

std::vector<NamedFigure> fit_figures(const FitStudy& study, Networks networks,
                                     const FitEvaluation& made) {
  std::vector<NamedFigure> figures;
  std::vector<std::pair<const FitSystem*, CollectiveKind>> drawn;
  for (const FittedRow& row : made.rows) {
    const std::pair of(row.system, row.row->measured.kind);
    const auto points = std::ranges::count_if(made.rows, [&](const FittedRow& other) {
      return other.system == of.first && other.row->measured.kind == of.second;
    });
    if (points < 3 || std::ranges::find(drawn, of) != drawn.end()) continue;
    drawn.push_back(of);
    figures.push_back(figure_of(study, networks, made, *of.first, of.second));
  }
  return figures;
}

} // namespace tutti
