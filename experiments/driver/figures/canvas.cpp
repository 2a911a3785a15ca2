// What looks alike is gathered: a layer and a style make an element or a group, which keeps files
// small. Lines of one style are one path, whose points are steps from one to the next in hundredths
// of a point, which nobody sees. librsvg ignores `dominant-baseline`: texts stand by their
// baselines, 0.36 of their size below the middle of their capitals.
#include "experiments/driver/figures/canvas.hpp"

#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/records/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace tutti {

namespace {

long hundredths(double value) { return std::lround(value * 100); }

/// "12.5" of 1250, "-.5" of -50.
std::string number_text(long value) {
  const long size = std::labs(value);
  std::string text = value < 0 ? "-" : "";
  if (size >= 100 || size == 0) text += fmt::format("{}", size / 100);
  if (size % 100 != 0)
    text +=
        size % 10 == 0 ? fmt::format(".{}", size % 100 / 10) : fmt::format(".{:02}", size % 100);
  return text;
}

std::string number_text(double value) { return number_text(hundredths(value)); }

/// A number behind others, with a blank where it needs one.
void add_number(std::string& path, long value) {
  const std::string text = number_text(value);
  const char last = path.empty() ? ' ' : path.back();
  if (text.front() != '-' && ((last >= '0' && last <= '9') || last == '.')) path += ' ';
  path += text;
}

/// "M1 2l3 4h5": steps of a kind follow each other without its letter.
std::string path_text(std::span<const Position> points) {
  std::string path;
  long x = 0, y = 0;
  char kind = 'M';
  for (const Position& point : points) {
    const long to_x = hundredths(point.x), to_y = hundredths(point.y);
    if (path.empty()) {
      path += 'M';
      add_number(path, to_x);
      add_number(path, to_y);
    } else if (to_x != x || to_y != y || points.size() == 2) {
      const char next = to_y == y ? 'h' : to_x == x ? 'v' : 'l';
      if (next != kind) path += next;
      kind = next;
      if (next != 'v') add_number(path, to_x - x);
      if (next != 'h') add_number(path, to_y - y);
    }
    x = to_x;
    y = to_y;
  }
  return path;
}

/// "#abc" of 0xaabbcc.
std::string colour_text(int colour) {
  const std::string text = fmt::format("{:06x}", colour);
  const bool is_short = text[0] == text[1] && text[2] == text[3] && text[4] == text[5];
  return is_short ? fmt::format("#{}{}{}", text[0], text[2], text[4]) : "#" + text;
}

double signed_area(std::span<const Position> corners) {
  double area = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Position a = corners[i], b = corners[(i + 1) % corners.size()];
    area += a.x * b.y - b.x * a.y;
  }
  return area;
}

std::string fill_style(int colour, int edge) {
  return fmt::format(
      "path fill=\"{}\"{}", colour_text(colour),
      edge == no_edge ? "" : fmt::format(" stroke=\"{}\" stroke-width=\".8\"", colour_text(edge)));
}

} // namespace

std::string& Canvas::elements(int layer, std::string style) {
  return elements_[{layer, std::move(style)}];
}

void Canvas::line(int layer, std::span<const Position> points, int colour, double width,
                  std::string_view dash) {
  elements(layer, fmt::format("path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}",
                              colour_text(colour), number_text(width),
                              dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash))) +=
      path_text(points);
}

void Canvas::line(int layer, Position from, Position to, int colour, double width,
                  std::string_view dash) {
  line(layer, std::array{from, to}, colour, width, dash);
}

// Areas of one path that overlap add up to nothing where they run around in opposite directions.
void Canvas::area(int layer, std::span<const Position> corners, int colour, double opacity) {
  std::vector<Position> around(corners.begin(), corners.end());
  if (signed_area(corners) < 0) std::ranges::reverse(around);
  elements(
      layer,
      fmt::format("path fill=\"{}\"{}", colour_text(colour),
                  opacity == 1 ? "" : fmt::format(" fill-opacity=\"{}\"", number_text(opacity)))) +=
      path_text(around) + "z";
}

void Canvas::rectangle(int layer, Position least, Position most, int colour, int edge) {
  elements(layer, fill_style(colour, edge)) +=
      path_text(std::array{least, Position{most.x, least.y}, most, Position{least.x, most.y}}) +
      "z";
}

// A line of no length with round ends is a disc in few letters.
void Canvas::disc(int layer, Position middle, double radius, int colour, int edge) {
  if (edge == no_edge) {
    elements(layer, fmt::format("path stroke-linecap=\"round\" stroke=\"{}\" stroke-width=\"{}\"",
                                colour_text(colour), number_text(2 * radius))) +=
        path_text(std::array{middle, middle});
    return;
  }
  std::string style = fill_style(colour, edge);
  style.replace(0, 4, "g");
  elements(layer, std::move(style)) +=
      fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", number_text(middle.x),
                  number_text(middle.y), number_text(radius));
}

void Canvas::text(int layer, Position at, std::string_view text, double font, int colour,
                  Anchor anchor, int degrees) {
  if (text.empty()) return;
  constexpr std::string_view anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  const double size = font * text_scale_, down = 0.36 * size;
  const std::string place =
      degrees == 0 ? fmt::format("x=\"{}\" y=\"{}\"", number_text(at.x), number_text(at.y + down))
                   : fmt::format("y=\"{}\" transform=\"translate({} {})rotate({})\"",
                                 number_text(down), number_text(at.x), number_text(at.y), -degrees);
  elements(layer, fmt::format("g fill=\"{}\" font-size=\"{}\"{}", colour_text(colour),
                              number_text(size), anchors[static_cast<std::size_t>(anchor)])) +=
      fmt::format("<text {}>{}</text>\n", place, escaped(one_line(text)));
}

Figure Canvas::figure(double width, double height) const {
  std::string drawing;
  for (const auto& [key, content] : elements_)
    drawing += key.second.starts_with("path") ? fmt::format("<{} d=\"{}\"/>\n", key.second, content)
                                              : fmt::format("<{}>\n{}</g>\n", key.second, content);
  return {std::move(drawing), static_cast<int>(std::ceil(width)),
          static_cast<int>(std::ceil(height))};
}

} // namespace tutti
