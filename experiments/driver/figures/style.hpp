// The look that all figures share (heatmap.hpp, bars.hpp, curves.hpp, ...), as parts of a gnuplot
// script.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

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

/// The look that all figures share: colours of borders and text, thin tics, and the heading. What
/// every script begins with. Labels 1 and 5 are the heading's.
[[nodiscard]] std::string figure_style(const Heading& heading);

/// Points of width that the heading needs.
[[nodiscard]] int heading_width(const Heading& heading);

/// A chart around `body` (axes, data and plot commands): a plot of the given width in points with
/// horizontal grid lines, `left` points beside it for the y axis, and to its right a legend with
/// room for these entries.
[[nodiscard]] Figure framed_chart(const Heading& heading, int plot_width,
                                  std::span<const std::string> legend, const std::string& body,
                                  int left = 76);

/// A mark on an axis.
struct AxisTic {
  double at = 0;
  std::string text;
};
/// "'1 us' 1, '5 %% failed' 10": for gnuplot's `set xtics (...)`, to which the texts are formats.
[[nodiscard]] std::string tics_text(std::span<const AxisTic> tics);

/// The colour of the i-th algorithm, "#4e79a7": ten that tell apart, then again from the first.
[[nodiscard]] std::string_view series_colour(std::size_t i);

/// Three significant digits without an exponent: "1595", "50.8", "9.10".
[[nodiscard]] std::string three_digits(double value);

} // namespace tutti
