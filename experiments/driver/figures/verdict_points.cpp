// Twenty ratios of a paper's table, each by three who computed it, are a table that nobody reads
// and a bar chart of sixty bars. Over the paper's value all rows have one axis: a point on the
// middle line agrees, and how far others are from it is seen at once. The values themselves stand
// beside.
#include "experiments/driver/figures/verdict_points.hpp"

#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/extent.hpp"
#include "experiments/driver/figures/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace tutti {

namespace {

// In points.
constexpr double line_height = 21, text_font = 11, column_gap = 14, points_width = 260;

/// The texts beside the plot: of the paper, then of each series.
struct TextColumn {
  std::string title;
  int colour;
  std::vector<std::string> texts;
  double width = 0;
};

std::vector<TextColumn> text_columns(const VerdictPoints& chart) {
  const std::vector<std::size_t> hues = series_hues(chart.series);
  std::vector<TextColumn> columns{{"paper", 0x111111, {}, 0}};
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    columns.push_back({chart.series[s], choice_colour(hues[s]), {}, 0});
  for (const VerdictRow& row : chart.rows) {
    columns.front().texts.push_back(row.paper);
    for (std::size_t s = 0; s < row.points.size(); ++s)
      columns[s + 1].texts.push_back(row.points[s].text);
  }
  for (TextColumn& column : columns) {
    column.width = text_width(column.title, text_font) + 12; // and its mark
    for (const std::string& text : column.texts)
      column.width = std::max(column.width, text_width(text, text_font));
  }
  return columns;
}

Extent extent_of(const VerdictPoints& chart) {
  Extent extent;
  extent.add(1);
  for (const VerdictRow& row : chart.rows)
    for (const VerdictPoint& point : row.points)
      if (std::isfinite(point.over_paper) && point.over_paper > 0) extent.add(point.over_paper);
  return extent;
}

double middle_of(std::size_t row) { return line_height * (static_cast<double>(row) + 0.5); }

} // namespace

Figure verdict_points_figure(const VerdictPoints& chart) {
  const std::vector<TextColumn> columns = text_columns(chart);
  double labels = 0, texts = 0;
  for (const VerdictRow& row : chart.rows)
    labels = std::max(labels, text_width(row.label, text_font));
  for (const TextColumn& column : columns) texts += column_gap + column.width;
  const int width = figure_width(points_width + 60, labels + texts);
  const double scale = text_scale(width);
  const std::string title =
      fmt::format("Over the paper's values: {}", fmt::join(chart.series, " and "));
  const ChartFrame frame(title, width, scale * labels + 30, scale * texts + 20,
                         line_height * static_cast<double>(chart.rows.size()), 22);

  const Extent extent = extent_of(chart);
  Canvas canvas = frame.canvas();
  const Plot plot(canvas, frame, {extent.smallest / 1.15, extent.largest * 1.15, true}, {});
  plot.paint_x(true);
  plot.name_x("over the paper's value");
  canvas.line(axis_layer, {plot.at_x(1), frame.top}, {plot.at_x(1), frame.bottom}, 0x111111, 1.2);
  for (std::size_t r = 0; r < chart.rows.size(); ++r)
    canvas.text(text_layer, {frame.left - 8, frame.top + middle_of(r)}, chart.rows[r].label,
                text_font, ink, Anchor::right);
  double right = frame.right;
  for (const TextColumn& column : columns) {
    right += scale * (column_gap + column.width);
    const auto show = [&](double y, const std::string& text) {
      canvas.text(text_layer, {right, frame.top + y}, text, text_font, column.colour,
                  Anchor::right);
    };
    show(-12, column.title);
    for (std::size_t r = 0; r < column.texts.size(); ++r) show(middle_of(r), column.texts[r]);
  }
  std::vector<std::vector<std::string>> data{{"series", "expectation", "ours / the paper's"}};
  for (std::size_t r = 0; r < chart.rows.size(); ++r) {
    assert(chart.rows[r].points.size() == chart.series.size());
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double value = chart.rows[r].points[s].over_paper;
      if (!std::isfinite(value) || value <= 0) continue;
      data.push_back({chart.series[s], chart.rows[r].label, fmt::format("{:.6g}", value)});
      // Ours is filled and above; what stands beside it is a ring that shows what it lies upon.
      paint_mark(canvas, curve_layer + (s == 0 ? 1 : 0),
                 {plot.at_x(value), frame.top + middle_of(r)}, {PointMark::Shape::disc, s != 0},
                 s == 0 ? 3.2 : 4.6, columns[s + 1].colour);
    }
  }
  return frame.figure(std::move(canvas), std::move(data));
}

} // namespace tutti
