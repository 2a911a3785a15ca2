// Panels share one colour scale, or they couldn't be compared, and paper is left blank where there
// is no link, which isn't the same as an idle link. Everything is placed in points, as gnuplot's
// multiplot layout knows nothing of panels with a common colour bar.
#include "experiments/driver/figures/heatmap.hpp"

#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/records/table.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr std::string_view no_link_colour = "#f3f3f5";

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

/// "224 links, 12 idle" and "mean 47 %, max 100 %"
std::pair<std::string, std::string> summary(const LinkMap& map, const LinkScale& scale) {
  const auto idle = std::count(map.links.begin(), map.links.end(), 0.0);
  const LinkMap alone[] = {map};
  return {fmt::format("{} link{}{}", map.links.size(), map.links.size() == 1 ? "" : "s",
                      idle > 0 ? fmt::format(", {} idle", idle) : ""),
          fmt::format("mean {}, max {}", link_value_text(mean(map.links), scale),
                      link_value_text(largest_link(alone), scale))};
}

/// Where panels and colour bar lie, in points from the upper left corner.
struct HeatmapLayout {
  static constexpr double right = 92, head = 48; ///< head: a panel's title and summary
  std::size_t columns, rows;
  bool names; ///< of switches, beside the panels
  double left, gap_x, top, panel;
  double below; ///< each panel: numbers, upright names, what the axis shows
  ChartFrame page;

