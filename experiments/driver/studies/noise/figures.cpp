// Classes of a histogram are the same for all that it compares, from the least time of any to the
// longest.
#include "experiments/driver/studies/noise/figures.hpp"

#include "experiments/driver/figures/bars.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

void require_some(std::span<const NamedNoise> outcomes) {
  if (outcomes.empty()) throw InputError("there are no draws: that needs a skew or a jitter");
}

double longest_draw_ps(std::span<const NamedNoise> outcomes) {
  double longest = 1;
  for (const NamedNoise& each : outcomes)
    longest = std::max(longest, static_cast<double>(each.outcome->time_at(1).ps));
  return longest;
}

/// Classes of equal width.
class Classes {
public:
  explicit Classes(std::span<const NamedNoise> outcomes) : most_(longest_draw_ps(outcomes)) {
    least_ = most_;
    for (const NamedNoise& each : outcomes)
      for (const Draw& draw : each.outcome->draws)
        least_ = std::min(least_, static_cast<double>(draw.time.ps));
    if (least_ == most_) { // a class of one time
      least_ *= 0.99;
      most_ *= 1.01;
    }
  }

  /// Percent of the draws by class, from 0 before the first that has some to 0 behind the last.
  [[nodiscard]] std::vector<PlotPoint> shares(const NoiseOutcome& outcome, double unit_ps) const {
    std::vector<double> counts(count);
    for (const Draw& draw : outcome.draws) {
      const double place = (static_cast<double>(draw.time.ps) - least_) / width();
      ++counts[std::min(static_cast<std::size_t>(place), count - 1)];
    }
    std::size_t first = 0, last = count;
    while (counts[first] == 0) ++first;
    while (counts[last - 1] == 0) --last;
    const auto begin_of = [&](std::size_t c) {
      return (least_ + static_cast<double>(c) * width()) / unit_ps;
    };
    std::vector<PlotPoint> points{{begin_of(first), 0}};
    for (std::size_t c = first; c < last; ++c)
      points.push_back({begin_of(c), 100 * counts[c] / static_cast<double>(outcome.draws.size())});
    points.push_back({begin_of(last), 0});
    return points;
  }

private:
  static constexpr std::size_t count = 40;

  [[nodiscard]] double width() const { return (most_ - least_) / static_cast<double>(count); }

  double least_ = 0, most_ = 0;
};

} // namespace

Figure histogram_figure(const Heading& heading, std::span<const NamedNoise> outcomes) {
  require_some(outcomes);
  const Classes classes(outcomes);
  const TimeUnit unit = time_unit(longest_draw_ps(outcomes));
  CurveChart chart;
  chart.heading = heading;
  chart.axis = CurveAxis::linear;
  chart.x_from_least = true;
  chart.x_label = fmt::format("time [{}]", unit.name);
  chart.y_label = "draws [%]";
  chart.steps = true;
  std::vector<std::string> names;
  for (const NamedNoise& each : outcomes) names.push_back(each.name);
  const std::vector<std::size_t> hues = series_hues(names);
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    chart.curves.push_back(
        {names[i], classes.shares(*outcomes[i].outcome, unit.ps), {}, CurveLook{hues[i], 0}});
  return curve_figure(chart);
}

Figure robustness_figure(const Heading& heading, std::span<const NamedNoise> outcomes) {
  require_some(outcomes);
  const TimeUnit unit = time_unit(longest_draw_ps(outcomes));
  BarChart chart{heading,
                 fmt::format("time [{}]", unit.name),
                 {"without noise", "half of all draws", "90 %", "99 %", "all"},
                 {}};
  for (const NamedNoise& each : outcomes) {
    BarGroup group{each.name, {static_cast<double>(each.outcome->quiet.ps) / unit.ps}};
    for (const double share : {0.5, 0.9, 0.99, 1.0})
      group.values.push_back(static_cast<double>(each.outcome->time_at(share).ps) / unit.ps);
    chart.groups.push_back(std::move(group));
  }
  return bar_figure(chart);
}

} // namespace tutti
