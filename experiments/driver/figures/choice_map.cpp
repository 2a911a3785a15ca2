// A map as gnuplot rectangles. gnuplot chooses margins and legends by its own estimates
// and leaves out what doesn't fit; here everything has a place in points, computed from the
// widths of the texts, and the picture is made as large as they need.
#include "experiments/driver/figures/choice_map.hpp"

#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/records/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti {

namespace {

constexpr double letter = 6.6; // width in points, at font size 11

constexpr std::string_view empty_colour = "#e4e4e4"; // of cells without a result

double widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  return static_cast<double>(width);
}

// Where everything lies, in points from the upper left corner.
struct MapLayout {
  double cell_width, cell_height, left, top = 52, below;
  double plot_width, plot_height;
  bool upright; ///< texts of the x axis
  int width, height;
  double scale; ///< of letters

  explicit MapLayout(const ChoiceMap& map) {
    const auto columns = static_cast<double>(map.columns.size());
    const auto rows = static_cast<double>(map.rows.size());
    std::vector<std::string> texts, names;
    for (const MapCell& cell : map.cells) texts.push_back(cell.text);
    for (const MapChoice& choice : map.choices) names.push_back(choice.name);
    const double row_names = letter * widest(map.rows);
    const double choice_names = letter * std::max(widest(names), 9.0);
    const double besides = (map.y_label.empty() ? 24 : 48) + 60;
    // Few columns share 300 points at least.
    width = figure_width(besides + 300, row_names + choice_names);
    scale = text_scale(width);
    left = scale * row_names + (map.y_label.empty() ? 24 : 48);
    const double legend = scale * choice_names + 60;
    const double room = width - left - legend;
    // Wide enough for its text, as long as all columns fit.
    const double roomy = std::max({scale * letter * widest(texts) + 12, 56.0});
    cell_width = std::clamp(roomy, 4.0, std::max(room / columns, 4.0));
    cell_width = std::max(cell_width, std::min(300 / columns, 150.0));
    cell_height = std::clamp(430 / rows, 4.0, 46.0);
    // The texts of the x axis stand upright as soon as one is wider than its column.
    upright = scale * letter * widest(map.columns) + 8 > cell_width;
    below = (upright ? scale * letter * widest(map.columns) : 14) + 64;
    plot_width = columns * cell_width;
    plot_height = rows * cell_height;
    // Narrower where little is wide; wider where columns are more than a page has room for.
    const int needed = static_cast<int>(left + plot_width + legend);
    width = std::max(needed, std::min(heading_width({map.title, map.note}), page_width));
    const double entries = 22.0 * static_cast<double>(map.choices.size() + 1);
    const std::size_t lines = text_lines(map.note, width - 30, least_font).size();
    const double note = lines < 2 ? 0 : 14 * static_cast<double>(lines - 1);
    height = static_cast<int>(top + std::max(plot_height + below, entries + 40) + note);
  }
};

// Marks for every `step`th text, so that none overlap.
std::string map_tics(const std::vector<std::string>& texts, double pitch, double room) {
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(room / pitch)));
  std::vector<AxisTic> tics;
  for (std::size_t i = 0; i < texts.size(); i += step)
    tics.push_back({static_cast<double>(i), texts[i]});
  return tics_text(tics);
}

std::string map_axes(const ChoiceMap& map, const MapLayout& at) {
  const auto x = [&](double points) { return points / at.width; };
  const auto y = [&](double points) { return 1 - points / at.height; };
  std::string text =
      fmt::format("set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
                  "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\nunset key\n",
                  x(at.left), x(at.left + at.plot_width), y(at.top), y(at.top + at.plot_height));
  text += fmt::format(
      "unset border\nset tics scale 0\nset xrange [-0.5:{}]\nset yrange [-0.5:{}]\n",
      static_cast<double>(map.columns.size()) - 0.5, static_cast<double>(map.rows.size()) - 0.5);
  text += fmt::format("set xtics {} ({})\nset ytics ({})\n",
                      at.upright ? "rotate by 90 right offset 0, 0" : "",
                      map_tics(map.columns, at.cell_width, at.upright ? 13 : 1),
                      map_tics(map.rows, at.cell_height, 13));
  text += fmt::format("set label 2 {} at screen {:.6f}, screen {:.6f} center\n",
                      gnuplot_quoted(map.x_label), x(at.left + at.plot_width / 2),
                      y(at.top + at.plot_height + at.below - 40));
  if (!map.y_label.empty())
    text += fmt::format("set label 3 {} at screen {:.6f}, screen {:.6f} center rotate by 90\n",
                        gnuplot_quoted(map.y_label), x(14.0), y(at.top + at.plot_height / 2));
  return text;
}

