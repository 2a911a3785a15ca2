// All curves of a chart share their axes, so extents are taken over all of them first; then each
// curve is a data block and a plot command, with bands behind everything and power laws as straight
// lines, which they are on double logarithmic axes. Names stand beside the ends of the curves
// rather than in a legend, where a reader would have to match a dozen colours: gnuplot can't do
// that, so that everything has its place in points here.
#include "experiments/driver/figures/curves.hpp"

#include "experiments/driver/figures/extent.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <set>

namespace tutti {

namespace {

constexpr double font = 11;
constexpr double name_pitch = 16; // of names beside the plot, in points
constexpr double mark_pitch = 14; // of rows of words above it

/// An axis from end to end.
struct AxisRange {
  double low = 0, high = 1;
  bool logarithmic = false;

  /// 0 at its low end, 1 at its high one.
  [[nodiscard]] double share(double value) const {
    return logarithmic ? std::log(value / low) / std::log(high / low)
                       : (value - low) / (high - low);
  }
  [[nodiscard]] std::string command(char axis, std::string_view base) const {
    return (logarithmic ? fmt::format("set logscale {}{}\n", axis, base) : "") +
           fmt::format("set {}range [{:.6g}:{:.6g}]\n", axis, low, high);
  }
};

bool has_logarithmic_y(const CurveChart& chart) {
  return chart.logarithmic || !chart.growth_in.empty();
}

AxisRange x_range(const CurveChart& chart, const Extent& x) {
  if (chart.axis == CurveAxis::names)
    return {-0.4, static_cast<double>(chart.x_names.size()) - 0.6};
  if (chart.x_from_least && x.largest > x.smallest)
    return {x.smallest, x.largest + 0.03 * (x.largest - x.smallest)};
  if (chart.axis == CurveAxis::linear) return {0, x.largest > 0 ? 1.03 * x.largest : 1};
  return {0.8 * x.smallest, 1.25 * x.largest, true};
}

AxisRange y_range(const CurveChart& chart, const Extent& y) {
  if (has_logarithmic_y(chart)) return {y.smallest / 1.5, y.largest * 1.5, true};
  return {0, y.largest > 0 ? 1.06 * y.largest : 1};
}

std::string power_text(int exponent, CurveAxis axis) {
  constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (axis == CurveAxis::powers) return fmt::format("{:g}", std::exp2(exponent));
  return fmt::format("{} {}", 1 << (exponent % 10), units[static_cast<std::size_t>(exponent / 10)]);
}

/// Marks at powers of two, as many as there is room for: ("1 KiB" 1024, ...).
std::vector<AxisTic> power_tics(const Extent& x, CurveAxis axis, double plot_width) {
  const int first = static_cast<int>(std::floor(std::log2(x.smallest)));
  const int last = static_cast<int>(std::ceil(std::log2(x.largest)));
  const double widest = text_width(axis == CurveAxis::powers ? "65536" : "512 KiB", font) + 6;
  const int most = std::clamp(static_cast<int>(plot_width / widest), 2, 9);
  const int step = (last - first) / most + 1;
  std::vector<AxisTic> tics;
  for (int e = first; e <= last; e += step) tics.push_back({std::exp2(e), power_text(e, axis)});
  return tics;
}

/// Marks at the values themselves, where they are few and stand apart; else none, and none where
/// powers of two have all of them.
std::vector<AxisTic> value_tics(const CurveChart& chart, const AxisRange& range,
                                double plot_width) {
  std::set<double> values;
  for (const Curve& curve : chart.curves)
    for (const PlotPoint& point : curve.points) values.insert(point.x);
  const auto is_power = [](double value) {
    return std::exp2(std::round(std::log2(value))) == value;
  };
  if (chart.axis == CurveAxis::powers && std::ranges::all_of(values, is_power)) return {};
  std::vector<AxisTic> tics;
  double free_from = -1e9; // points
  for (const double value : values) {
    const std::string text = value < 1e6 ? fmt::format("{:.6g}", value) : "";
    const double middle = range.share(value) * plot_width, half = text_width(text, font) / 2 + 3;
    if (text.empty() || middle - half < free_from) return {};
    free_from = middle + half;
    tics.push_back({value, text});
  }
  return tics;
}

// ---- where everything lies

double longest_name(const std::vector<std::string>& names) {
  double longest = 0;
  for (const std::string& name : names) longest = std::max(longest, text_width(name, font));
  return longest;
}

/// A curve's name beside the plot, and what a reader must know of it on a second line.
struct CurveName {
  std::string name, words;
};

double longest_line(const std::vector<CurveName>& names) {
  double longest = 0;
  for (const CurveName& each : names)
    longest = std::max({longest, text_width(each.name, font), text_width(each.words, least_font)});
  return longest;
}

std::size_t line_count(const std::vector<CurveName>& names) {
  std::size_t lines = names.size();
  for (const CurveName& each : names) lines += each.words.empty() ? 0 : 1;
  return lines;
}

// Words above the plot, in as many rows as they need.
struct PlacedMarks {
  std::vector<std::size_t> row; ///< of each mark
  std::size_t rows = 0;
};

// Each stands above all whose lines come up through it or whose words it would touch.
PlacedMarks placed_marks(const CurveChart& chart, const AxisRange& x, double plot_width) {
  PlacedMarks placed{std::vector<std::size_t>(chart.marks.size(), 0), 0};
  std::vector<std::size_t> order(chart.marks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t m) { return chart.marks[m].x; });
  for (std::size_t i = order.size(); i-- > 0;) {
    const CurveMark& mark = chart.marks[order[i]];
    if (mark.text.empty()) continue;
    const double end = x.share(mark.x) * plot_width + text_width(mark.text, least_font) + 8;
    std::size_t& row = placed.row[order[i]];
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const CurveMark& right = chart.marks[order[j]];
      if (!right.text.empty() && x.share(right.x) * plot_width < end)
        row = std::max(row, placed.row[order[j]] + 1);
    }
    placed.rows = std::max(placed.rows, row + 1);
  }
  return placed;
}

