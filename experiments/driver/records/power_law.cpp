// Ordinary least squares in logarithms, in two passes.
#include "experiments/driver/records/power_law.hpp"

#include <cmath>

namespace tutti {

std::optional<PowerLaw> fitted_power_law(std::span<const PlotPoint> points) {
  if (points.empty()) return {};
  double mean_x = 0, mean_y = 0;
  for (const PlotPoint& p : points) {
    if (!(p.x > 0 && p.y > 0)) return {};
    mean_x += std::log(p.x) / static_cast<double>(points.size());
    mean_y += std::log(p.y) / static_cast<double>(points.size());
  }
  double xx = 0, xy = 0; // about the means: logs of large numbers differ in their last digits only
  for (const PlotPoint& p : points) {
    const double x = std::log(p.x) - mean_x;
    xx += x * x;
    xy += x * (std::log(p.y) - mean_y);
  }
  if (xx < 1e-12) return {};
  const double exponent = xy / xx;
  return PowerLaw{exponent, std::exp(mean_y - exponent * mean_x)};
}

} // namespace tutti
