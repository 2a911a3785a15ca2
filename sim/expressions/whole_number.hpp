// Which numbers are whole, and exactly so.
#pragma once

#include <cmath>

namespace tutti {

/// Up to here every whole number is exact.
inline constexpr double most_whole = 9e15;

[[nodiscard]] inline bool is_whole(double number) {
  return std::abs(number) < most_whole && number == std::floor(number);
}

} // namespace tutti
