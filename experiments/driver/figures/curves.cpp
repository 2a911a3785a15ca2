// All curves of a chart share their axes, so extents are taken over all of them first; then they
// are drawn one above the other, with bands behind everything and power laws as straight lines,
// which they are on double logarithmic axes. Names stand beside the ends of the curves rather than
// in a legend, where a reader would have to match a dozen colours.
#include "experiments/driver/figures/curves.hpp"

#include "experiments/driver/figures/chart.hpp"
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
#include <utility>

namespace tutti {

namespace {

constexpr double font = chart_font;
constexpr double name_pitch = 16; // of names beside the plot, in points
constexpr double mark_pitch = 14; // of rows of words above it

bool has_logarithmic_y(const CurveChart& chart) {
  return chart.logarithmic || !chart.growth_in.empty();
}

PlotAxis x_range(const CurveChart& chart, const Extent& x) {
  if (chart.axis == CurveAxis::names)
    return {-0.4, static_cast<double>(chart.x_names.size()) - 0.6};
  if (chart.x_from_least && x.largest > x.smallest)
    return {x.smallest, x.largest + 0.03 * (x.largest - x.smallest)};
  if (chart.axis == CurveAxis::linear) return {0, x.largest > 0 ? 1.03 * x.largest : 1};
  return {0.8 * x.smallest, 1.25 * x.largest, true};
}

PlotAxis y_range(const CurveChart& chart, const Extent& y) {
  if (chart.y_ends)
    return {(*chart.y_ends)[0], (*chart.y_ends)[1], has_logarithmic_y(chart), chart.y_tics};
  if (has_logarithmic_y(chart)) return {y.smallest / 1.5, y.largest * 1.5, true, chart.y_tics};
  return {0, y.largest > 0 ? 1.06 * y.largest : 1, false, chart.y_tics};
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
std::vector<AxisTic> value_tics(const CurveChart& chart, const PlotAxis& range, double plot_width) {
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
PlacedMarks placed_marks(const CurveChart& chart, const PlotAxis& x, double plot_width) {
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
  bool slanted = false; ///< names of the axis
};

CurveLayout curve_layout(const CurveChart& chart, const PlotAxis& x,
                         const std::vector<CurveName>& names) {
  constexpr double beside_names = 56;
  const int page = chart.heading.page;
  const double least_plot = std::min(300.0, 0.5 * page);
  double left = 74;
  if (!chart.y_tics.empty()) {
    std::vector<std::string> texts;
    for (const AxisTic& tic : chart.y_tics) texts.push_back(tic.text);
    left = 44 + longest_name(texts);
  }
  const int width = figure_width(left + least_plot + beside_names, longest_line(names), page);
  const double scale = text_scale(width, page);
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
          slanted};
}

// ---- axes

std::vector<AxisTic> x_tics(const CurveChart& chart, const Extent& x, const PlotAxis& range,
                            double plot_width) {
  std::vector<AxisTic> tics;
  if (chart.axis == CurveAxis::names) {
    for (const std::string& name : chart.x_names)
      tics.push_back({static_cast<double>(tics.size()), name});
    return tics;
  }
  if (chart.axis == CurveAxis::linear) return {};
  if (chart.axis != CurveAxis::bytes) tics = value_tics(chart, range, plot_width);
  if (tics.empty() && chart.axis != CurveAxis::tens) return power_tics(x, chart.axis, plot_width);
  return tics;
}

void paint_marks(Canvas& canvas, const CurveChart& chart, const CurveLayout& at, const Plot& plot) {
  for (std::size_t m = 0; m < chart.marks.size(); ++m) {
    const CurveMark& mark = chart.marks[m];
    const double up = mark.text.empty() ? 0 : 8 + mark_pitch * static_cast<double>(at.marks.row[m]);
    const Position end{plot.at_x(mark.x), at.frame.top - up};
    canvas.line(grid_layer, {end.x, at.frame.bottom}, end, 0x777777, 0.8, dotted);
    canvas.text(text_layer, end + Position{4, 0}, mark.text, least_font, note_ink, Anchor::left);
  }
}

// ---- what lies upon what

/// A curve in shares of the plot.
std::vector<PlotPoint> in_shares(const Curve& curve, const PlotAxis& x, const PlotAxis& y) {
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

Covering covering_of(const CurveChart& chart, const PlotAxis& x, const PlotAxis& y) {
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
  int colour;
  std::string_view dash;
  PointMark mark;
  double width = 2;
};

Pen pen_of(const CurveChart& chart, std::size_t c, std::size_t depth) {
  if (chart.curves[c].kind == CurveKind::bound) return {0x111111, "5 3", {}, 1.2};
  CurveLook look{c % palette_size, c / palette_size};
  if (chart.curves[c].look) {
    look = *chart.curves[c].look;
    look.dash += look.hue / palette_size;
  }
  Pen pen{series_colour(look.hue), dash_pattern(look.dash), point_mark(look.hue, look.dash)};
  if (chart.curves[c].kind == CurveKind::points) pen.mark.hollow = true;
  // What lies below shows in the gaps. Where dashes say which curves belong together, dots do this.
  const bool dashes_mean_kin = std::ranges::any_of(
      chart.curves, [](const Curve& curve) { return curve.look && curve.look->dash > 0; });
  if (depth > 0 && look.dash == 0) pen.dash = depth == 1 && !dashes_mean_kin ? "5 5" : "2 5";
  return pen;
}

/// Behind all curves: shaded, or bars where it has one interval or x counts names.
void paint_band(Canvas& canvas, const CurveChart& chart, const Curve& curve, const Plot& plot,
                int colour, double least) {
  std::vector<Position> around;
  for (const CurveInterval& each : curve.band) around.push_back(plot.at(each.x, each.high));
  const std::size_t count = around.size();
  for (std::size_t i = count; i-- > 0;)
    around.push_back(plot.at(curve.band[i].x, std::max(curve.band[i].low, least)));
  for (Position& each : around) each.y = plot.within(each.y);
  if (count > 1 && chart.axis != CurveAxis::names)
    return canvas.area(back_layer, around, colour, 0.22);
  for (std::size_t i = 0; i < count; ++i) {
    const Position high = around[i], low = around[2 * count - 1 - i], half{3, 0};
    canvas.line(back_layer, high, low, colour, 1.2);
    for (const Position end : {high, low})
      canvas.line(back_layer, end - half, end + half, colour, 1.2);
  }
}

std::size_t distinct_x(const Curve& curve) {
  std::set<double> x;
  for (const PlotPoint& point : curve.points) x.insert(point.x);
  return x.size();
}

/// Two sizes have a line through them whatever they are: no law.
std::optional<PowerLaw> law_of(const CurveChart& chart, const Curve& curve) {
  if (chart.growth_in.empty() || curve.kind != CurveKind::curve || distinct_x(curve) < 3)
    return std::nullopt;
  return fitted_power_law(curve.points);
}

void paint_curve(Canvas& canvas, int layer, const CurveChart& chart, const Curve& curve,
                 const Pen& pen, const std::optional<PowerLaw>& law, const Plot& plot) {
  std::vector<Position> points;
  for (const PlotPoint& point : curve.points) points.push_back(plot.at(point));
  // What has several values at one x (of several networks of this size, say) is no line.
  if (curve.kind != CurveKind::points &&
      (chart.steps || (!law && distinct_x(curve) == points.size())))
    for (const auto& part : plot.shown(chart.steps ? stairs(points) : points))
      canvas.line(layer, part, pen.colour, pen.width, pen.dash);
  if (curve.kind == CurveKind::bound) return;
  // Where a curve that holds its values ends is seen only by its last point.
  if (chart.steps) points.erase(points.begin(), points.end() - 1);
  for (const Position& point : points)
    if (plot.shows(point))
      paint_mark(canvas, layer, point, pen.mark,
                 curve.kind == CurveKind::points ? 4.2
                 : chart.steps                   ? 3.2
                                                 : 2.7,
                 pen.colour);
  if (!law) return;
  const auto on_law = [&](double x) {
    return plot.at(x, law->factor * std::pow(x, law->exponent));
  };
  for (const auto& part :
       plot.shown(std::array{on_law(curve.points.front().x), on_law(curve.points.back().x)}))
    canvas.line(layer, part, pen.colour, 1, "6 4");
}

// ---- names beside the plot

// A sample of the line, the name, and a thin line from where the curve ends; a curve that ends far
// from there has none, which would cross all others.
void paint_names(Canvas& canvas, const CurveChart& chart, const std::vector<CurveName>& names,
                 const std::vector<Pen>& pens, const Plot& plot, const CurveLayout& at) {
  const ChartFrame& frame = at.frame;
  std::vector<std::size_t> order;
  std::vector<Position> ends(names.size());
  std::vector<double> lines; // of each in order one or two
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (chart.curves[c].points.empty()) continue;
    order.push_back(c);
    ends[c] = plot.at(chart.curves[c].points.back());
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t c) { return ends[c].y; });
  for (const std::size_t c : order)
    lines.insert(lines.end(), names[c].words.empty() ? 1 : 2, ends[c].y);
  const std::vector<double> heights =
      spread_heights(lines, frame.scale * name_pitch, frame.top, frame.bottom);
  std::size_t line = 0;
  for (const std::size_t c : order) {
    const Pen& pen = pens[c];
    const Position sample{frame.right + 18, heights[line++]};
    if (ends[c].x > frame.left + 0.85 * (frame.right - frame.left) && plot.shows(ends[c]))
      canvas.line(grid_layer, ends[c], sample - Position{2, 0}, pen.colour, 0.6);
    const CurveKind kind = chart.curves[c].kind;
    if (kind != CurveKind::points)
      canvas.line(curve_layer, sample, sample + Position{26, 0}, pen.colour, pen.width, pen.dash);
    if (kind != CurveKind::bound)
      paint_mark(canvas, curve_layer + 1, sample + Position{13, 0}, pen.mark, 3.2, pen.colour);
    canvas.text(text_layer, sample + Position{32, 0}, names[c].name, font, ink, Anchor::left);
    if (!names[c].words.empty())
      canvas.text(text_layer, {sample.x + 32, heights[line++] - 2}, names[c].words, least_font,
                  0x666666, Anchor::left);
  }
}

std::vector<std::vector<std::string>> data_of(const CurveChart& chart) {
  const bool has_bands =
      std::ranges::any_of(chart.curves, [](const Curve& curve) { return !curve.band.empty(); });
  std::vector<std::vector<std::string>> rows{{"series", chart.x_label, chart.y_label}};
  if (has_bands) rows[0].insert(rows[0].end(), {"low", "high"});
  for (const Curve& curve : chart.curves)
    for (const PlotPoint& point : curve.points) {
      rows.push_back({curve.name,
                      chart.axis == CurveAxis::names
                          ? chart.x_names[static_cast<std::size_t>(point.x)]
                          : fmt::format("{}", point.x),
                      fmt::format("{:.6g}", point.y)});
      if (!has_bands) continue;
      const auto at = std::ranges::find(curve.band, point.x, &CurveInterval::x);
      const bool is_there = at != curve.band.end();
      rows.back().push_back(is_there ? fmt::format("{:.6g}", at->low) : "");
      rows.back().push_back(is_there ? fmt::format("{:.6g}", at->high) : "");
    }
  return rows;
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
  PlotAxis xs = x_range(chart, x);
  const PlotAxis ys = y_range(chart, y);
  const Covering covering = covering_of(chart, xs, ys);
  std::vector<CurveName> names;
  std::vector<Pen> pens;
  std::vector<std::optional<PowerLaw>> laws;
  for (std::size_t c = 0; c < chart.curves.size(); ++c) {
    const Curve& curve = chart.curves[c];
    pens.push_back(pen_of(chart, c, covering.depth[c]));
    laws.push_back(law_of(chart, curve));
    names.push_back(
        {laws[c] ? fmt::format("{}: {}^{:.2f}", curve.name, chart.growth_in, laws[c]->exponent)
                 : curve.name,
         covering.words[c]});
  }
  const CurveLayout at = curve_layout(chart, xs, names);
  const ChartFrame& frame = at.frame;
  xs.tics = x_tics(chart, x, xs, (frame.right - frame.left) / frame.scale);
  Canvas canvas = frame.canvas();
  const Plot plot(canvas, frame, xs, ys);
  plot.paint_x(false, font, at.slanted);
  plot.paint_y(true);
  plot.name_x(chart.x_label, frame.under_plot - 4);
  plot.name_y(chart.y_label);
  paint_marks(canvas, chart, at, plot);
  for (std::size_t c = 0; c < chart.curves.size(); ++c) {
    if (chart.curves[c].points.empty()) continue;
    paint_band(canvas, chart, chart.curves[c], plot, pens[c].colour, least);
    paint_curve(canvas, curve_layer + static_cast<int>(c), chart, chart.curves[c], pens[c], laws[c],
                plot);
  }
  paint_names(canvas, chart, names, pens, plot, at);
  return frame.figure(std::move(canvas), data_of(chart));
}

} // namespace tutti