  // As many columns as a page has room for, fewer where a panel has many nodes.
  HeatmapLayout(const Heading& text, std::span<const LinkMap> maps)
      : names(std::any_of(maps.begin(), maps.end(),
                          [](const LinkMap& map) { return !map.others.empty(); })),
        left(names ? 86 : 58), gap_x(names ? 70 : 40), below(names ? 56 : 24),
        page(text, page_width, 0, 0, 0) {
    const std::size_t n = maps.size();
    std::uint32_t nodes = 0;
    for (const LinkMap& map : maps) nodes = std::max(nodes, map.nodes);
    columns = std::min<std::size_t>(n, n == 4 || nodes > 128 || names ? 2 : 3);
    rows = (n + columns - 1) / columns;
    const double all = page_width - left - right - gap_x * static_cast<double>(columns - 1);
    panel = std::min(all / static_cast<double>(columns), 440.0);
    top = page.top + head;
    page =
        ChartFrame(text, page_width, 0, 0, static_cast<double>(rows) * (panel + below + head) + 18);
  }
  [[nodiscard]] double x(std::size_t panel_index) const {
    return left + static_cast<double>(panel_index % columns) * (panel + gap_x);
  }
  [[nodiscard]] double y(std::size_t panel_index) const {
    const std::size_t row = panel_index / columns;
    return top + static_cast<double>(row) * (panel + below + head);
  }
  [[nodiscard]] double grid_right() const { return x(columns - 1) + panel; }
  [[nodiscard]] double grid_bottom() const { return y(columns * rows - 1) + panel; }
  [[nodiscard]] int width() const { return page.width; }
  [[nodiscard]] int height() const { return page.height; }
  [[nodiscard]] std::string screen(double px, double py) const { return page.screen(px, py); }
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

/// Distance of the numbers along an axis: at most about eight, round in the count's own terms, and
/// so far apart that they don't touch.
std::uint32_t tic_step(std::uint32_t nodes, double pitch) {
  const auto has_room = [&](std::uint32_t step) {
    return step * pitch >= text_width(fmt::format("{}", nodes), least_font) + 4;
  };
  if (nodes > 8 && nodes % 8 == 0 && has_room(nodes / 8)) return nodes / 8;
  for (std::uint32_t decade = 1;; decade *= 10)
    for (const std::uint32_t step : {decade, 2 * decade, 5 * decade})
      if (nodes <= 10 * step && has_room(step)) return step;
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
  constexpr double line = 12;      // points
  const auto step = static_cast<std::size_t>(std::ceil(line / pitch));
  const char* const style = "font 'sans-serif,10' textcolor rgb '#333333'";
  std::string text;
  for (std::size_t i = 0; i < map.others.size(); i += step) {
    const std::string name = gnuplot_quoted(shortened(map.others[i], 8));
    const double at = map.npus + static_cast<double>(i);
    const auto tag = first_label + 2 * static_cast<int>(i);
    text += fmt::format("set label {} {} at graph 0, first {} right offset character -0.6, 0 {}\n"
                        "set label {} {} at first {}, graph 0 right rotate by 90 offset 0, "
                        "character -0.5 {}\n",
                        tag, name, at, style, tag + 1, name, at, style);
  }
  return text;
}

/// Marks at NPUs: their numbers, or where some have failed the numbers that the others still have.
std::string npu_tics(const LinkMap& map, double pitch) {
  // The last numbers would run into the names of switches.
  const double last = map.others.empty() ? map.npus - 1.0 : map.npus - 1 - 12 / pitch;
  if (map.npu_names.empty())
    return fmt::format("set xtics 0, {0}, {1:.6g}\nset ytics 0, {0}, {1:.6g}\n",
                       tic_step(map.npus, pitch), std::max(last, 0.0));
  std::vector<AxisTic> tics;
  const auto step = static_cast<std::size_t>(std::ceil(17 / pitch));
  for (std::size_t i = 0; i < map.npu_names.size() && static_cast<double>(i) <= last; i += step)
    tics.push_back({static_cast<double>(i), shortened(map.npu_names[i], 6)});
  return fmt::format("set xtics ({0})\nset ytics ({0})\n", tics_text(tics));
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
  text +=
      fmt::format("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]\n", last) + npu_tics(map, pitch);
  if (lowest)
    text += fmt::format("set label 7 '{}' at {} center\n", axis_text("destination", only_npus),
                        layout.screen(x + size / 2, y + size + (only_npus ? 34 : 62)));
  if (leftmost)
    text +=
        fmt::format("set label 8 '{}' at {} center rotate by 90\n", axis_text("source", only_npus),
                    layout.screen(x - (only_npus ? 40 : 70), y + size / 2));
  text += names_of_others(map, pitch);
  const auto [links, values] = summary(map, scale);
  text += fmt::format("set label 2 {} at {} left font 'sans-serif,12' textcolor rgb '#111111'\n",
                      gnuplot_quoted(shortened(map.title, size / text_width("x", 12))),
                      layout.screen(x, y - 36));
  text += fmt::format("set label 3 {} at {} left font 'sans-serif,10' textcolor rgb '#555555'\n"
                      "set label 6 {} at {} left font 'sans-serif,10' textcolor rgb '#555555'\n",
                      gnuplot_quoted(links), layout.screen(x, y - 22), gnuplot_quoted(values),
                      layout.screen(x, y - 10));
  text += "unset arrow\n";
  if (map.nodes <= 40) // large enough cells to tell neighbours of one colour apart
    for (std::uint32_t node = 1; node < map.nodes; ++node)
      text += cross_lines(node, no_link_colour, 0.5);
  if (!only_npus) text += cross_lines(map.npus, "#888888", 0.8);
  // Few cells are drawn as squares, which stay sharp in every viewer.
  const auto cells =
      std::ranges::count_if(map.cells, [](double cell) { return !std::isnan(cell); });
  return text + fmt::format("plot $map{} matrix with image{} notitle\n", index,
                            static_cast<std::size_t>(cells) * panels <= 6000 ? " pixels" : "");
}

/// Where the curve of these descending values changes by what can be seen, over shares of links.
std::vector<PlotPoint> steps_of(std::span<const double> values, const LinkScale& scale) {
  std::vector<PlotPoint> points;
  std::string drawn = "0";
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::string value = fmt::format("{:.3g}", values[k] / scale.divisor);
    if (k > 0 && value == drawn) continue;
    points.push_back({100.0 * static_cast<double>(k) / static_cast<double>(values.size()),
                      values[k] / scale.divisor});
    drawn = value;
  }
  points.push_back({100, points.empty() ? 0 : points.back().y});
  return points;
}

