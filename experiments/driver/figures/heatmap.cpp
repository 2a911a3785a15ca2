// Panels share one colour scale, or they couldn't be compared, and black means "no link", which
// isn't the same as an idle link. Everything is placed in points, as gnuplot's multiplot layout
// knows nothing of panels with a common colour bar.
#include "experiments/driver/figures/heatmap.hpp"

#include "experiments/driver/records/table.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace tutti {

namespace {

double largest_link(std::span<const LinkMap> maps) {
  double largest = 0;
  for (const LinkMap& map : maps)
    for (const double value : map.links) largest = std::max(largest, value);
  return largest;
}

double largest_cell(std::span<const LinkMap> maps) {
  double largest = 0;
  for (const LinkMap& map : maps)
    for (const double cell : map.cells)
      if (!std::isnan(cell)) largest = std::max(largest, cell);
  return largest;
}

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// "224 links, 12 idle, mean 47 %, max 100 %"
std::string summary(const LinkMap& map, const LinkScale& scale) {
  const auto idle = std::count(map.links.begin(), map.links.end(), 0.0);
  const LinkMap alone[] = {map};
  return fmt::format(
      "{} link{}{}, mean {}, max {}", map.links.size(), map.links.size() == 1 ? "" : "s",
      idle > 0 ? fmt::format(", {} idle", idle) : "", link_value_text(mean(map.links), scale),
      link_value_text(largest_link(alone), scale));
}

/// Where panels and colour bar lie, in points from the upper left corner.
struct HeatmapLayout {
  static constexpr double left = 78, right = 124, top = 94, gap_x = 54;
  std::size_t columns, rows;
  double panel;
  double below; ///< each panel: numbers, upright names, what the axis shows
  int heading;

  HeatmapLayout(const Heading& text, std::span<const LinkMap> maps) : heading(heading_width(text)) {
    const std::size_t n = maps.size();
    columns = n <= 3 ? n : n == 4 ? 2 : n <= 6 || n == 9 ? 3 : 4;
    rows = (n + columns - 1) / columns;
    std::uint32_t nodes = 0;
    for (const LinkMap& map : maps) nodes = std::max(nodes, map.nodes);
    const double roomy = n == 1 ? 420 : n <= 4 ? 330 : 280;
    panel = std::max(roomy, std::min(2.0 * nodes, 512.0));
    const bool names = std::any_of(maps.begin(), maps.end(),
                                   [](const LinkMap& map) { return !map.others.empty(); });
    below = names ? 46 : 28;
  }
  [[nodiscard]] double x(std::size_t panel_index) const {
    return left + static_cast<double>(panel_index % columns) * (panel + gap_x);
  }
  [[nodiscard]] double y(std::size_t panel_index) const {
    const std::size_t row = panel_index / columns;
    return top + static_cast<double>(row) * (panel + below + 56);
  }
  [[nodiscard]] double grid_right() const { return x(columns - 1) + panel; }
  [[nodiscard]] double grid_bottom() const { return y(columns * rows - 1) + panel; }
  [[nodiscard]] int width() const {
    return std::max(static_cast<int>(grid_right() + right), heading);
  }
  [[nodiscard]] int height() const { return static_cast<int>(grid_bottom() + below + 64); }
  /// "screen 0.1, screen 0.9"
  [[nodiscard]] std::string screen(double px, double py) const {
    return fmt::format("screen {:.6f}, screen {:.6f}", px / width(), 1 - py / height());
  }
};

std::string matrix_data(const LinkMap& map, const LinkScale& scale) {
  std::string text;
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    const double cell = map.cells[i];
    text += std::isnan(cell) ? "NaN" : fmt::format("{:.4g}", cell / scale.divisor);
    text += (i + 1) % map.nodes == 0 ? '\n' : ' ';
  }
  return text;
}

/// Distance of the numbers along an axis: at most about eight, round in the count's own terms.
std::uint32_t tic_step(std::uint32_t nodes) {
  if (nodes > 8 && nodes % 8 == 0) return nodes / 8;
  for (std::uint32_t decade = 1;; decade *= 10)
    for (const std::uint32_t step : {decade, 2 * decade, 5 * decade})
      if (nodes <= 10 * step) return step;
}

/// The text cut to so many characters, with an ellipsis where it was longer.
std::string shortened(std::string text, double characters) {
  if (static_cast<double>(display_width(text)) <= characters) return text;
  const auto is_continuation = [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
  };
  while (!text.empty() && static_cast<double>(display_width(text)) > characters - 1) {
    while (text.size() > 1 && is_continuation(text.back())) text.pop_back();
    text.pop_back();
  }
  return text + "…";
}