// A square and a name for each choice, beside the map: gnuplot's own legend leaves out what is
// taller than the plot.
std::string map_legend(const ChoiceMap& map, const MapLayout& at, bool empty) {
  std::vector<MapChoice> entries = map.choices;
  if (empty) entries.push_back({"no result", std::string(empty_colour)});
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double px = at.left + at.plot_width + 20, py = at.top + 22.0 * static_cast<double>(i);
    const auto screen = [&](double dx, double dy) {
      return fmt::format("screen {:.6f}, screen {:.6f}", (px + dx) / at.width,
                         1 - (py + dy) / at.height);
    };
    text += fmt::format("set object {} rectangle from {} to {} front fillstyle solid noborder "
                        "fillcolor rgb '{}'\nset label {} {} at {} left\n",
                        i + 1, screen(0, 3), screen(14, 15), entries[i].colour, 10 + i,
                        gnuplot_quoted(entries[i].name), screen(22, 9));
  }
  return text;
}

// "x y x_low x_high y_low y_high" of cells, with a thin gap between them.
std::string cell_line(double column, double row, const MapLayout& at) {
  const double half_x = 0.5 - std::min(0.75 / at.cell_width, 0.1);
  const double half_y = 0.5 - std::min(0.75 / at.cell_height, 0.1);
  return fmt::format("{} {} {:.4f} {:.4f} {:.4f} {:.4f}\n", column, row, column - half_x,
                     column + half_x, row - half_y, row + half_y);
}

std::string boxes(std::string_view name, std::string_view colour) {
  return fmt::format("{} using 1:2:3:4:5:6 with boxxyerror fillstyle solid noborder linecolor rgb "
                     "'{}'",
                     name, colour);
}

// Cells without a result.
std::string empty_cells(const ChoiceMap& map, const MapLayout& at) {
  std::vector<bool> has_result(map.columns.size() * map.rows.size(), false);
  for (const MapCell& cell : map.cells)
    has_result[cell.row * map.columns.size() + cell.column] = true;
  std::string data;
  for (std::size_t i = 0; i < has_result.size(); ++i)
    if (!has_result[i])
      data += cell_line(static_cast<double>(i % map.columns.size()),
                        static_cast<double>(i / map.columns.size()), at);
  return data;
}

std::string cell_texts(const ChoiceMap& map, const MapLayout& at) {
  std::string text;
  std::size_t tag = 1000; // below: the heading's, the axes' and the legend's
  const auto add = [&](const MapCell& cell, const std::string& words, double up,
                       bool upright = false) {
    text += fmt::format("set label {} {} at first {}, first {} center {}offset 0, character {} "
                        "front font 'sans-serif,{}' textcolor rgb '{}'\n",
                        tag++, gnuplot_quoted(words), cell.column, cell.row,
                        upright ? "rotate by 90 " : "", up, least_font,
                        text_colour_on(map.choices[cell.choice].colour));
  };
  const auto all_fit = [&](std::string MapCell::*words, double room) {
    return std::ranges::all_of(map.cells, [&](const MapCell& cell) {
      return text_width(cell.*words, least_font) * at.scale + 4 <= room;
    });
  };
  // A kind of texts is in all cells or in none: else those that are long would seem to lack it.
  // Both where there is room for both, one above the other; else one of them, or the small one
  // upright in narrow cells.
  const bool large = at.cell_height >= 15 && all_fit(&MapCell::text, at.cell_width);
  const bool small = at.cell_height >= 30 && all_fit(&MapCell::small_text, at.cell_width);
  const bool upright = !large && !small && at.cell_width >= 15 * at.scale &&
                       all_fit(&MapCell::small_text, at.cell_height);
  for (const MapCell& cell : map.cells) {
    if (large) add(cell, cell.text, small ? 0.42 : 0);
    if (small || upright) add(cell, cell.small_text, large ? -0.5 : 0, upright);
  }
  return text;
}

} // namespace

Figure choice_map_figure(const ChoiceMap& map) {
  const MapLayout at(map);
  std::string data, plots;
  for (std::size_t c = 0; c < map.choices.size(); ++c) {
    std::string lines;
    for (const MapCell& cell : map.cells)
      if (cell.choice == c)
        lines += cell_line(static_cast<double>(cell.column), static_cast<double>(cell.row), at);
    data += fmt::format("$choice{} << END\n{}END\n", c, lines);
    plots += (c == 0 ? "plot " : ", \\\n     ") +
             boxes(fmt::format("$choice{}", c), map.choices[c].colour);
  }
  const std::string empty = empty_cells(map, at);
  if (!empty.empty()) {
    data += fmt::format("$empty << END\n{}END\n", empty);
    plots += ", \\\n     " + boxes("$empty", empty_colour);
  }
  return {figure_style({map.title, map.note}, at.width) + map_axes(map, at) +
              map_legend(map, at, !empty.empty()) + cell_texts(map, at) + data + plots + "\n",
          at.width, at.height, text_scale(at.width)};
}

} // namespace tutti
