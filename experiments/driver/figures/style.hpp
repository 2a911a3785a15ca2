// The look that all figures share (heatmap.hpp, bars.hpp, curves.hpp, ...), as parts of a gnuplot
// script.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/figures/palette.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// Points of a figure that fills a page's width of 7 inches: its 10 points are 7 in print. One for
/// a column of 3.3 inches has 340.
inline constexpr int page_width = 720;
/// What is smaller can't be read in print.
inline constexpr int least_font = 10;

/// A text gets into a script only by gnuplot_quoted(), data_text() and tics_text(), each of which
/// shows it as it is.
/// A gnuplot string of a command: 'a b' or "it's", line breaks as blanks.
[[nodiscard]] std::string gnuplot_quoted(std::string_view text);
/// One among data: "say \"a\"", in quotes, within which gnuplot reads backslashes as C does.
/// Control characters are written out (printable.hpp).
[[nodiscard]] std::string data_text(std::string_view text);

/// The text around a figure.
struct Heading {
  std::string title; ///< at the upper left
  std::string note;  ///< small, at the lower left: under which model this was measured

  Heading() = default;
  Heading(std::string title_text, std::string note_text = {}) // NOLINT: a title alone is a heading
      : title(std::move(title_text)), note(std::move(note_text)) {}
  Heading(const char* title_text) : Heading(std::string(title_text)) {} // NOLINT: as above
};

/// The look that all figures share: colours of borders and text, thin tics, and the heading, broken
/// into lines where the figure has a width. What every script begins with. Labels 1 and 5 are the
/// heading's.
[[nodiscard]] std::string figure_style(const Heading& heading, int width = 0);

/// Points of width that the heading needs on one line.
[[nodiscard]] int heading_width(const Heading& heading);

/// How many points a text takes in a font of so many; an estimate that is seldom too small.
[[nodiscard]] double text_width(std::string_view text, double font);

/// How wide a figure is that needs so much besides its texts, and for these so much at their own
/// size: one that is wider than a page has larger letters, as it is made smaller in print.
[[nodiscard]] int figure_width(double besides, double texts);
/// What a figure of this width has to enlarge its letters by.
[[nodiscard]] double text_scale(int width);

/// What a line may end behind: the words of a text, a number with its unit as one ("12.4 ms").
[[nodiscard]] std::vector<std::string> unbroken_words(std::string_view text);

/// A text in lines of at most so many points; one word may be longer.
[[nodiscard]] std::vector<std::string> text_lines(std::string_view text, double width, double font);

/// Where the parts of a chart lie, in points from its upper left corner.
struct ChartFrame {
  int width = page_width, height = 400;
  double left = 76, right = 560; ///< the plot's edges
  double top = 50, bottom = 320;

  /// Room for the heading above the plot and below its axis.
  ChartFrame(const Heading& heading, int width_of_figure, double left_of_plot, double right_of_plot,
             double plot_height, double above = 0, double below = 0);
  /// "screen 0.1, screen 0.9"
  [[nodiscard]] std::string screen(double x, double y) const;
  /// Margins around the plot.
  [[nodiscard]] std::string margins() const;
};

/// A chart around `body` (axes, data and plot commands): a plot at least so many points wide with
/// horizontal grid lines, `left` points beside it for the y axis, and to its right a legend with
/// room for these entries.
[[nodiscard]] Figure framed_chart(const Heading& heading, int plot_width,
                                  std::span<const std::string> legend, const std::string& body,
                                  int left = 76, int plot_height = 270);

/// A mark on an axis.
struct AxisTic {
  double at = 0;
  std::string text;
};
/// "'1 us' 1, '5 %% failed' 10": for gnuplot's `set xtics (...)`, to which the texts are formats.
[[nodiscard]] std::string tics_text(std::span<const AxisTic> tics);
/// Marks of a logarithmic axis between these ends: powers of ten, and 2 and 5 times them where
/// there would be fewer than three. Pre: 0 < low < high.
[[nodiscard]] std::vector<AxisTic> decade_tics(double low, double high);

/// The unit in which times up to the largest are drawn.
struct TimeUnit {
  double ps = 1; ///< per unit
  std::string_view name;
};
/// s from 10 s on; ms, us from a tenth of one; else ns.
[[nodiscard]] TimeUnit time_unit(double largest_ps);

/// Three significant digits without an exponent: "1595", "50.8", "9.10".
[[nodiscard]] std::string three_digits(double value);

} // namespace tutti