/// A vertical and a horizontal line over the panel, before this node's column and row.
std::string cross_lines(std::uint32_t node, std::string_view colour, double width) {
  return fmt::format("set arrow from {0}, graph 0 to {0}, graph 1 nohead front {1}\n"
                     "set arrow from graph 0, first {0} to graph 1, first {0} nohead front {1}\n",
                     node - 0.5, fmt::format("linecolor rgb '{}' linewidth {}", colour, width));
}

std::string axis_text(std::string_view end, bool only_npus) {
  return fmt::format("{} {}", end, only_npus ? "NPU" : "(NPUs, then switches)");
}

/// The names of switches and memories along both axes, as many as there is room for.
std::string names_of_others(const LinkMap& map, double pitch) {
  constexpr int first_label = 100; // below: the heading's and the panel's own
  constexpr double line = 8.5;     // points
  const auto step = static_cast<std::size_t>(std::ceil(line / pitch));
  const char* const style = "font 'sans-serif,7' textcolor rgb '#333333'";
  std::string text;
  for (std::size_t i = 0; i < map.others.size(); i += step) {
    const std::string name = gnuplot_quoted(shortened(map.others[i], 9));
    const double at = map.npus + static_cast<double>(i);
    const auto tag = first_label + 2 * static_cast<int>(i);
    text += fmt::format("set label {} {} at graph 0, first {} right offset character -0.6, 0 {}\n"
                        "set label {} {} at first {}, graph 0 right rotate by 90 offset 0, "
                        "character -0.5 {}\n",
                        tag, name, at, style, tag + 1, name, at, style);
  }
  return text;
}

std::string panel_script(const LinkMap& map, std::size_t index, std::size_t panels,
                         const HeatmapLayout& layout, const LinkScale& scale) {
  const double x = layout.x(index), y = layout.y(index), size = layout.panel;
  const double last = map.nodes - 0.5;
  const bool leftmost = index % layout.columns == 0, lowest = index + layout.columns >= panels;
  std::string text = fmt::format("$map{} << END\n{}END\n", index, matrix_data(map, scale));
  text += fmt::format("set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
                      "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\n",
                      x / layout.width(), (x + size) / layout.width(), 1 - y / layout.height(),
                      1 - (y + size) / layout.height());
  const double pitch = size / map.nodes;
  const bool only_npus = map.others.empty();
  const double last_number = only_npus ? map.npus - 1.0 : map.npus - 1 - 9 / pitch;
  text += fmt::format("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]\n"
                      "set xtics 0, {1}, {2:.6g}\nset ytics 0, {1}, {2:.6g}\n",
                      last, tic_step(map.npus), std::max(last_number, 0.0));
  text += fmt::format("set xlabel '{}' offset 0, {}\nset ylabel '{}'\n",
                      lowest ? axis_text("destination", only_npus) : "", only_npus ? 0.0 : -0.4,
                      leftmost ? axis_text("source", only_npus) : "");
  text += names_of_others(map, pitch);
  text += fmt::format("set label 2 {} at {} left font 'sans-serif,13' textcolor rgb '#111111'\n"
                      "set label 3 {} at {} left font 'sans-serif,{}' textcolor rgb '#555555'\n",
                      gnuplot_quoted(shortened(map.title, size / 7.4)), layout.screen(x, y - 27),
                      gnuplot_quoted(summary(map, scale)), layout.screen(x, y - 10),
                      panels > 4 ? 9 : 10);
  text += "unset arrow\n";
  if (map.nodes <= 40) // large enough cells to tell neighbours of one colour apart
    for (std::uint32_t node = 1; node < map.nodes; ++node)
      text += cross_lines(node, "#161616", 0.5);
  if (!only_npus) text += cross_lines(map.npus, "#aaaaaa", 0.8);
  return text + fmt::format("plot $map{} matrix with image notitle\n", index);
}

/// Where the curve of these descending values changes by what can be seen: "share of links, value".
std::string steps_data(std::span<const double> values, const LinkScale& scale) {
  std::string data, drawn;
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::string value = fmt::format("{:.3g}", values[k] / scale.divisor);
    if (value == drawn) continue;
    data += fmt::format("{:.5g} {}\n",
                        100.0 * static_cast<double>(k) / static_cast<double>(values.size()), value);
    drawn = std::move(value);
  }
  return data + fmt::format("100 {}\n", drawn.empty() ? "0" : drawn);
}

