// A picture of lines, areas, discs, squares and texts at places in points, x to the right and y
// downwards: what every figure is drawn on. It becomes SVG.
#pragma once

#include "experiments/driver/figures/layout/layout.hpp"
#include "experiments/driver/figures/picture.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

enum class Anchor : std::uint8_t { left, middle, right };

inline constexpr std::string_view solid = "", dotted = "1.5 3"; ///< dashes, as SVG has them
inline constexpr int no_edge = -1;

class Canvas {
public:
  /// All texts are so much larger than what is asked for.
  explicit Canvas(double text_scale = 1) : text_scale_(text_scale) {}

  /// What a later layer shows is above what an earlier one does; within a layer the order is open.
  /// Colours are 0xrrggbb; widths, radii and fonts are points.
  void line(int layer, std::span<const Position> points, int colour, double width,
            std::string_view dash = solid);
  void line(int layer, Position from, Position to, int colour, double width,
            std::string_view dash = solid);
  void area(int layer, std::span<const Position> corners, int colour, double opacity = 1);
  void rectangle(int layer, Position least, Position most, int colour, int edge = no_edge);
  void disc(int layer, Position middle, double radius, int colour, int edge = no_edge);
  void square(int layer, Position middle, double half, int colour, int edge = no_edge) {
    rectangle(layer, middle - Position{half, half}, middle + Position{half, half}, colour, edge);
  }
  /// Any text: it is shown as it is, on one line. `at`: the middle of its height. `degrees`: turned
  /// to the left around that.
  void text(int layer, Position at, std::string_view text, double font, int colour,
            Anchor anchor = Anchor::middle, int degrees = 0);

  [[nodiscard]] Figure figure(double width, double height) const;

private:
  std::string& elements(int layer, std::string style);

  double text_scale_;
  std::map<std::pair<int, std::string>, std::string> elements_; ///< by layer and style
};

} // namespace tutti
