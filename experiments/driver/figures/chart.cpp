// Everything has its place in points, computed from the widths of the texts.
#include "experiments/driver/figures/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace tutti {

namespace {

constexpr double title_font = 14, tic_length = 4;

} // namespace

ChartFrame::ChartFrame(const Heading& text, int width_of_figure, double left_of_plot,
                       double right_of_plot, double plot_height, double above, double below)
    : heading(text, width_of_figure,
              {title_font, least_font, text_scale(width_of_figure, text.page)}),
      width(width_of_figure), scale(text_scale(width_of_figure, text.page)), left(left_of_plot),
      right(width_of_figure - right_of_plot), top(heading.top() + 4 + above),
      bottom(top + plot_height), under_plot(38 + below) {}

double ChartFrame::height() const { return heading.height(bottom + under_plot - heading.top()); }

Figure ChartFrame::figure(Canvas canvas, std::vector<std::vector<std::string>> data) const {
  heading.paint(canvas, bottom + under_plot - heading.top());
  Figure figure = canvas.figure(width, height());
  figure.data = std::move(data);
  return figure;
}

int heading_width(const Heading& heading) {
  const double text =
      std::max(text_width(heading.title, title_font), text_width(heading.note, least_font));
  return std::min(static_cast<int>(2 * FigureFrame::margin + text), page_width);
}

double PlotAxis::share(double value) const {
  return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

std::vector<AxisTic> PlotAxis::marks(std::size_t most) const {
  if (!tics.empty()) return tics;
  std::vector<AxisTic> marks;
  if (logarithmic) marks = decade_tics(low, high);
  return marks.size() >= 2 ? marks : even_tics(low, high, most);
}

PointMark point_mark(std::size_t colour, std::size_t dash) {
  return {static_cast<PointMark::Shape>(colour % 6), dash % 2 == 1};
}

// Corners on a circle, but for the square's.
void paint_mark(Canvas& canvas, int layer, Position at, PointMark mark, double radius, int colour) {
  using Shape = PointMark::Shape;
  if (mark.shape == Shape::disc && !mark.hollow) return canvas.disc(layer, at, radius, colour);
  if (mark.shape == Shape::square && !mark.hollow)
    return canvas.square(layer, at, 0.9 * radius, colour);
  constexpr std::array<int, 6> corners{16, 4, 3, 4, 3, 5};
  constexpr std::array<double, 6> sizes{1, 1.27, 1.25, 1.25, 1.25, 1.1},
      turns{0, 0.5, 0, 0, 0.5, 0}; // the first corner is at the top, or so much of one further
  const auto kind = static_cast<std::size_t>(mark.shape);
  std::vector<Position> outline;
  for (int corner = 0; corner < corners[kind]; ++corner) {
    const double angle = 2 * std::numbers::pi * (corner + turns[kind]) / corners[kind];
    outline.push_back(at + Position{std::sin(angle), -std::cos(angle)} * (radius * sizes[kind]));
  }
  if (!mark.hollow) return canvas.area(layer, outline, colour);
  outline.push_back(outline.front());
  canvas.line(layer, outline, colour, 1.4);
}

std::vector<std::vector<Position>> Plot::shown(std::span<const Position> line) const {
  std::vector<std::vector<Position>> parts;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const Position a = line[i - 1], b = line[i];
    if (std::max(a.y, b.y) < least_.y || std::min(a.y, b.y) > most_.y) continue;
    const auto cut = [&](Position end) {
      const double y = within(end.y);
      return y == end.y ? end : Position{a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y), y};
    };
    const Position from = cut(a);
    if (parts.empty() || parts.back().back() != from) parts.push_back({from});
    parts.back().push_back(cut(b));
  }
  return parts;
}

void Plot::paint_x(bool has_grid, double font, bool is_slanted) const {
  canvas_.line(axis_layer, {least_.x, most_.y}, most_, axis_ink, 0.8);
  const auto room = static_cast<std::size_t>(std::max(most_.x - least_.x, 0.0) / (44 * scale_));
  for (const AxisTic& tic : x_.marks(std::max<std::size_t>(room, 2))) {
    const double x = at_x(tic.at);
    if (x < least_.x - 0.5 || x > most_.x + 0.5) continue;
    if (has_grid) canvas_.line(grid_layer, {x, least_.y}, {x, most_.y}, grid_colour, 0.8);
    canvas_.line(axis_layer, {x, most_.y}, {x, most_.y + tic_length}, axis_ink, 0.8);
    if (is_slanted)
      canvas_.text(text_layer, {x + 3, most_.y + 9}, tic.text, font, tic_ink, Anchor::right, 35);
    else
      canvas_.text(text_layer, {x, most_.y + 6 + 0.8 * font * scale_}, tic.text, font, tic_ink);
  }
}

void Plot::paint_y(bool has_grid, double font) const {
  canvas_.line(axis_layer, least_, {least_.x, most_.y}, axis_ink, 0.8);
  const auto room = static_cast<std::size_t>(std::max(most_.y - least_.y, 0.0) / (36 * scale_));
  for (const AxisTic& tic : y_.marks(std::max<std::size_t>(room, 2))) {
    const double y = at_y(tic.at);
    if (y < least_.y - 0.5 || y > most_.y + 0.5) continue;
    if (has_grid) canvas_.line(grid_layer, {least_.x, y}, {most_.x, y}, grid_colour, 0.8);
    canvas_.line(axis_layer, {least_.x - tic_length, y}, {least_.x, y}, axis_ink, 0.8);
    canvas_.text(text_layer, {least_.x - 8, y}, tic.text, font, tic_ink, Anchor::right);
  }
}

void Plot::name_x(std::string_view text, double away) const {
  canvas_.text(text_layer, {(least_.x + most_.x) / 2, most_.y + away}, text, chart_font, 0);
}

void Plot::name_y(std::string_view text, double x) const {
  canvas_.text(text_layer, {x, (least_.y + most_.y) / 2}, text, chart_font, 0, Anchor::middle, 90);
}

std::vector<Position> stairs(std::span<const Position> points, bool rise_first) {
  std::vector<Position> line;
  for (const Position& point : points) {
    if (!line.empty())
      line.push_back(rise_first ? Position{line.back().x, point.y}
                                : Position{point.x, line.back().y});
    line.push_back(point);
  }
  return line;
}

} // namespace tutti
