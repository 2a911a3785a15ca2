// What a run did to links, as colours, widths and a legend. Values are quantized to as many levels
// as there are layers, so that hot links lie above cool ones and links have few styles.
#include "experiments/driver/figures/network_figure.hpp"

#include "experiments/driver/figures/figure_frame.hpp"
#include "experiments/driver/figures/network_painting.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/records/table.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

namespace {

constexpr int levels_of_links = 48;
constexpr int frame_layer = FigureFrame::layer, pale_ink = FigureFrame::pale_ink;
constexpr double side_margin = FigureFrame::margin, legend_font = 9.5;

// ---- what is dead

void mark_dead(const Topology& topology, const Layout& layout, const DeadParts& dead,
               std::vector<LinkPaint>& links, std::vector<NodePaint>& nodes) {
  std::set<NodeId> dead_nodes(dead.nodes.begin(), dead.nodes.end());
  std::set<LinkId> dead_links(dead.links.begin(), dead.links.end());
  for (const NodeId node : dead.nodes) {
    dead_links.insert(topology.out_links(node).begin(), topology.out_links(node).end());
    dead_links.insert(topology.in_links(node).begin(), topology.in_links(node).end());
  }
  // What stands for several is dead only where all of them are.
  for (std::size_t n = 0; n < layout.nodes.size(); ++n)
    nodes[n].is_dead = std::ranges::all_of(layout.nodes[n].nodes,
                                           [&](NodeId node) { return dead_nodes.contains(node); });
  for (std::size_t l = 0; l < layout.links.size(); ++l)
    links[l].is_dead = std::ranges::all_of(layout.links[l].links,
                                           [&](LinkId link) { return dead_links.contains(link); });
}

// ---- values

/// [layout link]: of those that it stands for, the mean weighted by bandwidth, or the sum.
std::vector<double> drawn_values(const Topology& topology, const Layout& layout,
                                 const LinkValues& values) {
  std::vector<double> result;
  for (const LayoutLink& link : layout.links) {
    double sum = 0, weights = 0;
    for (const LinkId id : link.links) {
      const bool is_mean = values.quantity == LinkQuantity::utilisation;
      const double weight =
          is_mean ? static_cast<double>(topology.link(id).bandwidth.bytes_per_second) : 1;
      sum += weight * values.links[id.value];
      weights += weight;
    }
    result.push_back(values.quantity == LinkQuantity::utilisation ? sum / weights : sum);
  }
  return result;
}

LinkPaint paint_of(double value, double end, double lane) {
  const double share = std::clamp(value / end, 0.0, 1.0);
  if (value <= 0) return {idle_colour, std::clamp(0.2 * lane, 0.4, 0.9), 0, false, false};
  const int level = 1 + static_cast<int>(std::lround(share * (levels_of_links - 1)));
  const double even = (level - 1.0) / (levels_of_links - 1); // as the layer has it
  return {amount_colour(even), lane * (0.26 + 0.62 * even), level, false, false};
}

/// Marks the hottest link where it is alone, or one of few; what the note says of it. It is so
/// among all links of the network, those within a node of the picture too.
std::string mark_hottest(const Topology& topology, const Layout& layout, const LinkValues& values,
                         std::vector<LinkPaint>& paints) {
  const auto is_dead = [&](std::uint32_t link) {
    const std::uint32_t drawn = layout.link_of[link];
    return drawn != UINT32_MAX && paints[drawn].is_dead;
  };
  double most = 0;
  std::size_t alive = 0;
  for (std::uint32_t l = 0; l < values.links.size(); ++l) {
    if (is_dead(l)) continue;
    ++alive;
    most = std::max(most, values.links[l]);
  }
  if (most <= 0)
    return alive < values.links.size() ? "no link that is left carries anything"
                                       : "no link carries anything";
  std::vector<LinkId> hottest;
  for (std::uint32_t l = 0; l < values.links.size(); ++l)
    if (!is_dead(l) && values.links[l] >= most * (1 - 1e-9)) hottest.push_back(LinkId{l});
  const auto words = [&](LinkId link) {
    return fmt::format("{} > {}", topology.node(topology.link(link).from).name,
                       topology.node(topology.link(link).to).name);
  };
  const std::string amount = link_value_text(most, link_scale(values.quantity, most));
  const bool has_bundles = std::ranges::any_of(
      layout.links, [](const LayoutLink& link) { return link.links.size() > 1; });
  const std::string bundles = !has_bundles ? ""
                              : values.quantity == LinkQuantity::utilisation
                                  ? "; of links drawn as one the mean"
                                  : "; of links drawn as one the sum";
  constexpr std::size_t most_marked = 2;
  if (hottest.size() == alive) return fmt::format("all {} links have {}{}", alive, amount, bundles);
  if (hottest.size() > most_marked)
    return fmt::format("hottest: {} and {} more links, {}{}", words(hottest[0]), hottest.size() - 1,
                       amount, bundles);
  std::string names;
  bool are_drawn = true;
  for (const LinkId link : hottest) {
    const std::uint32_t drawn = layout.link_of[link.value];
    are_drawn = are_drawn && drawn != UINT32_MAX;
    if (drawn != UINT32_MAX) paints[drawn].is_marked = true;
    names += (names.empty() ? "" : ", ") + words(link);
  }
  return fmt::format("hottest{}: {}, {}{}", are_drawn ? " (outlined)" : "", names, amount, bundles);
}

std::string both_notes(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "; " + b;
}

// ---- legends

constexpr double legend_line = 15;

constexpr double amount_legend_height = 42;

/// A wedge of the scale's colours that grows as links do, with numbers and the unit; before it what
/// is idle, where something may be.
void paint_amounts(Canvas& canvas, Position corner, const LinkScale& scale, double end, double lane,
                   bool may_be_idle = true) {
  constexpr double length = 170;
  constexpr int steps = levels_of_links;
  const double x = corner.x + (may_be_idle ? 38 : 4), middle = corner.y + 18;
  canvas.text(frame_layer, {corner.x, corner.y + 4},
              fmt::format("{} [{}]", scale.label, scale.unit), legend_font, name_ink, Anchor::left);
  if (may_be_idle) {
    canvas.line(frame_layer, {corner.x, middle}, {corner.x + 20, middle}, idle_colour, 1.2);
    canvas.text(frame_layer, {corner.x + 10, middle + 13}, "idle", legend_font - 1, pale_ink);
  }
  const double widest = std::max(lane, 3.6);
  for (int i = 0; i < steps; ++i) {
    const double a = x + length * i / steps, b = x + length * (i + 1) / steps + 0.5;
    const double half = 0.9 * widest * (0.26 + 0.62 * i / (steps - 1));
    canvas.rectangle(frame_layer, {a, middle - half}, {b, middle + half},
                     amount_colour(static_cast<double>(i) / (steps - 1)));
  }
  for (const AxisTic& tic : even_tics(0, end / scale.divisor, 5)) {
    const double at = x + length * tic.at * scale.divisor / end;
    canvas.line(frame_layer, {at, middle + 5}, {at, middle + 7.5}, pale_ink, 0.8);
    canvas.text(frame_layer, {at, middle + 13}, tic.text, legend_font - 1, pale_ink);
  }
}

/// "50 GB/s" of "50GB/s".
std::string spaced(std::string text) {
  const std::size_t unit = text.find_first_not_of("0123456789.");
  return unit == std::string::npos || text[unit] == ' ' ? text : text.insert(unit, " ");
}

/// A kind of links, as the network alone is drawn.
struct LinkKind {
  Bandwidth bandwidth;
  Time latency;
  std::size_t count = 0;
  bool operator<(const LinkKind& other) const { // fastest first
    return bandwidth.bytes_per_second != other.bandwidth.bytes_per_second
               ? bandwidth.bytes_per_second > other.bandwidth.bytes_per_second
               : latency < other.latency;
  }
};

/// Kind of a drawn link: that of the fastest of the links that it stands for.
LinkKind kind_of_link(const Topology& topology, const LayoutLink& link) {
  LinkKind kind{Bandwidth{0}, Time{}, link.links.size()};
  for (const LinkId id : link.links) {
    const Link& one = topology.link(id);
    const LinkKind other{one.bandwidth, one.latency, link.links.size()};
    if (id == link.links.front() || other < kind) kind = other;
  }
  return kind;
}

/// Ascending; each once, with how many there are.
std::vector<LinkKind> kinds_of_links(const Topology& topology, const Layout& layout) {
  std::vector<LinkKind> kinds;
  for (const LayoutLink& link : layout.links) {
    const LinkKind kind = kind_of_link(topology, link);
    const auto at = std::ranges::lower_bound(kinds, kind, std::less<>());
    if (at == kinds.end() || kind < *at)
      kinds.insert(at, kind);
    else
      at->count += kind.count;
  }
  return kinds;
}

/// A sample and its words.
struct LegendEntry {
  std::string text;
  LinkPaint line;
  int node = -1; ///< a NodeClass instead of a line
};

/// Node classes that a legend must name: all where there is more than one.
std::vector<LegendEntry> class_entries(const Layout& layout) {
  constexpr std::array names{"NPU", "switch", "NIC", "CPU", "memory", "several nodes"};
  std::set<NodeClass> classes;
  for (const LayoutNode& node : layout.nodes) classes.insert(node.kind);
  std::vector<LegendEntry> entries;
  if (classes.size() > 1 || classes.contains(NodeClass::many))
    for (const NodeClass each : classes)
      entries.push_back({names[static_cast<std::size_t>(each)], {}, static_cast<int>(each)});
  return entries;
}

/// Entries in rows of the given width; returns the height.
double paint_entries(Canvas* canvas, std::span<const LegendEntry> entries, Position corner,
                     double width) {
  double x = 0, y = 8;
  for (const LegendEntry& entry : entries) {
    const double sample = entry.node < 0 ? 24 : 12;
    const double own = sample + 5 + label_width(entry.text, 0.93 * legend_font) + 16;
    if (x > 0 && x + own - 16 > width) {
      x = 0;
      y += legend_line;
    }
    const Position at = corner + Position{x, y};
    if (canvas != nullptr) {
      if (entry.node < 0) {
        canvas->line(frame_layer, at, at + Position{sample, 0}, entry.line.colour, entry.line.width,
                     entry.line.is_dead ? dotted : solid);
        if (entry.line.is_dead)
          paint_cross(*canvas, frame_layer + 1, at + Position{sample / 2, 0}, 3.2);
      } else {
        Layout one;
        one.nodes.push_back({{5, 0}, 5, static_cast<NodeClass>(entry.node), {}, {}});
        paint_network(*canvas, one, {}, plain_nodes(one), at);
      }
      canvas->text(frame_layer, at + Position{sample + 5, 0}, entry.text, legend_font, name_ink,
                   Anchor::left);
    }
    x += own;
  }
  return entries.empty() ? 0 : y + 14;
}

bool has_dead(std::span<const LinkPaint> links, std::span<const NodePaint> nodes) {
  return std::ranges::any_of(links, &LinkPaint::is_dead) ||
         std::ranges::any_of(nodes, &NodePaint::is_dead);
}

LegendEntry dead_entry() {
  LegendEntry entry{"dead", {}, -1};
  entry.line = {0x8a9099, 1.1, 0, true, false};
  return entry;
}

/// Lines become thinner where they would cover much of the page.
void thin_out(const Layout& layout, std::vector<LinkPaint>& paints) {
  double covered = 0;
  for (std::size_t l = 0; l < paints.size(); ++l)
    for (const std::vector<Position>& stroke : layout.links[l].strokes)
      covered += paints[l].width * stroke_length(stroke);
  constexpr double most = 0.22;
  const double factor = most * layout.width * layout.height / std::max(covered, 1.0);
  if (factor >= 1) return;
  for (LinkPaint& paint : paints) paint.width = std::max(0.22, factor * paint.width);
}

/// A row for each link that is drawn, with the middles of its ends.
std::vector<std::vector<std::string>> data_of(const Topology& topology, const Layout& layout,
                                              std::span<const double> values,
                                              const LinkScale& scale) {
  std::vector<std::vector<std::string>> rows{
      {"from", "to", "x", "y", "to x", "to y", fmt::format("{} [{}]", scale.label, scale.unit)}};
  for (std::size_t l = 0; l < layout.links.size(); ++l) {
    const LayoutNode& from = layout.nodes[layout.links[l].from];
    const LayoutNode& to = layout.nodes[layout.links[l].to];
    rows.push_back({topology.node(from.nodes.front()).name, topology.node(to.nodes.front()).name});
    for (const double each : {from.at.x, from.at.y, to.at.x, to.at.y, values[l] / scale.divisor})
      rows.back().push_back(fmt::format("{:.4g}", each));
  }
  return rows;
}

/// The layout in the middle of the frame, and the legend below it.
template <typename PaintLegend>
Figure framed_network(const Heading& heading, const Layout& layout,
                      std::span<const LinkPaint> links, std::span<const NodePaint> nodes,
                      double legend_height, std::vector<std::vector<std::string>> data,
                      PaintLegend paint_legend) {
  const double width = FigureFrame::width_for(heading, layout.width);
  const FigureFrame frame(heading, width);
  Canvas canvas;
  paint_network(canvas, layout, links, nodes, {(width - layout.width) / 2, frame.top()});
  paint_legend(canvas, Position{side_margin, frame.top() + layout.height + 8},
               width - 2 * side_margin);
  const double picture = layout.height + 8 + legend_height;
  frame.paint(canvas, picture);
  Figure figure = canvas.figure(width, frame.height(picture));
  figure.data = std::move(data);
  return figure;
}

} // namespace

