#include "experiments/driver/sweep/report/sensitivity_figure.hpp"

#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/sweep/report/cells.hpp"
#include "experiments/driver/sweep/report/figure_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tutti::sweep {

namespace {

// Sizes in points.
constexpr double row_height = 46, plot_width = 420, top = 78, below = 92, right = 190;

std::string values_line(const ParameterSensitivity& each) {
  return each.levels < 2 ? "one value"
                         : fmt::format("best {}, worst {}", each.best.text, each.worst.text);
}

double left_width(const std::vector<ParameterSensitivity>& parameters) {
  std::size_t names = 0, values = 0;
  for (const ParameterSensitivity& each : parameters) {
    names = std::max(names, display_width(each.name));
    values = std::max(values, display_width(values_line(each)));
  }
  return 40 + std::max(8.0 * static_cast<double>(names), 6.0 * static_cast<double>(values));
}

std::string share_text(const ParameterSensitivity& each) {
  return each.share ? fmt::format("{:.1f} %", 100 * *each.share) : "-";
}

std::string equal_text(const ParameterSensitivity& each, const Sensitivity& all, Unit unit) {
  return each.equal_others.groups == 0 ? "-"
                                       : effect_text(each.equal_others.median, all.ratios, unit);
}

// The texts left and right of each bar, under titles.
std::string row_labels(const std::vector<ParameterSensitivity>& parameters, const Sensitivity& all,
                       const ObjectiveValues& objective) {
  std::string text;
  int tag = 10; // below: the heading's
  const auto add = [&](const std::string& words, double x, const std::string& y,
                       std::string_view style) {
    text += fmt::format("set label {} {} at graph {:.6f}, {} {}\n", tag++, gnuplot_quoted(words), x,
                        y, style);
  };
  const char* const large = "offset 0, character 0.5 font 'sans-serif,12' textcolor rgb '#111111'";
  const char* const small = "offset 0, character -0.6 font 'sans-serif,9' textcolor rgb '#666666'";
  const char* const number = "right font 'sans-serif,12' textcolor rgb '#111111'";
  const char* const heading = "right font 'sans-serif,9' textcolor rgb '#666666'";
  const double share_at = 1 + 80 / plot_width, equal_at = 1 + 175 / plot_width;
  add("explains", share_at, "graph 1 offset 0, character 1.9", heading);
  add("alone", share_at, "graph 1 offset 0, character 0.8", heading);
  add("median, all", equal_at, "graph 1 offset 0, character 1.9", heading);
  add("else equal", equal_at, "graph 1 offset 0, character 0.8", heading);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string y = fmt::format("first {}", -static_cast<double>(i));
    add(parameters[i].name, -14 / plot_width, y, std::string("right ") + large);
    add(values_line(parameters[i]), -14 / plot_width, y, std::string("right ") + small);
    add(share_text(parameters[i]), share_at, y, number);
    add(equal_text(parameters[i], all, objective.unit), equal_at, y, number);
  }
  return text;
}

} // namespace

std::string effect_text(double effect, bool ratios, Unit unit) {
  return ratios ? times_text(effect) : display_text(effect, unit);
}

Figure sensitivity_figure(const std::string& title, const ObjectiveValues& objective,
                          const Sensitivity& sensitivity) {
  constexpr std::size_t most = 24;
  std::vector<ParameterSensitivity> parameters = sensitivity.parameters;
  std::erase_if(parameters, [](const ParameterSensitivity& each) {
    return !each.share && each.equal_others.groups == 0; // each value has one point
  });
  if (parameters.size() > most) parameters.resize(most);
  std::vector<double> ends;
  for (const ParameterSensitivity& each : parameters) {
    ends.push_back(each.best.mean);
    ends.push_back(each.worst.mean);
  }
  const char* const kind = sensitivity.ratios ? "geometric mean" : "mean";
  const FigureAxis axis(fmt::format("{} of {}", kind, objective.name), objective.unit, ends,
                        AxisScale::automatic);
  std::string bars, best, worst;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double a = axis.scaled(parameters[i].best.mean);
    const double b = axis.scaled(parameters[i].worst.mean);
    const double y = -static_cast<double>(i);
    bars += fmt::format("{:.6g} {} {:.6g} {:.6g} {} {}\n", a, y, std::min(a, b), std::max(a, b),
                        y - 0.19, y + 0.19);
    best += fmt::format("{:.6g} {}\n", a, y);
    worst += fmt::format("{:.6g} {}\n", b, y);
  }
  const std::string note =
      fmt::format("{} points; green: at the best value of the parameter, red: at the worst",
                  sensitivity.points);
  const double left = left_width(parameters);
  const double rows = static_cast<double>(parameters.size());
  const int width =
      std::max(static_cast<int>(left + plot_width + right), heading_width({title, note}));
  const int height = static_cast<int>(top + rows * row_height + below);
  const std::string layout = fmt::format(
      "set border 1\nset lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
      "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\nunset key\nunset ytics\n"
      "set yrange [{}:0.5]\nset grid xtics back linetype 1 linecolor rgb '#dddddd' linewidth 0.8\n",
      left / width, (left + plot_width) / width, 1 - top / height, below / height, 0.5 - rows);
  return {figure_style({title, note}) + layout + axis.commands('x') +
              row_labels(parameters, sensitivity, objective) +
              fmt::format("$bars << END\n{}END\n$best << END\n{}END\n$worst << END\n{}END\n", bars,
                          best, worst) +
              "plot $bars using 1:2:3:4:5:6 with boxxyerror fillstyle solid noborder linecolor rgb "
              "'#b9cde3', $worst with points pointtype 7 pointsize 0.9 linecolor rgb '#e15759', "
              "$best with points pointtype 7 pointsize 0.9 linecolor rgb '#59a14f'\n",
          width, height};
}

} // namespace tutti::sweep
