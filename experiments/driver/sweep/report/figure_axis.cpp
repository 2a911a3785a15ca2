// A sweep's values may spread over one factor or over nine decades, and nobody looks at the axis
// before it is drawn: scale, range, unit and marks follow from the values alone.
#include "experiments/driver/sweep/report/figure_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti::sweep {

FigureAxis::FigureAxis(std::string name, Unit unit, std::span<const double> values, AxisScale scale)
    : name_(std::move(name)), quantity_(unit) {
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  logarithmic_ = *least > 0 && scale != AxisScale::linear &&
                 (scale == AxisScale::logarithmic || *largest > 30 * *least);
  unit_ = axis_unit(unit, *least, *largest, logarithmic_);
  if (logarithmic_) {
    // 6 % of the axis's length on each side, and at least a factor of 1.15.
    const double room = std::max(std::pow(*largest / *least, 0.06), 1.15);
    low_ = *least / room;
    high_ = *largest * room;
  } else {
    const double room = 0.08 * (*largest - *least);
    const bool tight = scale == AxisScale::tight && *least > 0.3 * *largest && room > 0;
    low_ = tight ? *least - room : std::min(1.06 * *least, 0.0);
    high_ = *largest > 0 ? 1.06 * *largest : 0;
    if (low_ == high_) high_ = 1;
  }
}

int FigureAxis::cell(double value, int cells) const {
  const double share = PlotAxis{low_, high_, logarithmic_}.share(value);
  return std::clamp(static_cast<int>(std::floor(share * cells)), 0, cells - 1);
}

PlotAxis FigureAxis::small_axis(std::size_t most) const {
  PlotAxis small{scaled(low_), scaled(high_), logarithmic_};
  const std::vector<AxisTic> all = small.marks(most);
  const std::size_t step = (all.size() + most) / (most + 1);
  for (std::size_t i = 0; i < all.size(); i += step) small.tics.push_back(all[i]);
  return small;
}

std::vector<AxisTic> FigureAxis::tics() const {
  if (!logarithmic_) return {};
  const double decades = std::log10(high_ / low_);
  // Powers of two would be odd at powers of ten.
  if (quantity_ == Unit::bytes && decades >= 1.5) return {};
  // Up to eight decades each is labelled, then every second or third; below one and a half decades
  // 2 and 5 are labelled as well.
  const int step = decades > 16 ? 3 : decades > 8 ? 2 : 1;
  std::vector<AxisTic> tics;
  const double unit = quantity_ == Unit::bytes ? unit_.divisor : 1;
  const int first = static_cast<int>(std::floor(std::log10(low_ / unit)));
  const int last = static_cast<int>(std::ceil(std::log10(high_ / unit)));
  for (int e = first; e <= last; e += step)
    for (const int digit : {1, 2, 5}) {
      const double value = unit * digit * std::pow(10.0, e);
      const bool wanted = digit == 1 || decades < 1.5;
      if (wanted && value >= low_ && value <= high_)
        tics.push_back({scaled(value), display_text(value, quantity_)});
    }
  if (tics.size() < 2) tics.clear(); // round numbers then
  return tics;
}

std::string FigureAxis::label() const { return tics().empty() ? unit_.label(name_) : name_; }

} // namespace tutti::sweep
