// A picture of lines, areas, discs and texts at places in points, x to the right and y downwards:
// what networks are drawn on. It becomes one plot of gnuplot.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/figures/layout/layout.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

enum class Anchor : std::uint8_t { left, middle, right };

class Canvas {
public:
  /// What a later layer shows is above what an earlier one does; within a layer the order is open.
  /// Colours are 0xrrggbb; widths, radii and fonts are points.
  void line(int layer, std::span<const Position> points, int colour, double width,
            bool is_dotted = false);
  void area(int layer, std::span<const Position> corners, int colour);
  void disc(int layer, Position middle, double radius, int colour, int edge);
  void square(int layer, Position middle, double half, int colour, int edge);
  /// Any text: it is shown as it is. `at`: the middle of its height.
  void text(int layer, Position at, std::string_view text, double font, int colour,
            Anchor anchor = Anchor::middle);

  [[nodiscard]] Figure figure(double width, double height) const;

private:
  std::map<std::pair<int, std::string>, std::string> data_; ///< by layer and gnuplot's style
};

} // namespace tutti
