// From a network to places: the first arrangement that fits its structure, from the most particular
// to the one that takes anything. Where none does, or the network is larger than a page, nodes are
// joined and it is tried again.
#include "experiments/driver/figures/layout/layout.hpp"

#include "experiments/driver/figures/layout/aggregation.hpp"
#include "experiments/driver/figures/layout/arrangement.hpp"
#include "experiments/driver/figures/layout/labels.hpp"
#include "experiments/driver/figures/layout/lines.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

namespace tutti {

using namespace layouts;

namespace {

constexpr std::uint32_t most_npus = 1024;
constexpr std::size_t node_classes = 6;

/// In the order in which they are tried.
constexpr std::array<Arrange, 9> arrangements{as_ring, as_hypercube, as_grid,   as_star,  as_groups,
                                              as_tree, as_servers,   as_circle, by_forces};

NodeClass class_of(const Node& node, std::size_t members) {
  if (members > 1 && node.kind == NodeKind::npu) return NodeClass::many;
  switch (node.kind) {
  case NodeKind::npu: return NodeClass::npu;
  case NodeKind::memory: return NodeClass::memory;
  case NodeKind::switching: break;
  }
  for (const std::string_view word : split(node.name, '.')) { // "cpu0", "server1.nic0"
    if (word.starts_with("cpu")) return NodeClass::cpu;
    if (word.starts_with("nic")) return NodeClass::nic;
  }
  return NodeClass::switching;
}

/// So that all lies just within (0, 0) and the layout's corner.
void move_to_origin(Layout& layout) {
  constexpr double infinite = std::numeric_limits<double>::infinity(), margin = 3;
  Position least{infinite, infinite}, most{-infinite, -infinite};
  const auto add = [&](Position place) {
    least = {std::min(least.x, place.x), std::min(least.y, place.y)};
    most = {std::max(most.x, place.x), std::max(most.y, place.y)};
  };
  const auto add_label = [&](const LayoutLabel& label) {
    if (label.text.empty()) return;
    add(box_of(label).least);
    add(box_of(label).most);
  };
  for (const LayoutNode& node : layout.nodes) {
    add(node.at - Position{node.radius, node.radius});
    add(node.at + Position{node.radius, node.radius});
    add_label(node.label);
  }
  for (const LayoutBox& box : layout.boxes) {
    for (const Position& corner : box.outline) add(corner);
    add_label(box.label);
  }
  for (const LayoutLink& link : layout.links)
    for (const std::vector<Position>& stroke : link.strokes)
      for (const Position& place : stroke) add(place);
  const Position by = Position{margin, margin} - least;
  for (LayoutNode& node : layout.nodes) {
    node.at = node.at + by;
    node.label.at = node.label.at + by;
  }
  for (LayoutBox& box : layout.boxes) {
    for (Position& corner : box.outline) corner = corner + by;
    box.label.at = box.label.at + by;
  }
  for (LayoutLink& link : layout.links)
    for (std::vector<Position>& stroke : link.strokes)
      for (Position& place : stroke) place = place + by;
  layout.width = most.x - least.x + 2 * margin;
  layout.height = most.y - least.y + 2 * margin;
}

/// By ends and places, so that nothing depends on how links are numbered.
void sort_links(Layout& layout) {
  const auto key = [](const LayoutLink& link) {
    const Position begin = link.strokes.front().front();
    return std::tuple(link.from, link.to, begin.x, begin.y);
  };
  std::ranges::sort(layout.links, {}, key);
  for (std::uint32_t l = 0; l < layout.links.size(); ++l)
    for (const LinkId link : layout.links[l].links) layout.link_of[link.value] = l;
}

/// What several nodes drawn as one have for a note.
std::string whole_note(const Aggregate& aggregate, const std::string& of_arrangement) {
  if (aggregate.note.empty()) return of_arrangement;
  std::string note = aggregate.note + "; links between two are drawn as one, those within one "
                                      "aren't drawn";
  if (!of_arrangement.empty()) note += "; " + of_arrangement;
  return note;
}

/// "z = 2–3" of a layer that was two.
void name_thick_layers(Layout& layout, const Topology& whole) {
  constexpr std::string_view prefix = "z = ";
  for (LayoutBox& box : layout.boxes) {
    if (!box.label.text.starts_with(prefix) || whole.shape().size() != 3) continue;
    int least = INT32_MAX, most = 0;
    for (const std::uint32_t n : box.nodes)
      for (const NodeId node : layout.nodes[n].nodes) {
        if (node.value >= whole.npu_count()) continue;
        const int z = whole.coordinate(node)[2];
        least = std::min(least, z);
        most = std::max(most, z);
      }
    if (least < most) box.label.text = fmt::format("{}{}\u2013{}", prefix, least, most);
  }
}

/// Around all, where coordinates (GPU, server) say that it is one server, and its CPUs are seen.
void frame_server(Layout& layout, const Topology& topology) {
  const bool has_cpus = std::ranges::any_of(
      layout.nodes, [](const LayoutNode& node) { return node.kind == NodeClass::cpu; });
  if (!has_cpus || topology.shape().size() != 2 || topology.shape()[1] != 1) return;
  Position least = layout.nodes.front().at, most = least;
  LayoutBox box;
  for (std::uint32_t n = 0; n < layout.nodes.size(); ++n) {
    const LayoutNode& node = layout.nodes[n];
    least = {std::min(least.x, node.at.x - node.radius),
             std::min(least.y, node.at.y - node.radius)};
    most = {std::max(most.x, node.at.x + node.radius), std::max(most.y, node.at.y + node.radius)};
    box.nodes.push_back(n);
  }
  constexpr double margin = 18, head = 24; // room for names
  least = least - Position{margin, head};
  most = most + Position{margin, margin};
  box.outline = {least, {most.x, least.y}, most, {least.x, most.y}};
  box.label.text = "server";
  layout.boxes.push_back(std::move(box));
}

Layout laid_out(const Topology& whole, const Aggregate& aggregate, Arrangement arrangement) {
  const Topology& topology = aggregate.topology;
  Layout layout{.arrangement = arrangement.name,
                .note = whole_note(aggregate, arrangement.note),
                .lane = arrangement.lane,
                .nodes = {},
                .boxes = std::move(arrangement.boxes),
                .links = {},
                .node_of = std::vector<std::uint32_t>(whole.node_count()),
                .link_of = std::vector<std::uint32_t>(whole.link_count(), UINT32_MAX)};
  std::vector<bool> squares;
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const NodeClass kind = class_of(topology.node(NodeId{n}), aggregate.members[n].size());
    squares.push_back(kind != NodeClass::npu);
    layout.nodes.push_back(
        {arrangement.at[n], arrangement.radius[n], kind, {}, aggregate.members[n]});
    for (const NodeId member : aggregate.members[n]) layout.node_of[member.value] = n;
  }
  if (!aggregate.note.empty()) name_thick_layers(layout, whole);
  layout.links = lines_of(topology, arrangement, squares);
  for (std::size_t l = 0; l < layout.links.size(); ++l) layout.links[l].links = aggregate.links[l];
  sort_links(layout);
  frame_server(layout, whole);
  place_labels(layout, arrangement.labels, arrangement.font);
  move_to_origin(layout);
  return layout;
}

} // namespace

