// A certificate of a bound is a set of nodes, a path, or prices of links. Drawn on the network it
// can be seen to be one: everything that the proof counts is in one colour, all else in grey. The
// parts are drawn as layers over each other, links first, so that nodes hide the ends of links.
#include "experiments/driver/figures/bound_drawing.hpp"

#include "experiments/driver/figures/node_places.hpp"
#include "sim/error.hpp"
#include "sim/time_model.hpp"
#include "synth/bounds/cuts.hpp"
#include "synth/bounds/least_times.hpp"
#include "synth/bounds/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
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

struct BoundData {
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

/// What of the network is drawn apart from the rest, and what it is.
struct Marks {
  std::vector<bool> nodes, links; ///< [node], [link]
  std::string_view node_words, link_words;
};

/// The links of a shortest path by latencies; the last node before the first.
void mark_path(const Topology& topology, NodeId from, NodeId to, Marks& marks) {
  bounds::LeastTimes times(topology, TimeModel{}, bounds::Direction::from_sources);
  times.set_size(Bytes{0});
  times.search(std::span(&from, 1));
  for (NodeId at = to; at != from;) {
    const auto links = topology.in_links(at);
    const auto before = std::ranges::find_if(links, [&](LinkId link) {
      return times.pass(topology.link(link).from) + topology.link(link).latency.ps ==
             times.pass(at);
    });
    if (before == links.end() || marks.links[before->value]) return; // latencies of 0 go in circles
    marks.links[before->value] = true;
    at = topology.link(*before).from;
    marks.nodes[at.value] = true;
  }
}

// By what the certificate has, the most telling first: a cut, a path, a partition, prices.
Marks marks_of(const Topology& topology, const Bound& bound) {
  Marks marks{std::vector<bool>(topology.node_count()), std::vector<bool>(topology.link_count()),
              "cut off", "links across"};
  const Certificate& proof = bound.proof;
  const auto mark_links = [&](auto counts) {
    for (std::uint32_t l = 0; l < topology.link_count(); ++l)
      marks.links[l] = counts(LinkId{l}, topology.link(LinkId{l}));
  };
  if (!bound.inside.empty()) {
    for (const NodeId node : bound.inside) marks.nodes[node.value] = true;
    const std::vector<bool>& entered = proof.inside.empty() ? marks.nodes : proof.inside;
    mark_links([&](LinkId, const Link& link) {
      return !entered[link.from.value] && entered[link.to.value];
    });
  } else if (proof.destination.valid()) {
    marks.node_words = "a shortest path";
    marks.link_words = "its links";
    marks.nodes[proof.destination.value] = true;
    if (proof.source.valid()) mark_path(topology, proof.source, proof.destination, marks);
  } else if (!proof.part_of.empty()) {
    marks.node_words = "";
    marks.link_words = "links that deliveries share";
    mark_links([&](LinkId, const Link& link) {
      return proof.part_of[link.from.value] != proof.part_of[link.to.value];
    });
  } else if (!proof.prices.empty()) {
    marks.node_words = "";
    marks.link_words = "links with a price";
    mark_links([&](LinkId id, const Link&) {
      const auto groups = topology.groups_of(id);
      return proof.prices[id.value] > 0 || std::ranges::any_of(groups, [&](std::uint32_t group) {
               return proof.prices[topology.link_count() + group] > 0;
             });
    });
  } else {
    marks.node_words = marks.link_words = "";
  }
  return marks;
}

BoundData drawing_of(const Topology& topology, const Marks& marks,
                     const std::vector<Place>& places) {
  const std::vector<bool>& inside = marks.nodes;
  BoundData drawing;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    const Place &a = places[link.from.value], &b = places[link.to.value];
    (marks.links[l] ? drawing.across : drawing.within) +=
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
std::string plot_of(const BoundData& drawing) {
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
                     10 + 2 * index, 1.5 + 17 * index, colour, 11 + 2 * index, gnuplot_quoted(text),
                     3.5 + 17 * index);
}

/// [node]; empty where the network has no servers: several groups of as many NPUs, two or more,
/// that faster links or a switch join.
std::vector<std::uint32_t> servers_of(const Topology& topology) {
  for (const bounds::Partition& partition : bounds::clusters(topology)) {
    std::vector<std::uint32_t> npus(partition.parts);
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n) ++npus[partition.part_of[n]];
    const std::uint32_t each = npus[partition.part_of[0]];
    if (each < 2 || each == topology.npu_count() ||
        std::ranges::any_of(npus, [&](std::uint32_t count) { return count != 0 && count != each; }))
      continue;
    std::vector<std::uint32_t> number(partition.parts, no_server), servers;
    std::uint32_t next = 0;
    for (std::uint32_t part = 0; part < partition.parts; ++part)
      if (npus[part] > 0) number[part] = next++;
    for (const std::uint32_t part : partition.part_of) servers.push_back(number[part]);
    return servers;
  }
  return {};
}

std::vector<Place> places_of(const Topology& topology) {
  if (is_small_mesh(topology)) return mesh_places(topology, mesh_pitch);
  const std::vector<std::uint32_t> servers = servers_of(topology);
  return servers.empty() ? nested_places(topology, circle_pitch)
                         : server_places(topology, servers, circle_pitch);
}

} // namespace

Figure bound_figure(const Heading& heading, const Topology& topology, const Bound& bound) {
  if (topology.node_count() > most_nodes)
    throw InputError(fmt::format("a bound on {} nodes can't be drawn, only on up to {}",
                                 topology.node_count(), most_nodes));
  std::vector<Place> places = places_of(topology);
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

  const Marks marks = marks_of(topology, bound);
  std::string legend;
  int entries = 0;
  const auto explain = [&](int colour, std::string_view words) {
    if (!words.empty()) legend += legend_entry(entries++, colour, words);
  };
  explain(inside_colour, marks.node_words);
  explain(outside_colour, marks.node_words.empty() ? "" : "the others");
  explain(0xd62728, marks.link_words);
  const std::string script =
      legend +
      fmt::format("unset border\nunset tics\nunset key\n"
                  "set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1\n"
                  "set bmargin at screen 0\nset xrange [0:{}]\nset yrange [{}:0]\n",
                  width, height) +
      plot_of(drawing_of(topology, marks, places));
  return {figure_style(heading) + script, width, height};
}

} // namespace tutti
