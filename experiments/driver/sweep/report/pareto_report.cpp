// Fronts of two objectives: a table of their points, and figures with a small picture for each
// combination of `by`: the front on a staircase, its points named, and those that it beats behind
// it.
#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/sweep/analysis/cells.hpp"
#include "experiments/driver/sweep/analysis/pareto_front.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/report/figure_axis.hpp"
#include "experiments/driver/sweep/report/report_row.hpp"
#include "sim/ids.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti::sweep {

namespace {

/// The points of one combination of `by`.
struct ParetoPanel {
  std::string title;
  std::vector<Candidate> candidates; ///< all points
  std::vector<FrontPoint> front;     ///< ascending by x; at least one
};

struct ParetoChart {
  std::string title;
  const ObjectiveValues& x;
  const ObjectiveValues& y;
  std::string note;                  ///< names the case
  std::string x_name, y_name;        ///< with a unit, where the objective has none of ours
  const Levels* name = nullptr;      ///< names and colours points; null: one colour
  std::vector<ParetoPanel> panels{}; ///< at least one
};

FigureAxis axis_of(const ObjectiveValues& objective, const std::string& name,
                   std::span<const ParetoPanel> panels) {
  std::vector<double> values;
  for (const ParetoPanel& panel : panels)
    for (const Candidate& each : panel.candidates) values.push_back(objective.values[each.row]);
  const auto [least, largest] = std::ranges::minmax(values);
  // Beaten points may be so much worse that a front would be a line along the axis.
  const bool spread = least > 0 && largest > 8 * least;
  return {name, objective.unit, values, spread ? AxisScale::logarithmic : AxisScale::tight};
}

/// A rectangle on the picture, in points from the upper left corner.
struct Box {
  double left, top, right, bottom;
  [[nodiscard]] bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

struct PanelLayout {
  static constexpr double left = 50, right = 14, above = 44, below = 30; ///< around a plot
  std::size_t columns;
  double plot_width, plot_height;
  ChartFrame frame;

  PanelLayout(const Heading& heading, std::size_t panels, bool has_legend)
      : columns(std::min<std::size_t>(panels, 3)),
        plot_width((page_width - 12.0) / static_cast<double>(columns) - left - right),
        plot_height(columns == 1   ? 300
                    : columns == 2 ? 210
                                   : 150),
        frame(heading, page_width, left, right,
              static_cast<double>((panels + columns - 1) / columns) * (plot_height + above + below),
              has_legend ? 22 : 0, -24) {}
  [[nodiscard]] Box plot(std::size_t panel) const {
    const double x = left + static_cast<double>(panel % columns) * (plot_width + left + right);
    const double y = frame.top - 8 + above +
                     static_cast<double>(panel / columns) * (plot_height + above + below);
    return {x, y, x + plot_width, y + plot_height};
  }
};

int colour_of(const ParetoChart& chart, std::uint32_t row) {
  const std::uint32_t level = chart.name == nullptr ? 0 : chart.name->of_row[row];
  return level == no_index ? 0x777777 : choice_colour(level);
}

/// Names of what fronts have, by their levels; empty where a legend of them would be too long.
std::map<std::uint32_t, std::string> legend_of(const ParetoChart& chart) {
  constexpr std::size_t most = 8;
  std::map<std::uint32_t, std::string> names;
  if (chart.name == nullptr) return names;
  for (const ParetoPanel& panel : chart.panels)
    for (const FrontPoint& point : panel.front)
      if (const std::uint32_t level = chart.name->of_row[point.row]; level != no_index)
        names[level] = display_text(chart.name->values[level]);
  if (names.size() > most) names.clear();
  return names;
}

void paint_legend(Canvas& canvas, const ParetoChart& chart, Position at,
                  const std::map<std::uint32_t, std::string>& names) {
  const auto write = [&](const std::string& text) {
    canvas.text(text_layer, at, text, chart_font, ink, Anchor::left);
    at.x += text_width(text, chart_font) + 16;
  };
  write(chart.name->name + ":");
  for (const auto& [level, name] : names) {
    canvas.disc(text_layer, at, 3.6, choice_colour(level));
    at.x += 9;
    write(name);
  }
}

// The names of the front's points, each beside its own and upon no other, nor on the staircase: as
// near as there is room, with a thin line where that isn't next to it. Neighbours of one name share
// it.
class FrontNames {
public:
  FrontNames(Canvas& canvas, const ParetoChart& chart, const ParetoPanel& panel,
             std::span<const Position> points, std::span<const Position> staircase, const Box& plot)
      : canvas_(canvas), plot_(plot) {
    for (const Position& at : points) taken_.push_back({at.x - 5, at.y - 5, at.x + 5, at.y + 5});
    for (std::size_t i = 1; i < staircase.size(); ++i) {
      const Position a = staircase[i - 1], b = staircase[i];
      taken_.push_back({std::min(a.x, b.x) - 1, std::min(a.y, b.y) - 1, std::max(a.x, b.x) + 1,
                        std::max(a.y, b.y) + 1});
    }
    std::string before;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::uint32_t level = chart.name->of_row[panel.front[i].row];
      const std::string name = level == no_index ? "" : display_text(chart.name->values[level]);
      if (name != before && !name.empty()) place(name, points[i]);
      before = name;
    }
  }

private:
  void place(const std::string& name, Position at) {
    const double width = text_width(name, least_font);
    for (const double away : {7.0, 18.0, 32.0, 48.0, 68.0, 92.0})
      for (const auto& [dx, dy] : std::initializer_list<std::pair<double, double>>{{1, 0},
                                                                                   {0.7, -0.9},
                                                                                   {0.7, 0.9},
                                                                                   {-0.7, -0.9},
                                                                                   {-1, 0},
                                                                                   {-0.7, 0.9},
                                                                                   {0, -1},
                                                                                   {0, 1}}) {
        const double cx = at.x + dx * (away + width / 2) + (dx == 0 ? 0 : 2 * dx),
                     cy = at.y + dy * (away + 5);
        const Box box{cx - width / 2, cy - 6, cx + width / 2, cy + 6};
        const bool inside = box.left >= plot_.left + 2 && box.right <= plot_.right + 12 &&
                            box.top >= plot_.top - 4 && box.bottom <= plot_.bottom - 2;
        if (!inside || std::ranges::any_of(taken_, [&](const Box& b) { return b.meets(box); }))
          continue;
        taken_.push_back(box);
        if (away > 7)
          canvas_.line(
              axis_layer, at,
              {std::clamp(at.x, box.left, box.right), std::clamp(at.y, box.top, box.bottom)},
              0x888888, 0.6);
        canvas_.text(text_layer, {cx, cy}, name, least_font, ink);
        return;
      }
  }