struct CurveLayout {
  ChartFrame frame;
  PlacedMarks marks;
  double scale = 1;      ///< of letters
  bool slanted = false;  ///< names of the axis
  double above_plot = 0; ///< room for words
};

CurveLayout curve_layout(const CurveChart& chart, const AxisRange& x,
                         const std::vector<CurveName>& names) {
  constexpr double least_plot = 300, beside_names = 56;
  double left = 74;
  if (!chart.y_tics.empty()) {
    std::vector<std::string> texts;
    for (const AxisTic& tic : chart.y_tics) texts.push_back(tic.text);
    left = 44 + longest_name(texts);
  }
  const int width = figure_width(left + least_plot + beside_names, longest_line(names));
  const double scale = text_scale(width);
  const double right = beside_names + scale * longest_line(names);
  const double plot_width = width - left - right;
  const bool slanted =
      chart.axis == CurveAxis::names &&
      static_cast<double>(chart.x_names.size()) * (scale * longest_name(chart.x_names) + 10) >
          plot_width;
  const double below = slanted ? 0.6 * scale * longest_name(chart.x_names) : 0;
  PlacedMarks marks = placed_marks(chart, x, plot_width / scale);
  const double above = marks.rows == 0 ? 0 : 4 + mark_pitch * static_cast<double>(marks.rows);
  const double height =
      std::max(270.0, scale * name_pitch * static_cast<double>(line_count(names)) + 4);
  return {ChartFrame(chart.heading, width, left, right, height, above, below), std::move(marks),
          scale, slanted, above};
}

// ---- axes

std::string x_axis(const CurveChart& chart, const Extent& x, const AxisRange& range,
                   const CurveLayout& at) {
  std::string text = range.command('x', chart.axis == CurveAxis::tens ? "" : " 2");
  if (chart.axis == CurveAxis::names) {
    std::vector<AxisTic> tics;
    for (const std::string& name : chart.x_names)
      tics.push_back({static_cast<double>(tics.size()), name});
    text +=
        fmt::format("set xtics {}({})\n", at.slanted ? "rotate by 35 right " : "", tics_text(tics));
  } else if (chart.axis != CurveAxis::linear) {
    const double width = (at.frame.right - at.frame.left) / at.scale;
    std::vector<AxisTic> tics;
    if (chart.axis != CurveAxis::bytes) tics = value_tics(chart, range, width);
    if (tics.empty())
      tics = chart.axis == CurveAxis::tens ? decade_tics(range.low, range.high)
                                           : power_tics(x, chart.axis, width);
    text += fmt::format("set xtics ({})\n", tics_text(tics));
  }
  return text +
         fmt::format(
             "set label 2 {} at {} center\n", gnuplot_quoted(chart.x_label),
             at.frame.screen((at.frame.left + at.frame.right) / 2,
                             at.frame.bottom + 34 +
                                 (at.slanted ? 0.6 * at.scale * longest_name(chart.x_names) : 0)));
}

