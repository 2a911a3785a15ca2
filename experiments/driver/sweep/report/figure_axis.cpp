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

double FigureAxis::share(double value) const {
  return logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                      : (value - low_) / (high_ - low_);
}

int FigureAxis::cell(double value, int cells) const {
  return std::clamp(static_cast<int>(std::floor(share(value) * cells)), 0, cells - 1);
}

std::vector<AxisTic> FigureAxis::few_tics(std::size_t most) const {
  const double low = scaled(low_), high = scaled(high_);
  std::vector<AxisTic> marks;
  if (logarithmic_) {
    marks = decade_tics(low, high);
    const std::size_t step = (marks.size() + most - 1) / most;
    for (std::size_t i = 0; step > 1 && i * step < marks.size(); ++i) marks[i] = marks[i * step];
    if (step > 1) marks.resize((marks.size() + step - 1) / step);
    return marks;
  }
  // The least of 1, 2, 5 times a power of ten that is coarse enough.
  const double finest = (high - low) / static_cast<double>(most);
  const double decade = std::pow(10.0, std::floor(std::log10(finest)));
  double step = 10 * decade;
  for (const double digit : {5.0, 2.0, 1.0})
    if (digit * decade >= finest) step = digit * decade;
  const bool millions = high >= 1e6; // not "1.5e+06"
  for (double i = std::ceil(low / step); i * step <= high && marks.size() < most + 1; ++i)
    marks.push_back({i * step, millions ? fmt::format("{:.6g} M", i * step / 1e6 + 0.0)
                                        : fmt::format("{:.6g}", i * step + 0.0)});
  return marks;
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
  return tics;
}

std::string FigureAxis::label() const { return tics().empty() ? unit_.label(name_) : name_; }

std::string FigureAxis::range_commands(char axis) const {
  return fmt::format("{} logscale {}\nset {}range [{:.6g}:{:.6g}]\n",
                     logarithmic_ ? "set" : "unset", axis, axis, scaled(low_), scaled(high_));
}

std::string FigureAxis::commands(char axis) const {
  const std::vector<AxisTic> marks = tics();
  const std::string tics_command =
      marks.empty() ? "" : fmt::format("set {}tics ({})\n", axis, tics_text(marks));
  return range_commands(axis) + fmt::format("set {}label {}{}\n{}", axis, gnuplot_quoted(label()),
                                            axis == 'y' ? " offset 0.5, 0" : "", tics_command);
}

} // namespace tutti::sweep
