// A numeric axis of a figure: its unit, its scale, its range.
#pragma once

#include "experiments/driver/figures/style.hpp"
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
  /// With the unit, unless the tics have it.
  [[nodiscard]] std::string label() const;
  /// Marks of a logarithmic axis, in its unit, with texts such as "10 us"; none: gnuplot's will do.
  [[nodiscard]] std::vector<AxisTic> tics() const;
  /// In the axis's unit.
  [[nodiscard]] double scaled(double value) const { return value / unit_.divisor; }
  /// At most so many marks, whatever the scale, for small pictures.
  [[nodiscard]] std::vector<AxisTic> few_tics(std::size_t most) const;
  /// Its name with its unit, whatever the marks say.
  [[nodiscard]] std::string label_with_unit() const { return unit_.label(name_); }
  /// 0 at its low end, 1 at its high one.
  [[nodiscard]] double share(double value) const;
  /// Which of `cells` equal parts of the axis the value lies in.
  [[nodiscard]] int cell(double value, int cells) const;
  /// Scale, range and label of gnuplot's axis 'x' or 'y'.
  [[nodiscard]] std::string commands(char axis) const;
  /// Scale and range alone.
  [[nodiscard]] std::string range_commands(char axis) const;

private:
  std::string name_;
  Unit quantity_ = Unit::none;
  AxisUnit unit_;
  bool logarithmic_ = false;
  double low_ = 0, high_ = 1; ///< ends, unscaled
};

} // namespace tutti::sweep