  Canvas& canvas_;
  Box plot_;
  std::vector<Box> taken_;
};

// Beaten points, one for each small cell of the plot: a dot more in one of them can't be seen, but
// a million dots make a page too large to open.
std::vector<Candidate> cloud_of(const ParetoPanel& panel, const FigureAxis& x,
                                const FigureAxis& y) {
  std::vector<Candidate> cloud;
  std::set<std::uint32_t> on_front;
  for (const FrontPoint& point : panel.front) on_front.insert(point.row);
  std::set<std::pair<int, int>> taken;
  for (const Candidate& each : panel.candidates)
    if (!on_front.contains(each.row) &&
        taken.emplace(x.cell(each.x, 140), y.cell(each.y, 80)).second)
      cloud.push_back(each);
  return cloud;
}

void paint_panel(Canvas& canvas, const ParetoChart& chart, std::size_t p, const PanelLayout& layout,
                 const FigureAxis& x, bool has_legend) {
  const ParetoPanel& panel = chart.panels[p];
  const FigureAxis y = axis_of(chart.y, chart.y_name, {&panel, 1});
  const Box box = layout.plot(p);
  const Plot plot(canvas, {box.left, box.top}, {box.right, box.bottom},
                  x.small_axis(layout.columns == 3 ? 4 : 7), y.small_axis(5));
  plot.paint_x(true, least_font);
  plot.paint_y(true, least_font);
  canvas.text(text_layer, {box.left - 34, box.top - 24}, panel.title, 12, 0x111111, Anchor::left);
  canvas.text(text_layer, {box.left - 34, box.top - 10}, y.label_with_unit(), least_font, note_ink,
              Anchor::left);
  if (p + layout.columns >= chart.panels.size()) plot.name_x(x.label_with_unit(), 30);
  for (const Candidate& each : cloud_of(panel, x, y))
    canvas.disc(curve_layer, plot.at(x.scaled(each.x), y.scaled(each.y)), 1.3, 0xa8a8a8);
  std::vector<Position> front;
  for (const FrontPoint& point : panel.front)
    front.push_back(
        plot.at(x.scaled(chart.x.values[point.row]), y.scaled(chart.y.values[point.row])));
  // A point beats all that is worse in both: the staircase runs along the edge of what is beaten,
  // which depends on whether more or less of x is better.
  const std::vector<Position> staircase = stairs(front, chart.x.maximise);
  canvas.line(curve_layer + 1, staircase, axis_ink, 1.2);
  for (std::size_t i = 0; i < front.size(); ++i)
    canvas.disc(curve_layer + 2, front[i], 3.6, colour_of(chart, panel.front[i].row));
  // A legend says it better than many names.
  constexpr std::size_t most_named = 8;
  if (chart.name != nullptr && (!has_legend || front.size() <= most_named))
    FrontNames(canvas, chart, panel, front, staircase, box);
}

/// What each panel draws: its front, and a point for each cell with beaten ones.
std::vector<std::vector<std::string>> data_of(const ParetoChart& chart, const FigureAxis& x) {
  std::vector<std::vector<std::string>> rows{{"point", "panel",
                                              chart.name == nullptr ? "" : chart.name->name,
                                              chart.x.name, chart.y.name}};
  for (const ParetoPanel& panel : chart.panels) {
    const auto add = [&](const char* kind, std::uint32_t row) {
      const std::uint32_t level = chart.name == nullptr ? no_index : chart.name->of_row[row];
      rows.push_back(
          {kind, panel.title, level == no_index ? "" : display_text(chart.name->values[level]),
           fmt::format("{:.6g}", chart.x.values[row]), fmt::format("{:.6g}", chart.y.values[row])});
    };
    for (const FrontPoint& point : panel.front) add("front", point.row);
    for (const Candidate& each : cloud_of(panel, x, axis_of(chart.y, chart.y_name, {&panel, 1})))
      add("beaten", each.row);
  }
  return rows;
}

// Small multiples: a panel for each value of the last of `by`. They have one x axis, as what is
// compared along it mostly is the same in all, and y axes of their own, whose values may lie
// decades apart. An axis is logarithmic where its values spread over more than a factor of 8.
Figure pareto_figure(const ParetoChart& chart) {
  const std::string note = fmt::format(
      "coloured{}: no other point beats these in both; grey: beaten. Better: {} and {}",
      chart.name == nullptr ? "" : " and named by " + chart.name->name,
      chart.x.maximise ? "to the right" : "to the left", chart.y.maximise ? "up" : "down");
  const Heading heading{chart.title, chart.note.empty() ? note : chart.note + "; " + note};
  const std::map<std::uint32_t, std::string> legend = legend_of(chart);
  const PanelLayout layout(heading, chart.panels.size(), !legend.empty());
  const FigureAxis x = axis_of(chart.x, chart.x_name, chart.panels);
  Canvas canvas = layout.frame.canvas();
  if (!legend.empty())
    paint_legend(canvas, chart, {FigureFrame::margin, layout.frame.top - 14}, legend);
  for (std::size_t p = 0; p < chart.panels.size(); ++p)
    paint_panel(canvas, chart, p, layout, x, !legend.empty());
  return layout.frame.figure(std::move(canvas), data_of(chart, x));
}

struct ParetoColumns {
  std::vector<const Levels*> by;
  const Levels* name = nullptr;        ///< null: none
  std::vector<const Levels*> settings; ///< parameters that vary, but for `by` and `name`
};

ParetoColumns pareto_columns(const ParetoAnalysis& analysis, AnalysedPoints& points) {
  ParetoColumns columns;
  columns.by = points.levels_of(analysis.head.by);
  if (!analysis.name.empty()) columns.name = &points.levels(analysis.name);
  std::vector<const Levels*> named = columns.by;
  named.push_back(columns.name);
  columns.settings = points.varied_but(named);
  return columns;
}

std::vector<std::vector<Candidate>>
candidates_by_group(const Grouping& groups, const ObjectiveValues& x, const ObjectiveValues& y) {
  std::vector<std::vector<Candidate>> candidates(groups.size());
  for (std::uint32_t row = 0; row < groups.of_row.size(); ++row)
    if (groups.of_row[row] != no_index && x.has(row) && y.has(row))
      candidates[groups.of_row[row]].push_back({x.values[row], y.values[row], row});
  return candidates;
}

ReportRow front_row(const FrontPoint& point, const ParetoColumns& columns, const ObjectiveValues& x,
                    const ObjectiveValues& y) {
  ReportRow row;
  for (const Levels* each : columns.by) row.add_level(*each, point.row);
  if (columns.name != nullptr) row.add_level(*columns.name, point.row);
  for (const ObjectiveValues* each : {&x, &y}) row.add_objective(*each, point.row);
  row.add_count("points", {"points", Align::right}, point.equals);
  for (const Levels* each : columns.settings) row.add_level(*each, point.row);
  return row;
}

// " On the 22 fronts: DragonFly on 22, hypercube on 13, 3-D torus on 4."
std::string most_on_fronts(const std::map<std::string, std::size_t>& fronts, std::size_t all) {
  if (fronts.empty()) return "";
  std::vector<std::pair<std::string, std::size_t>> names(fronts.begin(), fronts.end());
  std::ranges::stable_sort(names, std::greater<>(), &std::pair<std::string, std::size_t>::second);
  std::string text = all == 1 ? " On the front: " : fmt::format(" On the {} fronts: ", all);
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 4); ++i)
    text += (i == 0 ? "" : ", ") +
            (all == 1 ? names[i].first : fmt::format("{} on {}", names[i].first, names[i].second));
  return text + (names.size() > 4 ? fmt::format(" and {} more.", names.size() - 4) : ".");
}

