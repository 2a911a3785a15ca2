// Colours for more choices than series_colour() tells apart: lighter and darker ones follow.
#pragma once

#include <cstddef>
#include <string>

namespace tutti {

/// "#4e79a7"; thirty that differ, then again from the first.
[[nodiscard]] std::string choice_colour(std::size_t i);
/// "#ffffff" or "#111111": what is legible on it. Pre: "#rrggbb".
[[nodiscard]] std::string text_colour_on(const std::string& colour);

} // namespace tutti
