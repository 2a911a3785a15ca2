// The one scale of colours for amounts: light and yellowish for little, dark and bluish for much,
// so that it reads in grey and to eyes of all kinds; and the colours of what isn't an amount.
#pragma once

#include <cstddef>

namespace tutti {

/// 0xrrggbb of a share from 0 to 1: the darker the more, evenly to the eye.
[[nodiscard]] int amount_colour(double share);

inline constexpr int idle_colour = 0xd3d6da; ///< nothing at all: no colour of the scale
inline constexpr int dead_colour = 0x111111;

/// 0xrrggbb of the i-th of seven kinds that can be distinguished (Okabe and Ito 2008), then again.
[[nodiscard]] int kind_colour(std::size_t i);

/// The share of the light that the colour sends back, 0 to 1 (WCAG 2's relative luminance).
[[nodiscard]] double luminance(int colour);

} // namespace tutti
