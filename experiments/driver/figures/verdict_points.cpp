// Twenty ratios of a paper's table, each by three who computed it, are a table that nobody reads
// and a bar chart of sixty bars. As points on one axis a row agrees where they lie upon each other,
// and a trend shows as a shape. The values themselves stand beside. Rows of different units are
// drawn over the paper's values: then a point on the line at 1 agrees.
#include "experiments/driver/figures/verdict_points.hpp"

#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/extent.hpp"
#include "experiments/driver/figures/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>

namespace tutti {

namespace {

// In points.
constexpr double line_height = 21, text_font = 11, column_gap = 14, points_width = 260;

/// The texts beside the plot, of each series.
struct TextColumn {
  std::string title;
  int colour;
  std::vector<std::string> texts;
  double width = 0;
};

std::vector<TextColumn> text_columns(const VerdictPoints& chart) {
  std::vector<TextColumn> columns;
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    columns.push_back({chart.series[s], s == 0 ? 0x111111 : series_colour(s - 1), {}, 0});
  for (const VerdictRow& row : chart.rows)
    for (std::size_t s = 0; s < row.points.size(); ++s)
      columns[s].texts.push_back(row.points[s].text);
  for (TextColumn& column : columns) {
    column.width = text_width(column.title, text_font) + 12; // and its mark
    for (const std::string& text : column.texts)
      column.width = std::max(column.width, text_width(text, text_font));
  }
  return columns;
}

bool is_drawn(const VerdictPoint& point) { return std::isfinite(point.value) && point.value > 0; }

Extent extent_of(const VerdictPoints& chart) {
  Extent extent;
  if (chart.over_paper) extent.add(1);
  for (const VerdictRow& row : chart.rows)
    for (const VerdictPoint& point : row.points)
      if (is_drawn(point)) extent.add(point.value);
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
      fmt::format("{}{}", chart.over_paper ? "Over the paper's values: " : "",
                  fmt::join(std::span(chart.series).subspan(chart.over_paper ? 1 : 0), " and "));
  const ChartFrame frame(title, width, scale * labels + 30, scale * texts + 20,
                         line_height * static_cast<double>(chart.rows.size()), 22);

  const Extent extent = extent_of(chart);
  Canvas canvas = frame.canvas();
  const Plot plot(canvas, frame, {extent.smallest / 1.15, extent.largest * 1.15, true}, {});
  plot.paint_x(true);
  plot.name_x(chart.over_paper ? "over the paper's value" : "value");
  if (chart.over_paper)
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
  std::vector<std::vector<std::string>> data{
      {"series", "expectation", chart.over_paper ? "over the paper's" : "value"}};
  for (std::size_t r = 0; r < chart.rows.size(); ++r) {
    assert(chart.rows[r].points.size() == chart.series.size());
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double value = chart.rows[r].points[s].value;
      if (!is_drawn(chart.rows[r].points[s]) || (chart.over_paper && s == 0)) continue;
      data.push_back({chart.series[s], chart.rows[r].label, fmt::format("{:.6g}", value)});
      // Ours is filled and above; the paper's, and what stands beside, are rings around it.
      paint_mark(canvas, curve_layer + (s == 1 ? 1 : 0),
                 {plot.at_x(value), frame.top + middle_of(r)}, {PointMark::Shape::disc, s != 1},
                 s == 1   ? 3.2
                 : s == 0 ? 5.6
                          : 4.6,
                 columns[s].colour);
    }
  }
  return frame.figure(std::move(canvas), std::move(data));
}

} // namespace tutti