Figure network_figure(const Heading& heading, const Topology& topology, const Layout& layout,
                      const DeadParts& dead) {
  const std::vector<LinkKind> kinds = kinds_of_links(topology, layout);
  const LinkScale scale{"bandwidth", "GB/s", 1e9};
  std::vector<double> bandwidths;
  for (const LayoutLink& link : layout.links)
    bandwidths.push_back(
        static_cast<double>(kind_of_link(topology, link).bandwidth.bytes_per_second));
  constexpr std::size_t most_kinds = 7;
  if (kinds.size() > most_kinds) { // too many to name: by bandwidth alone, on the scale of amounts
    std::vector<LinkPaint> links;
    const double most = std::ranges::max(bandwidths);
    for (const double each : bandwidths) links.push_back(paint_of(each, most, layout.lane));
    thin_out(layout, links);
    std::vector<NodePaint> nodes = plain_nodes(layout);
    mark_dead(topology, layout, dead, links, nodes);
    std::vector<LegendEntry> entries = class_entries(layout);
    if (has_dead(links, nodes)) entries.push_back(dead_entry());
    const double width = FigureFrame::width_for(heading, layout.width) - 2 * side_margin;
    const double rows = paint_entries(nullptr, entries, {}, width);
    const auto [least, longest] = std::ranges::minmax_element(kinds, {}, &LinkKind::latency);
    const std::string latencies =
        least->latency == longest->latency
            ? "latency " + short_text(least->latency)
            : fmt::format("latencies {} to {}", short_text(least->latency),
                          short_text(longest->latency));
    return framed_network(
        {heading.title, both_notes(both_notes(heading.note, latencies), layout.note)}, layout,
        links, nodes, amount_legend_height + rows, data_of(topology, layout, bandwidths, scale),
        [&](Canvas& canvas, Position corner, double) {
          paint_entries(&canvas, entries, corner, width);
          paint_amounts(canvas, corner + Position{0, rows}, scale, most, layout.lane, false);
        });
  }
  std::vector<LinkPaint> by_kind;
  std::vector<LegendEntry> entries = class_entries(layout);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const double share = static_cast<double>(kinds[k].bandwidth.bytes_per_second) /
                         static_cast<double>(kinds[0].bandwidth.bytes_per_second);
    const double width = layout.lane * (0.3 + 0.36 * std::sqrt(share));
    by_kind.push_back({kind_colour(k), width, static_cast<int>(kinds.size() - k), false, false});
    LegendEntry entry{fmt::format("{}, {} ({} link{})", spaced(short_text(kinds[k].bandwidth)),
                                  spaced(to_text(kinds[k].latency)), kinds[k].count,
                                  kinds[k].count == 1 ? "" : "s"),
                      by_kind.back(), -1};
    entry.line.width = std::max(entry.line.width, 1.6);
    entries.push_back(std::move(entry));
  }
  std::vector<LinkPaint> links;
  for (const LayoutLink& link : layout.links) {
    const auto kind = std::ranges::lower_bound(kinds, kind_of_link(topology, link), std::less<>());
    links.push_back(by_kind[static_cast<std::size_t>(kind - kinds.begin())]);
  }
  thin_out(layout, links);
  std::vector<NodePaint> nodes = plain_nodes(layout);
  mark_dead(topology, layout, dead, links, nodes);
  if (has_dead(links, nodes)) entries.push_back(dead_entry());
  const double width = FigureFrame::width_for(heading, layout.width) - 2 * side_margin;
  return framed_network({heading.title, both_notes(heading.note, layout.note)}, layout, links,
                        nodes, paint_entries(nullptr, entries, {}, width),
                        data_of(topology, layout, bandwidths, scale),
                        [&](Canvas& canvas, Position corner, double) {
                          paint_entries(&canvas, entries, corner, width);
                        });
}

