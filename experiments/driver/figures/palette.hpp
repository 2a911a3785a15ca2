// The colours of all figures: few enough that everybody tells them apart, whatever their eyes; what
// has more members goes on with dashes, marks, and lighter and darker tints. And the one scale for
// amounts: light and yellowish for little, dark and bluish for much, so that it reads in grey and
// to eyes of all kinds. All colours are 0xrrggbb.
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

/// The colour of the i-th algorithm; beyond palette_size again from the first.
[[nodiscard]] int series_colour(std::size_t i);

/// The colour of each of these curves or bars: the algorithms that are compared most have the same
/// in all figures ("ring", "ring, 4 chunks" and "ring (2.00x)" are of one), the others what is
/// left, in their order.
[[nodiscard]] std::vector<std::size_t> series_hues(std::span<const std::string> names);

/// For maps, whose cells have no dashes: twenty-four tints that differ, then again from the first.
[[nodiscard]] int choice_colour(std::size_t i);
/// White or nearly black: what is legible on it.
[[nodiscard]] int text_colour_on(int colour);
/// So much of the way to white, 0 to 1.
[[nodiscard]] int paler(int colour, double share);

/// Dashes (as SVG has them) of the i-th kind of lines: solid, then four patterns, then again.
[[nodiscard]] std::string_view dash_pattern(std::size_t i);

/// The colour of a share from 0 to 1 of the most: the darker the more, evenly to the eye.
[[nodiscard]] int amount_colour(double share);

inline constexpr int idle_colour = 0xd3d6da; ///< nothing at all: no colour of the scale

/// The colour of the i-th of seven kinds that can be told apart (Okabe and Ito 2008), then again.
[[nodiscard]] int kind_colour(std::size_t i);

} // namespace tutti