Layout layout_of(const Topology& topology) {
  for (Aggregate drawn = each_by_itself(topology);; drawn = coarser(drawn, topology)) {
    if (drawn.topology.npu_count() > most_npus) continue;
    for (const Arrange arrange : arrangements)
      if (std::optional<Arrangement> arrangement = arrange(drawn.topology))
        return laid_out(topology, drawn, *std::move(arrangement));
  }
}

Layout layout_around(const Topology& topology) {
  return laid_out(topology, each_by_itself(topology), all_around(topology));
}

Layout scaled(const Layout& layout, double factor) {
  Layout result = layout;
  result.width *= factor;
  result.height *= factor;
  result.lane *= factor;
  for (LayoutNode& node : result.nodes) {
    node.at = node.at * factor;
    node.radius *= factor;
    node.label.at = node.label.at * factor;
  }
  for (LayoutBox& box : result.boxes) {
    for (Position& corner : box.outline) corner = corner * factor;
    box.label.at = box.label.at * factor;
  }
  for (LayoutLink& link : result.links)
    for (std::vector<Position>& stroke : link.strokes)
      for (Position& place : stroke) place = place * factor;
  if (factor >= 1) return result;
  // Names keep their size, so those beside nodes go; those on them if one of their kind is too
  // long.
  std::array<bool, node_classes> fits_all{};
  fits_all.fill(true);
  const auto most_font = [](const LayoutNode& node) {
    return std::min(1.9 * node.radius / std::max(label_width(node.label.text, 1), 1e-9),
                    2.1 * node.radius);
  };
  for (LayoutNode& node : result.nodes) {
    if (!node.label.inside) node.label = {};
    if (!node.label.text.empty() && most_font(node) < least_label_font)
      fits_all[static_cast<std::size_t>(node.kind)] = false;
  }
  for (LayoutNode& node : result.nodes) {
    if (node.label.text.empty()) continue;
    if (fits_all[static_cast<std::size_t>(node.kind)])
      node.label.font = std::min(node.label.font, most_font(node));
    else
      node.label = {};
  }
  for (LayoutBox& box : result.boxes) box.label = {};
  return result;
}

} // namespace tutti
