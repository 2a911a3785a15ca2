// The picture is made as large as its texts need, and cells as large as the page has room for them.
#include "experiments/driver/figures/choice_map.hpp"

#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/records/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

constexpr double letter = 6.6; // width in points, at font size 11

constexpr int empty_colour = 0xe4e4e4; // of cells without a result

double widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  return static_cast<double>(width);
}

// Where everything lies, in points from the upper left corner.
struct MapLayout {
  double cell_width, cell_height, left, below;
  double plot_width, plot_height;
  bool upright; ///< texts of the x axis
  int width;
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
    width = std::max(needed, heading_width({map.title, map.note}));
    plot_height =
        std::max(plot_height, 22.0 * static_cast<double>(map.choices.size() + 1) + 40 - below);
  }
};

// Marks for every `step`th text, so that none overlap.
std::vector<AxisTic> map_tics(const std::vector<std::string>& texts, double pitch, double room) {
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(room / pitch)));
  std::vector<AxisTic> tics;
  for (std::size_t i = 0; i < texts.size(); i += step)
    tics.push_back({static_cast<double>(i), texts[i]});
  return tics;
}

class MapPainter {
public:
  MapPainter(const ChoiceMap& map, const MapLayout& at, const ChartFrame& frame, Canvas& canvas)
      : map_(map), at_(at), frame_(frame), canvas_(canvas) {}

  void paint() {
    const double bottom = middle(0, 0).y + at_.cell_height / 2;
    for (const AxisTic& tic : map_tics(map_.columns, at_.cell_width, at_.upright ? 13 : 1)) {
      const double x = middle(static_cast<std::size_t>(tic.at), 0).x;
      if (at_.upright)
        canvas_.text(text_layer, {x, bottom + 7}, tic.text, chart_font, tic_ink, Anchor::right, 90);
      else
        canvas_.text(text_layer, {x, bottom + 13}, tic.text, chart_font, tic_ink);
    }
    for (const AxisTic& tic : map_tics(map_.rows, at_.cell_height, 13))
      canvas_.text(text_layer, {at_.left - 8, middle(0, static_cast<std::size_t>(tic.at)).y},
                   tic.text, chart_font, tic_ink, Anchor::right);
    canvas_.text(text_layer, {at_.left + at_.plot_width / 2, bottom + at_.below - 40}, map_.x_label,
                 chart_font, 0);
    canvas_.text(text_layer, {14, (frame_.top + bottom) / 2}, map_.y_label, chart_font, 0,
                 Anchor::middle, 90);
    for (const MapCell& cell : map_.cells)
      paint_cell(cell.column, cell.row, map_.choices[cell.choice].colour);
    paint_legend(paint_empty_cells());
    paint_texts();
  }

private:
  [[nodiscard]] Position middle(std::size_t column, std::size_t row) const {
    return {at_.left + (static_cast<double>(column) + 0.5) * at_.cell_width,
            frame_.top + (static_cast<double>(map_.rows.size() - row) - 0.5) * at_.cell_height};
  }

  // With a thin gap to the next.
  void paint_cell(std::size_t column, std::size_t row, int colour) {
    const Position half{at_.cell_width * (0.5 - std::min(0.75 / at_.cell_width, 0.1)),
                        at_.cell_height * (0.5 - std::min(0.75 / at_.cell_height, 0.1))};
    const Position at = middle(column, row);
    canvas_.rectangle(curve_layer, at - half, at + half, colour);
  }

  bool paint_empty_cells() {
    std::vector<bool> has_result(map_.columns.size() * map_.rows.size(), false);
    for (const MapCell& cell : map_.cells)
      has_result[cell.row * map_.columns.size() + cell.column] = true;
    for (std::size_t i = 0; i < has_result.size(); ++i)
      if (!has_result[i])
        paint_cell(i % map_.columns.size(), i / map_.columns.size(), empty_colour);
    return std::ranges::find(has_result, false) != has_result.end();
  }

  // A square and a name for each choice, beside the map.
  void paint_legend(bool has_empty) {
    std::vector<MapChoice> entries = map_.choices;
    if (has_empty) entries.push_back({"no result", empty_colour});
    Position at{at_.left + at_.plot_width + 20, frame_.top + 9};
    for (const MapChoice& entry : entries) {
      canvas_.rectangle(curve_layer, at - Position{0, 6}, at + Position{14, 6}, entry.colour);
      canvas_.text(text_layer, at + Position{22, 0}, entry.name, chart_font, 0, Anchor::left);
      at.y += 22;
    }
  }

  // A kind of texts is in all cells or in none: else those that are long would seem to lack it.
  // Both where there is room for both, one above the other; else one of them, or the small one
  // upright in narrow cells.
  void paint_texts() {
    const auto all_fit = [&](std::string MapCell::*words, double room) {
      return std::ranges::all_of(map_.cells, [&](const MapCell& cell) {
        return text_width(cell.*words, least_font) * at_.scale + 4 <= room;
      });
    };
    const bool large = at_.cell_height >= 15 && all_fit(&MapCell::text, at_.cell_width);
    const bool small = at_.cell_height >= 30 && all_fit(&MapCell::small_text, at_.cell_width);
    const bool upright = !large && !small && at_.cell_width >= 15 * at_.scale &&
                         all_fit(&MapCell::small_text, at_.cell_height);
    for (const MapCell& cell : map_.cells) {
      const Position at = middle(cell.column, cell.row);
      const int colour = text_colour_on(map_.choices[cell.choice].colour);
      if (large)
        canvas_.text(text_layer, at - Position{0, small ? 6.0 : 0}, cell.text, least_font, colour);
      if (small || upright)
        canvas_.text(text_layer, at + Position{0, large ? 7.0 : 0}, cell.small_text, least_font,
                     colour, Anchor::middle, upright ? 90 : 0);
    }
  }

  const ChoiceMap& map_;
  const MapLayout& at_;
  const ChartFrame& frame_;
  Canvas& canvas_;
};

std::vector<std::vector<std::string>> data_of(const ChoiceMap& map) {
  std::vector<std::vector<std::string>> rows{
      {"choice", map.x_label, map.y_label, "text", "small text"}};
  for (const MapCell& cell : map.cells)
    rows.push_back({map.choices[cell.choice].name, map.columns[cell.column], map.rows[cell.row],
                    cell.text, cell.small_text});
  return rows;
}

} // namespace

Figure choice_map_figure(const ChoiceMap& map) {
  const MapLayout at(map);
  const ChartFrame frame({map.title, map.note}, at.width, at.left, 0, at.plot_height, 0,
                         at.below - 68);
  Canvas canvas = frame.canvas();
  MapPainter(map, at, frame, canvas).paint();
  return frame.figure(std::move(canvas), data_of(map));
}

} // namespace tutti
