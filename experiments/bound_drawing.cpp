#include "experiments/bound_drawing.hpp"

#include "experiments/data_text.hpp"
#include "experiments/node_places.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

namespace {

constexpr std::uint32_t most_nodes = 128;

// Lengths in points.
constexpr double disc = 11, square = 7, mesh_pitch = 64, circle_pitch = 44;
constexpr double margin = 48, top = 64, bottom = 84;

constexpr int inside_colour = 0xf28e2b, outside_colour = 0x4e79a7;

struct Drawing {
  std::string across, within; ///< gnuplot's data: links
  std::string npus, others, npu_names, other_names;
};

/// "7" of "npu7".
std::string short_name(const Node& node) {
  constexpr std::string_view prefix = "npu";
  return node.name.starts_with(prefix) && node.name.size() > prefix.size()
             ? node.name.substr(prefix.size())
             : node.name;
}

Drawing drawing_of(const Topology& topology, const Bound& cut, const std::vector<Place>& places) {
  std::vector<bool> inside(topology.node_count());
  for (const NodeId node : cut.inside) inside[node.value] = true;
  Drawing drawing;
  for (const Link& link : topology.links()) {
    const Place &a = places[link.from.value], &b = places[link.to.value];
    (inside[link.from.value] != inside[link.to.value] ? drawing.across : drawing.within) +=
        fmt::format("{:.1f} {:.1f} {:.1f} {:.1f}\n", a.x, a.y, b.x - a.x, b.y - a.y);
  }
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const Node& node = topology.node(NodeId{n});
    const Place& at = places[n];
    const int colour = inside[n] ? inside_colour : outside_colour;
    const bool npu = node.kind == NodeKind::npu;
    if (npu)
      drawing.npus += fmt::format("{:.1f} {:.1f} {} {}\n", at.x, at.y, disc, colour);
    else
      drawing.others += fmt::format("{:.1f} {:.1f} {} {} {}\n", at.x, at.y, square, square, colour);
    (npu ? drawing.npu_names : drawing.other_names) += fmt::format(
        "{:.1f} {:.1f} {}\n", at.x, npu ? at.y : at.y + square + 6, data_text(short_name(node)));
  }
  return drawing;
}

/// Data blocks, and one plot of those that aren't empty: gnuplot has no layers without points.
std::string plot_of(const Drawing& drawing) {
  struct Layer {
    std::string_view name;
    const std::string& data;
    std::string_view style;
  };
  const std::array layers{
      Layer{"within", drawing.within,
            "1:2:3:4 with vectors nohead linewidth 1 linecolor rgb '#c8c8c8'"},
      Layer{"across", drawing.across,
            "1:2:3:4 with vectors nohead linewidth 2.4 linecolor rgb '#d62728'"},
      Layer{"others", drawing.others,
            "1:2:3:4:5 with boxxyerror fillstyle solid border rgb '#ffffff' linewidth 0.8 "
            "linecolor rgb variable"},
      Layer{"npus", drawing.npus,
            "1:2:3:4 with circles fillstyle solid noborder linecolor rgb variable"},
      Layer{"npu_names", drawing.npu_names,
            "1:2:3 with labels font 'sans-serif,8' textcolor rgb '#ffffff'"},
      Layer{"other_names", drawing.other_names,
            "1:2:3 with labels font 'sans-serif,7' textcolor rgb '#333333'"}};
  std::string blocks, plots;
  for (const Layer& layer : layers) {
    if (layer.data.empty()) continue;
    blocks += fmt::format("${} << END\n{}END\n", layer.name, layer.data);
    plots += fmt::format("{}${} using {}", plots.empty() ? "plot " : ", \\\n     ", layer.name,
                         layer.style);
  }
  return blocks + plots + "\n";
}

/// A square of a colour and what it means, at the lower left.
std::string legend_entry(int index, int colour, std::string_view text) {
  return fmt::format("set label {} '\xe2\x96\xa0' at screen 0, screen 0 offset character {}, "
                     "character 2.6 left font 'sans-serif,14' textcolor rgb '#{:06x}'\n"
                     "set label {} {} at screen 0, screen 0 offset character {}, character 2.6 "
                     "left font 'sans-serif,10' textcolor rgb '#444444'\n",
                     10 + 2 * index, 1.5 + 17 * index, colour, 11 + 2 * index, quoted(text),
                     3.5 + 17 * index);
}

} // namespace

const Bound& best_cut(std::span<const Bound> bounds) {
  const Bound* best = nullptr;
  for (const Bound& bound : bounds)
    if (!bound.inside.empty() && (best == nullptr || bound.time > best->time)) best = &bound;
  if (best == nullptr) throw InputError("no bound here cuts nodes off: there is nothing to draw");
  return *best;
}

Figure cut_figure(const Heading& heading, const Topology& topology, const Bound& cut) {
  assert(!cut.inside.empty());
  if (topology.node_count() > most_nodes)
    throw InputError(fmt::format("a bound on {} nodes can't be drawn, only on up to {}",
                                 topology.node_count(), most_nodes));
  std::vector<Place> places = is_small_mesh(topology) ? mesh_places(topology, mesh_pitch)
                                                      : nested_places(topology, circle_pitch);
  Place least = places.front(), most = places.front();
  for (const Place& place : places) {
    least = {std::min(least.x, place.x), std::min(least.y, place.y)};
    most = {std::max(most.x, place.x), std::max(most.y, place.y)};
  }
  constexpr int legend_width = 430;
  const int width = std::max(
      {static_cast<int>(most.x - least.x + 2 * margin), heading_width(heading), legend_width});
  const int height = static_cast<int>(most.y - least.y + top + bottom);
  for (Place& place : places)
    place = {place.x - (least.x + most.x) / 2 + width / 2.0, place.y - least.y + top};

  const std::string script =
      legend_entry(0, inside_colour, "cut off") + legend_entry(1, outside_colour, "the others") +
      legend_entry(2, 0xd62728, "links across") +
      fmt::format("unset border\nunset tics\nunset key\n"
                  "set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1\n"
                  "set bmargin at screen 0\nset xrange [0:{}]\nset yrange [{}:0]\n",
                  width, height) +
      plot_of(drawing_of(topology, cut, places));
  return {figure_style(heading) + script, width, height};
}

} // namespace tutti
