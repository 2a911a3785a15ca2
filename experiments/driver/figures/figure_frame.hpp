// Title and note around a picture that is painted on a canvas.
#pragma once

#include "experiments/driver/figures/canvas.hpp"
#include "experiments/driver/figures/style.hpp"

#include <string>
#include <vector>

namespace tutti {

/// A title at the top and a note at the bottom, each on as many lines as the width demands, and
/// between them room for a picture. From layer 100 on.
class FigureFrame {
public:
  static constexpr double margin = 16; ///< points at the sides
  static constexpr int layer = 100, pale_ink = 0x5b6470;

  struct Fonts {
    double title = 13, note = 8.5;
    double scale = 1; ///< the canvas's
  };
  FigureFrame(const Heading& heading, double width, const Fonts& fonts);
  FigureFrame(const Heading& heading, double width) : FigureFrame(heading, width, Fonts()) {}
  /// Points that the picture of a layout should be wide: a paper's column at least, and more for a
  /// long title.
  [[nodiscard]] static double width_for(const Heading& heading, double layout_width);
  [[nodiscard]] double top() const;                        ///< where the picture begins
  [[nodiscard]] double height(double picture) const;       ///< of the whole figure
  void paint(Canvas& canvas, double picture_height) const; ///< picture: with its legend
private:
  [[nodiscard]] double line_height(double font) const;

  std::vector<std::string> title_, note_; ///< lines
  Fonts fonts_;
};

} // namespace tutti