/// The colour bar over the height of the grid, and below it the colour of "no link".
std::string colour_bar(const HeatmapLayout& layout, const LinkScale& scale, double end) {
  const double x = layout.grid_right() + 16, bottom = layout.grid_bottom();
  const double height = bottom - layout.top;
  return std::string(heat_palette()) +
         fmt::format(
             "set cbrange [0:{}]\nset cblabel '{} [{}]' offset 0.5, 0\n"
             "set colorbox vertical user origin screen {:.6f}, screen {:.6f} size screen "
             "{:.6f}, screen {:.6f}\n"
             "set object 2 rectangle from {} to {} fillcolor rgb '{}' fillstyle solid border "
             "rgb '#888888'\n"
             "set label 4 'no link' at {} left font 'sans-serif,10' textcolor rgb '#333333'\n",
             end / scale.divisor, scale.label, scale.unit, x / layout.width(),
             1 - bottom / layout.height(), 14.0 / layout.width(), height / layout.height(),
             layout.screen(x, bottom + 14), layout.screen(x + 14, bottom + 26), no_link_colour,
             layout.screen(x + 20, bottom + 20));
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
  bool in_order = true;
  for (std::uint32_t n = 0; n < map.npus; ++n) {
    const std::string& name = topology.node(NodeId{n}).name;
    in_order = in_order && name == fmt::format("npu{}", n);
    map.npu_names.push_back(name.starts_with("npu") ? name.substr(3) : name);
  }
  // Where not one is called so, numbers are as good as names, and shorter.
  const bool are_npus = std::ranges::any_of(map.npu_names, [&](const std::string& name) {
    return name.find_first_not_of("0123456789") == std::string::npos;
  });
  if (in_order || !are_npus) map.npu_names.clear();
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
  const double largest = largest_cell(maps);
  const LinkScale scale = link_scale(quantity, largest);
  const HeatmapLayout layout(heading, maps);
  std::string script = figure_style(heading, layout.width()) +
                       colour_bar(layout, scale, scale_end(quantity, largest));
  script += "set object 1 rectangle from graph 0, graph 0 to graph 1, graph 1 behind "
            "fillcolor rgb '" +
            std::string(no_link_colour) +
            "' fillstyle solid noborder\nset tics font 'sans-serif,10'\nset multiplot\n";
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
  const LinkScale scale = link_scale(quantity, largest_link(maps));
  CurveChart chart;
  chart.heading = heading;
  chart.axis = CurveAxis::linear;
  chart.x_label = "links, the busiest first [% of all links]";
  chart.y_label = fmt::format("{} [{}]", scale.label, scale.unit);
  chart.steps = true;
  // In "tacos on DragonFly" the algorithm gives the colour, the network the dash.
  std::vector<std::string> names, networks;
  const auto place_in = [](std::vector<std::string>& texts, const std::string& text) {
    const auto found = std::ranges::find(texts, text);
    const auto place = static_cast<std::size_t>(found - texts.begin());
    if (found == texts.end()) texts.push_back(text);
    return place;
  };
  std::vector<CurveLook> looks; // hue: in `names`
  for (const LinkMap& map : maps) {
    const std::size_t on = std::min(map.title.find(" on "), map.title.size());
    looks.push_back(
        {place_in(names, map.title.substr(0, on)), place_in(networks, map.title.substr(on))});
  }
  const std::vector<std::size_t> hues = series_hues(names);
  for (std::size_t m = 0; m < maps.size(); ++m) {
    const LinkMap& map = maps[m];
    std::vector<double> values = map.links;
    std::sort(values.begin(), values.end(), std::greater<>());
    chart.curves.push_back(
        {fmt::format("{} (mean {})", map.title, link_value_text(mean(values), scale)),
         steps_of(values, scale),
         {},
         CurveLook{hues[m], 0}});
  }
  return curve_figure(chart);
}

} // namespace tutti
