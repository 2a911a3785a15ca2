// Sizes of pages, texts and numbers that all figures share.
#pragma once

#include <cstddef>
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

/// The text around a figure.
struct Heading {
  std::string title;     ///< at the upper left
  std::string note;      ///< small, at the lower left: under which model this was measured
  int page = page_width; ///< points that the figure may be wide before its letters grow

  Heading() = default;
  Heading(std::string title_text, std::string note_text = {}) // NOLINT: a title alone is a heading
      : title(std::move(title_text)), note(std::move(note_text)) {}
  Heading(const char* title_text) : Heading(std::string(title_text)) {} // NOLINT: as above
};

/// On one line, and nothing that isn't to be seen: as every figure shows its texts.
[[nodiscard]] std::string one_line(std::string_view text);

/// How many points a text takes in a font of so many; an estimate that is seldom too small.
[[nodiscard]] double text_width(std::string_view text, double font);

/// How wide a figure is that needs so much besides its texts, and for these so much at their own
/// size: one that is wider than a page has larger letters, as it is made smaller in print.
[[nodiscard]] int figure_width(double besides, double texts, int page = page_width);
/// What a figure of this width has to enlarge its letters by.
[[nodiscard]] double text_scale(int width, int page = page_width);

/// What a line may end behind: the words of a text, a number with its unit as one ("12.4 ms").
[[nodiscard]] std::vector<std::string> unbroken_words(std::string_view text);

/// A mark on an axis.
struct AxisTic {
  double at = 0;
  std::string text;
};
/// Marks of a logarithmic axis between these ends: powers of ten, and 2 and 5 times them where
/// there would be fewer than three. Pre: 0 < low < high.
[[nodiscard]] std::vector<AxisTic> decade_tics(double low, double high);

/// At most so many marks of a linear axis, at multiples of 1, 2 or 5 times a power of ten.
/// Pre: low < high.
[[nodiscard]] std::vector<AxisTic> even_tics(double low, double high, std::size_t most);

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