Figure network_figure(const Heading& heading, const Topology& topology, const Layout& layout,
                      const LinkValues& values, const DeadParts& dead) {
  const std::vector<double> drawn = drawn_values(topology, layout, values);
  const double largest = drawn.empty() ? 0 : *std::ranges::max_element(drawn);
  const double end = scale_end(values.quantity, largest);
  const LinkScale scale = link_scale(values.quantity, largest);
  std::vector<LinkPaint> links;
  for (const double value : drawn) links.push_back(paint_of(value, end, layout.lane));
  thin_out(layout, links);
  std::vector<NodePaint> nodes = plain_nodes(layout);
  mark_dead(topology, layout, dead, links, nodes);
  const std::string hottest = mark_hottest(topology, layout, values, links);
  std::vector<LegendEntry> entries = class_entries(layout);
  if (has_dead(links, nodes)) entries.push_back(dead_entry());
  const double width = FigureFrame::width_for(heading, layout.width) - 2 * side_margin;
  const double rows = paint_entries(nullptr, entries, {}, width);
  return framed_network(
      {heading.title, both_notes(both_notes(hottest, heading.note), layout.note)}, layout, links,
      nodes, amount_legend_height + rows, data_of(topology, layout, drawn, scale),
      [&](Canvas& canvas, Position corner, double) {
        paint_entries(&canvas, entries, corner, width);
        paint_amounts(canvas, corner + Position{0, rows}, scale, end, layout.lane);
      });
}