/// "power [W]" of an objective whose unit is none of ours: results and most facts are plain
/// numbers.
std::string axis_name(const ObjectiveValues& values, const Sweep& sweep) {
  const auto found = std::ranges::find(sweep.objectives, values.name, &Objective::name);
  if (values.unit != Unit::none || found == sweep.objectives.end()) return values.name;
  if (found->expression == "power_watts") return values.name + " [W]";
  if (found->expression == "cable_metres") return values.name + " [m]";
  if (found->expression == "cost" || found->expression.starts_with("cost_"))
    return values.name + " [in the cost model's money]";
  return values.name;
}

} // namespace

AnalysisReport pareto_report(const ParetoAnalysis& analysis, AnalysedPoints& points) {
  AnalysisReport report = begun_report("pareto", analysis.head, points);
  const ObjectiveValues& x = points.objective(analysis.x);
  const ObjectiveValues& y = points.objective(analysis.y);
  report.explanation =
      fmt::format("Points that no other beats in both: {} {} and {} {}. \"points\" counts those "
                  "with the same values; the first stands for them.",
                  x.aim(), x.name, y.aim(), y.name);
  const ParetoColumns columns = pareto_columns(analysis, points);
  front_row({no_index}, columns, x, y).begin(report);
  const Grouping groups = points.grouped_by(analysis.head.by);
  auto candidates = candidates_by_group(groups, x, y);
  // A picture for each combination of all of `by` but the last, whose values have a panel each.
  std::span<const Levels* const> of_figure(columns.by);
  if (!of_figure.empty()) of_figure = of_figure.first(of_figure.size() - 1);
  std::vector<std::pair<std::string, ParetoChart>> charts;
  std::map<std::string, std::size_t> fronts; // on how many is a point of this name
  std::size_t all_fronts = 0, on_fronts = 0, all_points = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<FrontPoint> front = pareto_front(candidates[g], x.maximise, y.maximise);
    for (const FrontPoint& point : front) front_row(point, columns, x, y).append_to(report);
    const std::uint32_t first = groups.first_row[g];
    if (front.empty()) {
      const std::string part = values_text(columns.by, first);
      if (!part.empty()) report.notes.push_back("No point has both values: " + part + ".");
      continue;
    }
    ++all_fronts;
    on_fronts += front.size();
    all_points += candidates[g].size();
    std::set<std::string> names;
    for (const FrontPoint& point : front)
      if (columns.name != nullptr && columns.name->of_row[point.row] != no_index)
        names.insert(values_words({&columns.name, 1}, point.row));
    for (const std::string& name : names) ++fronts[name];
    const std::string part = values_text(of_figure, first);
    const std::string words = values_words(of_figure, first, ", ");
    if (charts.empty() || charts.back().first != part)
      charts.emplace_back(part,
                          ParetoChart{report.title_of(words, of_figure, first), x, y,
                                      case_note(points.sweep(), ""), axis_name(x, points.sweep()),
                                      axis_name(y, points.sweep()), columns.name});
    const std::string title =
        columns.by.empty() ? "" : values_words({&columns.by.back(), 1}, first);
    charts.back().second.panels.push_back({title, std::move(candidates[g]), std::move(front)});
  }
  if (all_fronts > 0)
    report.conclusions.push_back(fmt::format("{} of {} points aren't beaten in both {} and {}.{}",
                                             on_fronts, all_points, x.name, y.name,
                                             most_on_fronts(fronts, all_fronts)));
  for (auto& [part, chart] : charts) {
    if (chart.panels.size() > most_figures) {
      report.notes.push_back(fmt::format("{}{} of {} combinations are drawn; the table has all.",
                                         begin_of_part(part), most_figures, chart.panels.size()));
      chart.panels.resize(most_figures);
    }
    report.figures.push_back({part, chart.title, pareto_figure(chart)});
  }
  limit_figures(report);
  return report;
}

} // namespace tutti::sweep
