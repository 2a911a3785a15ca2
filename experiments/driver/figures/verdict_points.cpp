// Twenty ratios of a paper's table, each by three who computed it, are a table that nobody reads
// and a bar chart of sixty bars. Over the paper's value all rows have one axis: a point on the
// middle line agrees, and how far others are from it is seen at once. The values themselves stand
// beside.
#include "experiments/driver/figures/verdict_points.hpp"

#include "experiments/driver/figures/extent.hpp"
#include "experiments/driver/figures/style.hpp"

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
  std::string title, colour;
  std::vector<std::string> texts;
  double width = 0;
};

std::vector<TextColumn> text_columns(const VerdictPoints& chart) {
  const std::vector<std::size_t> hues = series_hues(chart.series);
  std::vector<TextColumn> columns{{"paper", "#111111", {}, 0}};
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
  const double low = extent.smallest / 1.15, high = extent.largest * 1.15;
  std::string script = figure_style(title, width);
  script +=
      fmt::format("set border 1\nunset key\nunset ytics\n{}set logscale x\nunset mxtics\n"
                  "set xrange [{:g}:{:g}]\nset yrange [{:.1f}:0]\nset xtics ({})\n"
                  "set grid xtics back linetype 1 linecolor rgb '#dddddd' linewidth 0.8\n"
                  "set arrow from first 1, graph 0 to first 1, graph 1 nohead back linecolor "
                  "rgb '#111111' linewidth 1.2\n",
                  frame.margins(), low, high, line_height * static_cast<double>(chart.rows.size()),
                  tics_text(decade_tics(low, high)));
  for (std::size_t r = 0; r < chart.rows.size(); ++r)
    script += fmt::format("set label {} at {} right textcolor rgb '#222222'\n",
                          gnuplot_quoted(chart.rows[r].label),
                          frame.screen(frame.left - 8, frame.top + middle_of(r)));
  double right = frame.right;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    right += scale * (column_gap + columns[c].width);
    const double heading = frame.top - 12;
    script += fmt::format("set label {} at {} right textcolor rgb '{}'\n",
                          gnuplot_quoted(columns[c].title), frame.screen(right, heading),
                          columns[c].colour);
    for (std::size_t r = 0; r < columns[c].texts.size(); ++r)
      script += fmt::format("set label {} at {} right textcolor rgb '{}'\n",
                            gnuplot_quoted(columns[c].texts[r]),
                            frame.screen(right, frame.top + middle_of(r)), columns[c].colour);
  }
  script += fmt::format("set label 'over the paper''s value' at {} center\n",
                        frame.screen((frame.left + frame.right) / 2, frame.bottom + 34));
  std::string plots;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    script += fmt::format("$series{} << END\n", s);
    for (std::size_t r = 0; r < chart.rows.size(); ++r) {
      assert(chart.rows[r].points.size() == chart.series.size());
      const double value = chart.rows[r].points[s].over_paper;
      if (std::isfinite(value) && value > 0)
        script += fmt::format("{:.6g} {:.1f}\n", value, middle_of(r));
    }
    // Ours is filled and drawn last; what stands beside it is a ring that shows what it lies upon.
    script += "END\n";
  }
  for (std::size_t s = chart.series.size(); s-- > 0;)
    plots +=
        fmt::format("{}$series{} using 1:2 with points pointtype {} pointsize {} linewidth 1.6 "
                    "linecolor rgb '{}'",
                    plots.empty() ? "plot " : ", \\\n     ", s, s == 0 ? 7 : 6, s == 0 ? 0.7 : 1.1,
                    columns[s + 1].colour);
  return {script + plots + "\n", frame.width, frame.height, scale};
}

} // namespace tutti