std::string y_axis(const CurveChart& chart, const AxisRange& range, const CurveLayout& at) {
  std::vector<AxisTic> tics = chart.y_tics;
  if (tics.empty() && range.logarithmic) tics = decade_tics(range.low, range.high);
  return range.command('y', "") +
         (tics.empty() ? "" : fmt::format("set ytics ({})\n", tics_text(tics))) +
         fmt::format("set label 3 {} at {} center rotate by 90\n", gnuplot_quoted(chart.y_label),
                     at.frame.screen(16, (at.frame.top + at.frame.bottom) / 2));
}

std::string mark_lines(const CurveChart& chart, const CurveLayout& at) {
  std::string lines;
  for (std::size_t m = 0; m < chart.marks.size(); ++m) {
    const CurveMark& mark = chart.marks[m];
    const double up = mark.text.empty() ? 0 : 8 + mark_pitch * static_cast<double>(at.marks.row[m]);
    const double end = 1 - (at.frame.top - up) / at.frame.height;
    lines += fmt::format("set arrow from {0:.10g}, graph 0 to {0:.10g}, screen {1:.6f} nohead back "
                         "linewidth 0.8 dashtype 3 linecolor rgb '#777777'\n",
                         mark.x, end);
    if (mark.text.empty()) continue;
    lines += fmt::format("set label {} at {:.10g}, screen {:.6f} left offset character 0.4, 0 font "
                         "'sans-serif,{}' textcolor rgb '#555555'\n",
                         gnuplot_quoted(mark.text), mark.x, end, least_font);
  }
  return lines;
}

// ---- what lies upon what

/// A curve in shares of the plot.
std::vector<PlotPoint> in_shares(const Curve& curve, const AxisRange& x, const AxisRange& y) {
  std::vector<PlotPoint> points;
  for (const PlotPoint& point : curve.points)
    points.push_back({x.share(point.x), y.share(point.y)});
  return points;
}

/// Whether a point can't be distinguished from this curve, which is drawn in lines or steps.
bool lies_on(const PlotPoint& point, const std::vector<PlotPoint>& curve, bool steps) {
  constexpr double x_near = 1e-6, y_near = 0.008; // 2 of 270 points: as wide as the line
  const auto next = std::ranges::lower_bound(curve, point.x - x_near, {}, &PlotPoint::x);
  if (next == curve.end()) return false;
  if (std::abs(next->x - point.x) <= x_near) {
    // Several points may have one x, as where a step rises: any of them will do.
    for (auto same = next; same != curve.end() && same->x <= point.x + x_near; ++same)
      if (std::abs(same->y - point.y) <= y_near) return true;
    return false;
  }
  if (next == curve.begin()) return false;
  const PlotPoint& before = *std::prev(next);
  const double share = steps ? 0 : (point.x - before.x) / (next->x - before.x);
  return std::abs(before.y + share * (next->y - before.y) - point.y) <= y_near;
}

/// The curve at this x, if it is there between two of its points.
std::optional<PlotPoint> point_between(const std::vector<PlotPoint>& curve, double x, bool steps) {
  const auto next = std::ranges::upper_bound(curve, x, {}, &PlotPoint::x);
  if (next == curve.begin() || next == curve.end()) return std::nullopt;
  const PlotPoint& before = *std::prev(next);
  const double share = steps ? 0 : (x - before.x) / (next->x - before.x);
  return PlotPoint{x, before.y + share * (next->y - before.y)};
}

/// How much of a curve lies upon another, in places at which one of both has a point.
struct Overlap {
  std::size_t on = 0, places = 0;
  [[nodiscard]] bool all() const { return on == places; }
  /// One point in common is no stretch of a curve.
  [[nodiscard]] bool much() const { return on > 1 && 3 * on >= places; }
};

