// Panels share one colour scale, or they couldn't be compared, and paper is left blank where there
// is no link, which isn't the same as an idle link. Cells of one colour beside each other are one
// stroke.
#include "experiments/driver/figures/heatmap.hpp"

#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/records/table.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

constexpr int no_link_colour = 0xf3f3f5;

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

/// "Mesh, 224 links, 12 idle" and "mean 47 %, max 100 %"; the unit of bytes stands at the
/// colour bar.
std::pair<std::string, std::string> summary(const LinkMap& map, const LinkScale& scale) {
  const auto idle = std::count(map.links.begin(), map.links.end(), 0.0);
  const LinkMap alone[] = {map};
  const auto value = [&scale](double amount) {
    return scale.unit == "%" ? link_value_text(amount, scale)
                             : three_digits(amount / scale.divisor);
  };
  return {fmt::format("{}{}{} link{}{}", map.network, map.network.empty() ? "" : ", ",
                      map.links.size(), map.links.size() == 1 ? "" : "s",
                      idle > 0 ? fmt::format(", {} idle", idle) : ""),
          fmt::format("mean {}, max {}", value(mean(map.links)), value(largest_link(alone)))};
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
        page(text, text.page, 0, 0, 0) {
    const std::size_t n = maps.size();
    std::uint32_t nodes = 0;
    for (const LinkMap& map : maps) nodes = std::max(nodes, map.nodes);
    const bool is_coarse = n == 4 || nodes > 128 || names;
    const std::size_t most = is_coarse ? 2 : n % 4 == 0 && n % 3 != 0 ? 4 : 3; // full rows
    const double least_width = most == 4 ? 180 : 240;
    columns = std::min({n, most, static_cast<std::size_t>(std::max(1.0, text.page / least_width))});
    rows = (n + columns - 1) / columns;
    const double all = text.page - left - right - gap_x * static_cast<double>(columns - 1);
    panel = std::min(all / static_cast<double>(columns), 440.0);
    top = page.top + head;
    page = ChartFrame(text, text.page, 0, 0, static_cast<double>(rows) * (panel + below + head), 0,
                      -18);
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
};

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

/// The text, as much of it as has room.
std::string fitted(const std::string& text, double room, double font) {
  const double width = text_width(text, font);
  return width <= room ? text
                       : shortened(text, room / width * static_cast<double>(display_width(text)));
}

std::string axis_text(std::string_view end, bool only_npus) {
  return fmt::format("{} {}", end, only_npus ? "NPU" : "(NPUs, then switches)");
}

/// Marks at NPUs: their numbers, or where some have failed the numbers that the others still have.
std::vector<AxisTic> npu_tics(const LinkMap& map, double pitch) {
  // The last numbers would run into the names of switches.
  const double last = map.others.empty() ? map.npus - 1.0 : map.npus - 1 - 12 / pitch;
  const std::uint32_t step = map.npu_names.empty()
                                 ? tic_step(map.npus, pitch)
                                 : static_cast<std::uint32_t>(std::ceil(17 / pitch));
  std::vector<AxisTic> tics;
  for (std::uint32_t i = 0; i < map.npus && i <= std::max(last, 0.0); i += step)
    tics.push_back({static_cast<double>(i),
                    map.npu_names.empty() ? fmt::format("{}", i) : shortened(map.npu_names[i], 6)});
  return tics;
}

/// Colours of a map: as many as can be told apart.
constexpr int heat_levels = 64;
int heat_colour(int level) { return amount_colour(level / (heat_levels - 1.0)); }

class PanelPainter {
public:
  PanelPainter(Canvas& canvas, const LinkMap& map, Position corner, double size)
      : canvas_(canvas), map_(map), corner_(corner), pitch_(size / map.nodes),
        most_(corner + Position{size, size}) {}

  void paint(double end) {
    canvas_.rectangle(back_layer, corner_, most_, no_link_colour);
    paint_cells(end);
    if (map_.nodes <= 40) // large enough cells to tell neighbours of one colour apart
      for (std::uint32_t node = 1; node < map_.nodes; ++node)
        paint_cross_lines(node, no_link_colour, 0.5);
    if (!map_.others.empty()) paint_cross_lines(map_.npus, 0x888888, 0.8);
    const std::array around{corner_, Position{most_.x, corner_.y}, most_,
                            Position{corner_.x, most_.y}, corner_};
    canvas_.line(axis_layer, around, axis_ink, 0.8);
    for (const AxisTic& tic : npu_tics(map_, pitch_)) {
      const double by = (tic.at + 0.5) * pitch_;
      const Position x{corner_.x + by, most_.y}, y{corner_.x, corner_.y + by};
      canvas_.line(axis_layer, x, x + Position{0, 4}, axis_ink, 0.8);
      canvas_.line(axis_layer, y - Position{4, 0}, y, axis_ink, 0.8);
      canvas_.text(text_layer, x + Position{0, 14}, tic.text, least_font, tic_ink);
      canvas_.text(text_layer, y - Position{8, 0}, tic.text, least_font, tic_ink, Anchor::right);
    }
    paint_names_of_others();
  }

private:
  /// Between this node's column and row and those before them.
  void paint_cross_lines(std::uint32_t node, int colour, double width) {
    const double by = node * pitch_;
    canvas_.line(grid_layer + 1, {corner_.x + by, corner_.y}, {corner_.x + by, most_.y}, colour,
                 width);
    canvas_.line(grid_layer + 1, {corner_.x, corner_.y + by}, {most_.x, corner_.y + by}, colour,
                 width);
  }

  void paint_cells(double end) {
    constexpr int none = -1;
    const auto level_of = [&](std::size_t cell) {
      const double value = map_.cells[cell];
      if (std::isnan(value)) return none;
      return static_cast<int>(std::lround(std::clamp(value / end, 0.0, 1.0) * (heat_levels - 1)));
    };
    for (std::uint32_t row = 0; row < map_.nodes; ++row)
      for (std::uint32_t first = 0, last = 0; first < map_.nodes; first = last) {
        const std::size_t begin = std::size_t{row} * map_.nodes;
        const int level = level_of(begin + first);
        for (last = first + 1; last < map_.nodes && level_of(begin + last) == level;) ++last;
        const double y = corner_.y + (row + 0.5) * pitch_;
        if (level != none)
          canvas_.line(grid_layer, {corner_.x + first * pitch_, y}, {corner_.x + last * pitch_, y},
                       heat_colour(level), pitch_);
      }
  }

  /// The names of switches and memories along both axes, as many as there is room for.
  void paint_names_of_others() {
    constexpr double line = 12; // points
    const auto step = static_cast<std::size_t>(std::ceil(line / pitch_));
    for (std::size_t i = 0; i < map_.others.size(); i += step) {
      const std::string name = shortened(map_.others[i], 8);
      const double by = (map_.npus + static_cast<double>(i) + 0.5) * pitch_;
      canvas_.text(text_layer, {corner_.x - 5, corner_.y + by}, name, least_font, tic_ink,
                   Anchor::right);
      canvas_.text(text_layer, {corner_.x + by, most_.y + 6}, name, least_font, tic_ink,
                   Anchor::right, 90);
    }
  }

  Canvas& canvas_;
  const LinkMap& map_;
  Position corner_;
  double pitch_;
  Position most_;
};

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
void paint_colour_bar(Canvas& canvas, const HeatmapLayout& layout, const LinkScale& scale,
                      double end) {
  const double x = layout.grid_right() + 16, bottom = layout.grid_bottom();
  const double step = (bottom - layout.top) / heat_levels;
  for (int level = 0; level < heat_levels; ++level) {
    const double y = bottom - (level + 1) * step;
    canvas.rectangle(back_layer, {x, y}, {x + 14, std::min(y + step + 0.5, bottom)},
                     heat_colour(level));
  }
  const auto frame = [&](double top, double low) {
    canvas.line(axis_layer,
                std::array{Position{x, top}, Position{x + 14, top}, Position{x + 14, low},
                           Position{x, low}, Position{x, top}},
                axis_ink, 0.8);
  };
  frame(layout.top, bottom);
  const double most = end / scale.divisor;
  for (const AxisTic& tic : even_tics(0, most, 6)) {
    const double y = bottom - tic.at / most * (bottom - layout.top);
    canvas.line(axis_layer, {x + 14, y}, {x + 18, y}, axis_ink, 0.8);
    canvas.text(text_layer, {x + 22, y}, tic.text, least_font, tic_ink, Anchor::left);
  }
  canvas.text(text_layer, {x + 64, (layout.top + bottom) / 2},
              fmt::format("{} [{}]", scale.label, scale.unit), chart_font, 0, Anchor::middle, 90);
  canvas.rectangle(back_layer, {x, bottom + 14}, {x + 14, bottom + 26}, no_link_colour);
  frame(bottom + 14, bottom + 26);
  canvas.text(text_layer, {x + 20, bottom + 20}, "no link", least_font, tic_ink, Anchor::left);
}

std::vector<std::vector<std::string>> data_of(std::span<const LinkMap> maps,
                                              const LinkScale& scale) {
  std::vector<std::vector<std::string>> rows{
      {"panel", "source", "destination", fmt::format("{} [{}]", scale.label, scale.unit)}};
  for (const LinkMap& map : maps)
    for (std::size_t cell = 0; cell < map.cells.size(); ++cell)
      if (!std::isnan(map.cells[cell]))
        rows.push_back({map.name(), fmt::format("{}", cell / map.nodes),
                        fmt::format("{}", cell % map.nodes),
                        fmt::format("{:.4g}", map.cells[cell] / scale.divisor)});
  return rows;
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
  Canvas canvas = layout.page.canvas();
  const double end = scale_end(quantity, largest);
  paint_colour_bar(canvas, layout, scale, end);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const LinkMap& map = maps[i];
    const Position at{layout.x(i), layout.y(i)};
    const double size = layout.panel;
    PanelPainter(canvas, map, at, size).paint(end);
    const bool only_npus = map.others.empty();
    if (i + layout.columns >= maps.size())
      canvas.text(text_layer, at + Position{size / 2, size + (only_npus ? 34 : 62)},
                  axis_text("destination", only_npus), chart_font, 0);
    if (i % layout.columns == 0)
      canvas.text(text_layer, at + Position{only_npus ? -40.0 : -70.0, size / 2},
                  axis_text("source", only_npus), chart_font, 0, Anchor::middle, 90);
    const auto [links, values] = summary(map, scale);
    // Up to the next panel, or to the colour bar, which begins below the first head.
    const bool is_last = (i + 1) % layout.columns == 0 || i + 1 == maps.size();
    const double room = !is_last ? size + layout.gap_x - 6 : size + (i < layout.columns ? 60 : 12);
    const auto write = [&](double above, const std::string& text, double font, int ink) {
      canvas.text(text_layer, at - Position{0, above}, fitted(text, room, font), font, ink,
                  Anchor::left);
    };
    write(36, map.title, 12, 0x111111);
    write(22, links, least_font, note_ink);
    write(10, values, least_font, note_ink);
  }
  return layout.page.figure(std::move(canvas), data_of(maps, scale));
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
    looks.push_back({place_in(names, map.title), place_in(networks, map.network)});
  }
  const std::vector<std::size_t> hues = series_hues(names);
  for (std::size_t m = 0; m < maps.size(); ++m) {
    const LinkMap& map = maps[m];
    std::vector<double> values = map.links;
    std::sort(values.begin(), values.end(), std::greater<>());
    chart.curves.push_back(
        {fmt::format("{} (mean {})", map.name(), link_value_text(mean(values), scale)),
         steps_of(values, scale),
         {},
         CurveLook{hues[m], 0}});
  }
  return curve_figure(chart);
}

} // namespace tutti
