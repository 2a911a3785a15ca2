// A numeric axis of a figure: its unit, its scale, its range.
#pragma once

#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/sweep/analysis/cells.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

enum class AxisScale : std::uint8_t {
  automatic, ///< logarithmic where all are positive and spread over more than a factor of 30
  tight,     ///< the same, but where it is linear it needn't begin at 0
  linear,
  logarithmic, ///< where all are positive, else linear
};

class FigureAxis {
public:
  /// Pre: at least one value, all finite.
  FigureAxis(std::string name, Unit unit, std::span<const double> values, AxisScale scale);

  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  /// With the unit, unless the marks have it.
  [[nodiscard]] std::string label() const;
  /// In the axis's unit, with marks such as "10 us" where it is logarithmic.
  [[nodiscard]] PlotAxis axis() const {
    return {scaled(low_), scaled(high_), logarithmic_, tics()};
  }
  /// The same with at most about so many marks without a unit, for small pictures.
  [[nodiscard]] PlotAxis small_axis(std::size_t most) const;
  [[nodiscard]] double scaled(double value) const { return value / unit_.divisor; }
  /// Its name with its unit, whatever the marks say.
  [[nodiscard]] std::string label_with_unit() const { return unit_.label(name_); }
  /// Which of `cells` equal parts of the axis the value lies in.
  [[nodiscard]] int cell(double value, int cells) const;

private:
  [[nodiscard]] std::vector<AxisTic> tics() const;

  std::string name_;
  Unit quantity_ = Unit::none;
  AxisUnit unit_;
  bool logarithmic_ = false;
  double low_ = 0, high_ = 1; ///< ends, unscaled
};

} // namespace tutti::sweep