Figure steps_figure(const Heading& heading, const Topology& topology, const Layout& layout,
                    std::span<const LinkValues> steps) {
  if (steps.empty()) throw InputError("no picture: a schedule without steps");
  constexpr double panel_width = 182, panel_gap = 14, panel_title = 20;
  const double factor = std::min(1.0, panel_width / layout.width);
  const Layout small = scaled(layout, factor);
  const std::size_t columns = std::min<std::size_t>(3, steps.size());
  const std::size_t rows = (steps.size() + columns - 1) / columns;
  double largest = 0;
  std::vector<std::vector<double>> drawn;
  for (const LinkValues& step : steps) {
    drawn.push_back(drawn_values(topology, layout, step));
    for (const double value : drawn.back()) largest = std::max(largest, value);
  }
  const LinkQuantity quantity = steps.front().quantity;
  const double end = scale_end(quantity, largest);
  const double panel = std::max(small.width, 120.0);
  const double width = FigureFrame::width_for(
      heading, static_cast<double>(columns) * (panel + panel_gap) - panel_gap);
  const FigureFrame frame({heading.title, both_notes(heading.note, layout.note)}, width);
  const double row_height = small.height + panel_title + panel_gap;
  Canvas canvas;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::size_t column = s % columns, row = s / columns;
    const Position corner{side_margin + static_cast<double>(column) * (panel + panel_gap),
                          frame.top() + static_cast<double>(row) * row_height};
    canvas.text(frame_layer, corner + Position{0, 8}, steps[s].title, legend_font, name_ink,
                Anchor::left);
    std::vector<LinkPaint> links;
    for (const double value : drawn[s]) links.push_back(paint_of(value, end, small.lane));
    thin_out(small, links);
    paint_network(canvas, small, links, plain_nodes(small),
                  corner + Position{(panel - small.width) / 2, panel_title});
  }
  const double panels = static_cast<double>(rows) * row_height;
  LinkScale scale = link_scale(quantity, largest);
  if (quantity == LinkQuantity::utilisation)
    scale.label = "share of the interval that links are busy";
  paint_amounts(canvas, {side_margin, frame.top() + panels}, scale, end, small.lane);
  const double picture = panels + amount_legend_height;
  frame.paint(canvas, picture);
  return canvas.figure(width, frame.height(picture));
}

Figure network_figure(const Heading& heading, const Topology& topology, const Report& report,
                      LinkQuantity quantity, const DeadParts& dead) {
  return network_figure(heading, topology, layout_of(topology), link_values(report, quantity),
                        dead);
}

Figure steps_figure(const Heading& heading, const Topology& topology, const Report& report) {
  return steps_figure(heading, topology, layout_of(topology), busy_shares(topology, report));
}

} // namespace tutti