Overlap overlap_of(const std::vector<PlotPoint>& curve, const std::vector<PlotPoint>& other,
                   bool steps) {
  Overlap overlap;
  const auto add = [&](const PlotPoint& point) {
    ++overlap.places;
    if (lies_on(point, other, steps)) ++overlap.on;
  };
  for (const PlotPoint& point : curve) add(point);
  for (const PlotPoint& bend : other)
    if (const auto point = point_between(curve, bend.x, steps)) add(*point);
  return overlap;
}

struct Covering {
  std::vector<std::size_t> depth; ///< of each curve: how many curves deep it lies upon others
  std::vector<std::string> words; ///< below its name; mostly none
};

Covering covering_of(const CurveChart& chart, const AxisRange& x, const AxisRange& y) {
  const std::size_t n = chart.curves.size();
  std::vector<std::vector<PlotPoint>> curves;
  for (const Curve& curve : chart.curves) curves.push_back(in_shares(curve, x, y));
  Covering covering{std::vector<std::size_t>(n, 0), std::vector<std::string>(n)};
  for (std::size_t upper = 0; upper < n; ++upper)
    for (std::size_t lower = 0; lower < upper; ++lower) {
      if (curves[upper].empty() || curves[lower].empty()) continue;
      const Overlap up = overlap_of(curves[upper], curves[lower], chart.steps);
      const Overlap low = overlap_of(curves[lower], curves[upper], chart.steps);
      if (up.much() || low.much())
        covering.depth[upper] = std::max(covering.depth[upper], covering.depth[lower] + 1);
      if (up.all() && covering.words[upper].empty())
        covering.words[upper] = fmt::format("(on {})", chart.curves[lower].name);
      else if (low.all() && covering.words[lower].empty())
        covering.words[lower] = fmt::format("(under {})", chart.curves[upper].name);
    }
  return covering;
}

// ---- curves

/// What the c-th curve is drawn with.
struct Pen {
  std::string colour, dash;
  int mark = 7;
  double width = 2;
};

Pen pen_of(const CurveChart& chart, std::size_t c, std::size_t depth) {
  CurveLook look{c % palette_size, c / palette_size};
  if (chart.curves[c].look) {
    look = *chart.curves[c].look;
    look.dash += look.hue / palette_size;
  }
  Pen pen{std::string(series_colour(look.hue)), std::string(dash_pattern(look.dash)),
          point_mark(look.hue, look.dash)};
  // What lies below shows in the gaps. Where dashes say which curves belong together, dots do this.
  const bool dashes_mean_kin = std::ranges::any_of(
      chart.curves, [](const Curve& curve) { return curve.look && curve.look->dash > 0; });
  if (depth > 0 && look.dash == 0)
    pen.dash = depth == 1 && !dashes_mean_kin ? "dashtype (5,5)" : "dashtype (2,5)";
  return pen;
}

std::string points_data(const Curve& curve) {
  std::string data;
  for (const PlotPoint& point : curve.points)
    data += fmt::format("{:.10g} {:.6g}\n", point.x, point.y);
  return data;
}

// "x low high"; on a logarithmic axis from `least` on.
std::string band_data(const Curve& curve, double least) {
  std::string data;
  for (const CurveInterval& each : curve.band)
    data += fmt::format("{:.10g} {:.6g} {:.6g}\n", each.x, std::max(each.low, least), each.high);
  return data;
}

// How the c-th curve's band is drawn, behind all curves.
std::string band_plot(const CurveChart& chart, std::size_t c, const Pen& pen) {
  if (chart.curves[c].band.size() > 1 && chart.axis != CurveAxis::names)
    return fmt::format("$band{} using 1:2:3 with filledcurves fillcolor rgb '#c8{}' notitle", c,
                       pen.colour.substr(1));
  return fmt::format(
      "$band{} using 1:2:2:3 with yerrorbars pointtype 0 linewidth 1.2 linecolor rgb "
      "'{}' notitle",
      c, pen.colour);
}

std::size_t distinct_x(const Curve& curve) {
  std::set<double> x;
  for (const PlotPoint& point : curve.points) x.insert(point.x);
  return x.size();
}

