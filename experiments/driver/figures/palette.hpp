// The colours of all figures: few enough that everybody tells them apart, whatever their eyes; what
// has more members goes on with dashes, marks, and lighter and darker tints.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Colours that colour-blind eyes tell apart, too, and from white paper
/// (tests/experiments/figures/palette_test.cpp).
inline constexpr std::size_t palette_size = 8;

/// The colour of the i-th algorithm, "#265fa3"; beyond palette_size again from the first.
[[nodiscard]] std::string_view series_colour(std::size_t i);

/// The colour of each of these curves or bars: the algorithms that are compared most have the same
/// in all figures ("ring", "ring, 4 chunks" and "ring (2.00x)" are of one), the others what is
/// left, in their order.
[[nodiscard]] std::vector<std::size_t> series_hues(std::span<const std::string> names);

/// For maps, whose cells have no dashes: twenty-four tints that differ, then again from the first.
[[nodiscard]] std::string choice_colour(std::size_t i);
/// "#ffffff" or "#111111": what is legible on it. Pre: "#rrggbb".
[[nodiscard]] std::string text_colour_on(const std::string& colour);

/// gnuplot's "dashtype ..." of the i-th kind of lines: solid, then four patterns, then again.
[[nodiscard]] std::string_view dash_pattern(std::size_t i);
/// gnuplot's number of a mark: of each colour one, filled, and hollow on every second kind of
/// lines.
[[nodiscard]] int point_mark(std::size_t colour, std::size_t dash);

/// From nothing to the most, as gnuplot's "set palette": it darkens all the way, so that it can be
/// read without any colours.
[[nodiscard]] std::string_view heat_palette();

} // namespace tutti
