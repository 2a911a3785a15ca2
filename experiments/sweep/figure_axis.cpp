#include "experiments/sweep/figure_axis.hpp"

#include "experiments/figure_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti::sweep {

FigureAxis::FigureAxis(std::string name, Unit unit, std::span<const double> values, AxisScale scale)
    : name_(std::move(name)) {
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  logarithmic_ = *least > 0 && scale != AxisScale::linear &&
                 (scale == AxisScale::logarithmic || *largest > 30 * *least);
  unit_ = axis_unit(unit, *least, *largest, logarithmic_);
  if (logarithmic_) {
    const double room = std::max(std::pow(*largest / *least, 0.06), 1.15);
    low_ = *least / room;
    high_ = *largest * room;
  } else {
    low_ = std::min(*least < 0 ? 1.06 * *least : 0.0, 0.0);
    high_ = *largest > 0 ? 1.06 * *largest : 0;
    if (low_ == high_) high_ = 1;
  }
}

int FigureAxis::cell(double value, int cells) const {
  const double share = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                                    : (value - low_) / (high_ - low_);
  return std::clamp(static_cast<int>(std::floor(share * cells)), 0, cells - 1);
}

std::string FigureAxis::commands(char axis) const {
  return fmt::format("{0}set {1}range [{2:.6g}:{3:.6g}]\nset {1}label {4}{5}\n",
                     logarithmic_ ? fmt::format("set logscale {}\n", axis) : "", axis, scaled(low_),
                     scaled(high_), quoted(label()), axis == 'y' ? " offset 0.5, 0" : "");
}

} // namespace tutti::sweep