/// Two sizes have a line through them whatever they are: no law.
std::optional<PowerLaw> law_of(const CurveChart& chart, const Curve& curve) {
  if (chart.growth_in.empty() || distinct_x(curve) < 3) return std::nullopt;
  return fitted_power_law(curve.points);
}

std::string_view style_of(const CurveChart& chart, const Curve& curve, bool has_law) {
  if (chart.steps) return "steps";
  // What has several values at one x (of several networks of this size, say) is no line.
  return has_law || distinct_x(curve) < curve.points.size() ? "points" : "linespoints";
}

/// The law at both ends of its curve: between them it is a straight line.
std::string law_data(const PowerLaw& law, const Curve& curve) {
  std::string data;
  for (const double x : {curve.points.front().x, curve.points.back().x})
    data += fmt::format("{:.10g} {:.6g}\n", x, law.factor * std::pow(x, law.exponent));
  return data;
}

std::string curve_plot(const CurveChart& chart, std::size_t c, const Pen& pen,
                       const std::optional<PowerLaw>& law) {
  const std::string_view style = style_of(chart, chart.curves[c], law.has_value());
  std::string plot = fmt::format(
      "$curve{} using 1:2 with {} linewidth {}{} {} linecolor rgb '{}' notitle", c, style,
      pen.width, chart.steps ? "" : fmt::format(" pointtype {} pointsize 0.6", pen.mark),
      style == "points" ? "" : pen.dash, pen.colour);
  // Where a curve that holds its values ends is seen only by its last point.
  if (chart.steps)
    plot += fmt::format(", \\\n     $curve{} using 1:2 every ::{} with points pointtype {} "
                        "pointsize 0.7 linecolor rgb '{}' notitle",
                        c, chart.curves[c].points.size() - 1, pen.mark, pen.colour);
  if (law)
    plot += fmt::format(", \\\n     $law{} using 1:2 with lines linewidth 1 dashtype 2 linecolor "
                        "rgb '{}' notitle",
                        c, pen.colour);
  return plot;
}

// ---- names beside the plot

// A sample of the line, the name, and a thin line from where the curve ends; a curve that ends far
// from there has none, which would cross all others.
std::string name_texts(const CurveChart& chart, const std::vector<CurveName>& names,
                       const std::vector<Pen>& pens, const AxisRange& x, const AxisRange& y,
                       const CurveLayout& at) {
  const ChartFrame& frame = at.frame;
  std::vector<std::size_t> order;
  std::vector<double> wanted(names.size(), 0), lines; // lines: of each in order one or two
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (chart.curves[c].points.empty()) continue;
    order.push_back(c);
    wanted[c] =
        frame.bottom - y.share(chart.curves[c].points.back().y) * (frame.bottom - frame.top);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t c) { return wanted[c]; });
  for (const std::size_t c : order)
    lines.insert(lines.end(), names[c].words.empty() ? 1 : 2, wanted[c]);
  const std::vector<double> heights =
      spread_heights(lines, at.scale * name_pitch, frame.top, frame.bottom);
  std::string text;
  std::size_t line = 0;
  for (const std::size_t c : order) {
    const Pen& pen = pens[c];
    const PlotPoint end = chart.curves[c].points.back();
    const double sample = frame.right + 18, height = heights[line++];
    if (x.share(end.x) > 0.85)
      text += fmt::format("set arrow from {:.10g},{:.6g} to {} nohead back linewidth 0.6 linecolor "
                          "rgb '{}'\n",
                          end.x, end.y, frame.screen(sample - 2, height), pen.colour);
    text += fmt::format("set arrow from {} to {} nohead linewidth {} {} linecolor rgb '{}'\n",
                        frame.screen(sample, height), frame.screen(sample + 26, height), pen.width,
                        pen.dash, pen.colour);
    text += fmt::format("set label '' at {} point pointtype {} pointsize 0.7 linecolor rgb '{}'\n",
                        frame.screen(sample + 13, height), pen.mark, pen.colour);
    text += fmt::format("set label {} at {} left textcolor rgb '#222222'\n",
                        gnuplot_quoted(names[c].name), frame.screen(sample + 32, height));
    if (names[c].words.empty()) continue;
    text += fmt::format("set label {} at {} left font 'sans-serif,{}' textcolor rgb '#666666'\n",
                        gnuplot_quoted(names[c].words),
                        frame.screen(sample + 32, heights[line++] - 2), least_font);
  }
  return text;
}

} // namespace

