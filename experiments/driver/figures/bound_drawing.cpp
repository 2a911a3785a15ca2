// A certificate of a bound is a set of nodes, a path, or prices of links. Drawn on the network it
// can be seen to be one: everything that the proof counts is in one colour, all else in grey.
#include "experiments/driver/figures/bound_drawing.hpp"

#include "experiments/driver/figures/canvas.hpp"
#include "experiments/driver/figures/figure_frame.hpp"
#include "experiments/driver/figures/layout/layout.hpp"
#include "experiments/driver/figures/network_painting.hpp"
#include "sim/error.hpp"
#include "sim/time_model.hpp"
#include "synth/bounds/least_times.hpp"

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

constexpr std::uint32_t most_nodes = 1024;
constexpr int inside_colour = 0xf28e2b, outside_colour = 0x4e79a7, cut_colour = 0xd62728,
              other_colour = 0xc8c8c8;

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

/// A square of a colour, or a line, and what it means.
struct BoundEntry {
  int colour;
  std::string_view words;
  bool is_line = false;
};

constexpr double entry_height = 16, entry_font = 9.5;

void paint_bound_legend(Canvas& canvas, std::span<const BoundEntry> entries, Position at) {
  constexpr int layer = 100;
  for (const BoundEntry& entry : entries) {
    if (entry.is_line)
      canvas.line(layer, at, {at.x + 12, at.y}, entry.colour, 2.4);
    else
      canvas.square(layer, {at.x + 6, at.y}, 5, entry.colour, entry.colour);
    canvas.text(layer, {at.x + 18, at.y}, entry.words, entry_font, 0x222222, Anchor::left);
    at.x += 18 + label_width(entry.words, 0.93 * entry_font) + 16;
  }
}

} // namespace

Figure bound_figure(const Heading& heading, const Topology& topology, const Bound& bound) {
  if (topology.node_count() > most_nodes)
    throw InputError(fmt::format("a bound on {} nodes can't be drawn, only on up to {}",
                                 topology.node_count(), most_nodes));
  const Layout layout = layout_of(topology);
  if (layout.nodes.size() != topology.node_count())
    throw InputError(fmt::format("a bound on {} can't be drawn: a page hasn't room for each of its "
                                 "{} nodes",
                                 topology.name(), topology.node_count()));
  const Marks marks = marks_of(topology, bound);
  std::vector<LinkPaint> links;
  for (const LayoutLink& link : layout.links) {
    const bool counts = marks.links[link.links.front().value];
    links.push_back({counts ? cut_colour : other_colour, layout.lane * (counts ? 0.8 : 0.36),
                     counts ? 1 : 0, false, false});
  }
  std::vector<NodePaint> nodes = plain_nodes(layout);
  for (std::size_t n = 0; n < nodes.size() && !marks.node_words.empty(); ++n) {
    const LayoutNode& node = layout.nodes[n];
    const int colour = marks.nodes[node.nodes.front().value] ? inside_colour : outside_colour;
    nodes[n] = {colour, 0xffffff, colour == inside_colour ? 0x111111 : 0xffffff, false};
  }
  std::vector<BoundEntry> entries;
  if (!marks.node_words.empty()) {
    entries.push_back({inside_colour, marks.node_words});
    entries.push_back({outside_colour, "the others"});
  }
  if (!marks.link_words.empty()) entries.push_back({cut_colour, marks.link_words, true});

  const double width = FigureFrame::width_for(heading, layout.width);
  std::string note = heading.note;
  if (!layout.note.empty()) note += (note.empty() ? "" : "; ") + layout.note;
  const FigureFrame frame({heading.title, note}, width);
  Canvas canvas;
  paint_network(canvas, layout, links, nodes, {(width - layout.width) / 2, frame.top()});
  paint_bound_legend(canvas, entries, {16, frame.top() + layout.height + 16});
  const double picture = layout.height + (entries.empty() ? 4 : entry_height + 10);
  frame.paint(canvas, picture);
  return canvas.figure(width, frame.height(picture));
}

} // namespace tutti