/// The colour bar over the height of the grid, and below it what black means.
std::string colour_bar(const HeatmapLayout& layout, const LinkScale& scale, double largest) {
  const double x = layout.grid_right() + 26, bottom = layout.grid_bottom();
  const double height = bottom - HeatmapLayout::top;
  return fmt::format(
      "set palette defined (0 '#4575b4', 0.25 '#91bfdb', 0.5 '#fee090', 0.75 '#fc8d59', 1 "
      "'#d73027')\n"
      "set cbrange [0:{}]\nset cblabel '{} [{}]' offset 0.5, 0\n"
      "set colorbox vertical user origin screen {:.6f}, screen {:.6f} size screen {:.6f}, screen "
      "{:.6f}\n"
      "set object 2 rectangle from {} to {} fillcolor rgb '#161616' fillstyle solid noborder\n"
      "set label 4 'no link' at {} left font 'sans-serif,10' textcolor rgb '#333333'\n",
      largest > 0 ? largest / scale.divisor : 1, scale.label, scale.unit, x / layout.width(),
      1 - bottom / layout.height(), 16.0 / layout.width(), height / layout.height(),
      layout.screen(x, bottom + 18), layout.screen(x + 16, bottom + 34),
      layout.screen(x + 22, bottom + 26));
}

} // namespace

LinkMap link_map(std::string title, const Topology& topology, const Report& report,
                 LinkQuantity quantity) {
  assert(report.links.size() == topology.link_count());
  LinkMap map{.title = std::move(title),
              .nodes = topology.node_count(),
              .npus = topology.npu_count(),
              .others = {},
              .cells = {},
              .links = {}};
  const std::size_t cells = std::size_t{map.nodes} * map.nodes;
  for (std::uint32_t n = map.npus; n < map.nodes; ++n)
    map.others.push_back(topology.node(NodeId{n}).name);
  map.cells.assign(cells, std::numeric_limits<double>::quiet_NaN());
  map.links = link_values(report, quantity).links;

  std::vector<std::uint32_t> parallel(cells, 0);
  for (std::size_t l = 0; l < map.links.size(); ++l) {
    const Link& link = topology.links()[l];
    const std::size_t cell = std::size_t{link.from.value} * map.nodes + link.to.value;
    map.cells[cell] = parallel[cell]++ == 0 ? map.links[l] : map.cells[cell] + map.links[l];
  }
  if (quantity == LinkQuantity::utilisation)
    for (std::size_t cell = 0; cell < cells; ++cell)
      if (parallel[cell] > 1) map.cells[cell] /= parallel[cell];
  return map;
}

Figure heatmap_figure(const Heading& heading, std::span<const LinkMap> maps,
                      LinkQuantity quantity) {
  if (maps.empty()) throw InputError("a heat map needs at least one run");
  const double largest = quantity == LinkQuantity::utilisation ? 1.0 : largest_cell(maps);
  const LinkScale scale = link_scale(quantity, largest);
  const HeatmapLayout layout(heading, maps);
  std::string script = figure_style(heading) + colour_bar(layout, scale, largest);
  script += "set object 1 rectangle from graph 0, graph 0 to graph 1, graph 1 behind "
            "fillcolor rgb '#161616' fillstyle solid noborder\n"
            "set multiplot\n";
  for (std::size_t i = 0; i < maps.size(); ++i) {
    script += panel_script(maps[i], i, maps.size(), layout, scale);
    // What belongs to the whole figure was drawn with the first panel.
    script += "unset label\n";
    if (i == 0) script += "unset object 2\nunset colorbox\n";
  }
  return {script + "unset multiplot\n", layout.width(), layout.height()};
}

Figure sorted_links_figure(const Heading& heading, std::span<const LinkMap> maps,
                           LinkQuantity quantity) {
  if (maps.empty()) throw InputError("a picture of sorted links needs at least one run");
  const double largest = quantity == LinkQuantity::utilisation ? 1.0 : largest_link(maps);
  const LinkScale scale = link_scale(quantity, largest);
  std::vector<std::string> legend;
  std::string data, plots;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    std::vector<double> values = maps[i].links;
    std::sort(values.begin(), values.end(), std::greater<>());
    data += fmt::format("$curve{} << END\n{}END\n", i, steps_data(values, scale));
    legend.push_back(
        fmt::format("{} (mean {})", maps[i].title, link_value_text(mean(values), scale)));
    plots += fmt::format("{}$curve{} using 1:2 with steps linewidth 2.2 dashtype {} linecolor rgb "
                         "'{}' title {}",
                         i == 0 ? "plot " : ", \\\n     ", i, i / 10 + 1, series_colour(i),
                         gnuplot_quoted(legend.back()));
  }
  const std::string axes =
      fmt::format("set xrange [0:100]\nset yrange [0:{:.6g}]\n"
                  "set xlabel 'links, the busiest first [% of all links]'\n"
                  "set ylabel '{} [{}]' offset 0.5, 0\n",
                  largest > 0 ? 1.04 * largest / scale.divisor : 1, scale.label, scale.unit);
  return framed_chart(heading, 520, legend, axes + data + plots + "\n");
}

} // namespace tutti