// Those that would touch are moved as one block, to where its members are nearest to their places
// on average; a block that then touches another joins it.
std::vector<double> spread_heights(std::span<const double> wanted, double distance, double least,
                                   double largest) {
  struct Block {
    double sum = 0; // of where its first member would be if each stood where it wants to
    std::size_t members = 0;
    [[nodiscard]] double first() const { return sum / static_cast<double>(members); }
  };
  std::vector<Block> blocks;
  for (const double each : wanted) {
    blocks.push_back({each, 1});
    while (blocks.size() > 1) {
      const Block& last = blocks.back();
      Block& before = blocks[blocks.size() - 2];
      const double length = distance * static_cast<double>(before.members);
      if (last.first() >= before.first() + length) break;
      before.sum += last.sum - length * static_cast<double>(last.members);
      before.members += last.members;
      blocks.pop_back();
    }
  }
  std::vector<double> heights;
  for (const Block& block : blocks)
    for (std::size_t i = 0; i < block.members; ++i)
      heights.push_back(block.first() + distance * static_cast<double>(i));
  // Down from above the upper edge first, then up from below the lower one.
  double next = least;
  for (double& height : heights) {
    height = std::max(height, next);
    next = height + distance;
  }
  next = largest;
  for (std::size_t i = heights.size(); i-- > 0;) {
    heights[i] = std::min(heights[i], next);
    next = heights[i] - distance;
  }
  return heights;
}

Figure curve_figure(const CurveChart& chart) {
  Extent x, y;
  const bool data_is_empty = std::all_of(chart.curves.begin(), chart.curves.end(),
                                         [](const Curve& curve) { return curve.points.empty(); });
  if (data_is_empty) throw InputError("a chart of curves needs at least one point");
  for (const Curve& curve : chart.curves)
    for (const PlotPoint& point : curve.points) {
      assert(point.x >= (chart.axis >= CurveAxis::linear ? 0 : 1) && std::isfinite(point.y));
      assert(point.y > 0 || !has_logarithmic_y(chart));
      x.add(point.x);
      y.add(point.y);
    }
  for (const CurveMark& mark : chart.marks) x.add(mark.x);
  const double least = has_logarithmic_y(chart) ? y.smallest / 1.5 : 0;
  for (const Curve& curve : chart.curves)
    for (const CurveInterval& each : curve.band) y.add(each.high);
  const AxisRange xs = x_range(chart, x), ys = y_range(chart, y);
  const Covering covering = covering_of(chart, xs, ys);

  std::vector<CurveName> names;
  std::vector<Pen> pens;
  std::string data, bands, plots;
  for (std::size_t c = 0; c < chart.curves.size(); ++c) {
    const Curve& curve = chart.curves[c];
    pens.push_back(pen_of(chart, c, covering.depth[c]));
    const std::optional<PowerLaw> law = law_of(chart, curve);
    names.push_back({law ? fmt::format("{}: {}^{:.2f}", curve.name, chart.growth_in, law->exponent)
                         : curve.name,
                     covering.words[c]});
    if (curve.points.empty()) continue;
    data += fmt::format("$curve{} << END\n{}END\n", c, points_data(curve));
    if (law) data += fmt::format("$law{} << END\n{}END\n", c, law_data(*law, curve));
    plots += (plots.empty() ? "" : ", \\\n     ") + curve_plot(chart, c, pens[c], law);
    if (curve.band.empty()) continue;
    data += fmt::format("$band{} << END\n{}END\n", c, band_data(curve, least));
    bands += band_plot(chart, c, pens[c]) + ", \\\n     ";
  }
  const CurveLayout at = curve_layout(chart, xs, names);
  const std::string axes =
      "set border 3\nunset key\n" + at.frame.margins() +
      "set grid ytics back linetype 1 linecolor rgb '#dddddd' linewidth 0.8\n" +
      x_axis(chart, x, xs, at) + y_axis(chart, ys, at) + mark_lines(chart, at) +
      name_texts(chart, names, pens, xs, ys, at);
  return {figure_style(chart.heading, at.frame.width) + axes + data + "plot " + bands + plots +
              "\n",
          at.frame.width, at.frame.height, at.scale};
}

} // namespace tutti
