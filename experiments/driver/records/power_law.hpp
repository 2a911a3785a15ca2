// How a quantity grows: the straight line through points on double logarithmic paper.
#pragma once

#include <optional>
#include <span>

namespace tutti {

struct PlotPoint {
  double x = 0, y = 0;
};

/// y = factor * x^exponent
struct PowerLaw {
  double exponent = 0, factor = 0;
};

/// The least-squares line through (log x, log y), so that relative errors count, whatever the
/// magnitude. None for fewer than two distinct x, or a value that isn't positive.
[[nodiscard]] std::optional<PowerLaw> fitted_power_law(std::span<const PlotPoint> points);

} // namespace tutti
