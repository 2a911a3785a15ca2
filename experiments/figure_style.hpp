// The look that all figures share (heatmap.hpp, bars.hpp), as pieces of a gnuplot script.
#pragma once

#include "experiments/gnuplot.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// The text as a gnuplot string constant: 'it''s'. Line breaks become blanks.
[[nodiscard]] std::string quoted(std::string_view text);

/// The look that all figures share: colours of borders and text, thin tics, and the figure's title
/// at the upper left. What every script begins with.
[[nodiscard]] std::string figure_style(const std::string& title);

/// Points of width that the title needs.
[[nodiscard]] int title_width(const std::string& title);

/// A chart around `body` (axes, data and plot commands): a plot of the given width in points with
/// horizontal grid lines, and to its right a legend with room for these entries.
[[nodiscard]] Figure framed_chart(const std::string& title, int plot_width,
                                  std::span<const std::string> legend, const std::string& body);

/// The colour of the i-th algorithm, "#4e79a7": ten that tell apart, then again from the first.
[[nodiscard]] std::string_view series_colour(std::size_t i);

/// Three significant digits without an exponent: "1595", "50.8", "9.10".
[[nodiscard]] std::string three_digits(double value);

} // namespace tutti
