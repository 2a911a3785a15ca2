// From a network to places: the first arrangement that fits its structure, from the most particular
// to the one that takes anything. Where none does, or the network is larger than a page, nodes are
// joined and it is tried again.
//
// Labels are placed last, one after another: names of boxes, then names that fit on their nodes,
// then names beside them, each tried on every side against all that stands already. A name that
// would touch another one is worse than none.
#include "experiments/driver/figures/layout/layout.hpp"

#include "experiments/driver/figures/layout/aggregation.hpp"
#include "experiments/driver/figures/layout/arrangement.hpp"
#include "experiments/driver/figures/layout/lines.hpp"
#include "experiments/driver/figures/style.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace tutti {

using namespace layouts;

namespace {

constexpr std::uint32_t most_npus = 1024;
constexpr std::size_t node_classes = 6;

/// In the order in which they are tried.
constexpr std::array<Arrange, 11> arrangements{as_ring,   as_hypercube, as_grid,        as_star,
                                               as_groups, as_tree,      as_tree_groups, as_servers,
                                               as_circle, as_blocks,    by_forces};

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

// ---- labels

/// A rectangle around a label.
struct LabelBox {
  Position least, most;
};

LabelBox box_of(const LayoutLabel& label) {
  const Position half{label_width(label.text, label.font) / 2, label_height(label.font) / 2};
  return {label.at - half, label.at + half};
}

bool overlap(const LabelBox& a, const LabelBox& b) {
  return a.least.x < b.most.x && b.least.x < a.most.x && a.least.y < b.most.y &&
         b.least.y < a.most.y;
}

bool overlap(const LabelBox& box, const LayoutNode& node) {
  const Position nearest{std::clamp(node.at.x, box.least.x, box.most.x),
                         std::clamp(node.at.y, box.least.y, box.most.y)};
  const Position away = node.at - nearest;
  return node.kind == NodeClass::npu ? length(away) < node.radius
                                     : std::max(std::abs(away.x), std::abs(away.y)) < node.radius;
}

bool crosses(Position a, Position b, const LabelBox& box) { // by Liang and Barsky's clipping
  double from = 0, to = 1;
  const Position d = b - a;
  const std::array<std::array<double, 2>, 4> edges{{{-d.x, a.x - box.least.x},
                                                    {d.x, box.most.x - a.x},
                                                    {-d.y, a.y - box.least.y},
                                                    {d.y, box.most.y - a.y}}};
  for (const auto& [p, q] : edges) {
    if (p == 0 && q < 0) return false;
    if (p < 0) from = std::max(from, q / p);
    if (p > 0) to = std::min(to, q / p);
  }
  return from < to;
}

class LabelPlacer {
public:
  LabelPlacer(Layout& layout, double font) : layout_(layout), font_(font) {}

  void add_taken(const LayoutLabel& label) { taken_.push_back(box_of(label)); }

  [[nodiscard]] static bool fits_inside(const LayoutNode& node, const LabelWish& wish,
                                        double font) {
    const double room = node.kind == NodeClass::npu ? 1.86 : 1.94;
    return width_of(wish, font) <= room * node.radius && 0.8 * font <= 1.7 * node.radius;
  }

  [[nodiscard]] bool place_inside(LayoutNode& node, const LabelWish& wish) {
    for (double font = font_; font >= least_label_font - 1e-9; font -= 0.5) {
      if (!fits_inside(node, wish, font)) continue;
      node.label = {wish.text, node.at, font, true};
      add_taken(node.label);
      return true;
    }
    return false;
  }

  void place_beside(LayoutNode& node, const LabelWish& wish) {
    const double font = std::max(font_ - 0.5, least_label_font);
    for (const bool may_cross : {false, true})
      for (const Side side : wish.sides) {
        const LayoutLabel label{wish.text, beside(node, wish, side, font), font, false};
        const LabelBox box = reserved(label, width_of(wish, font), side);
        if (side == Side::inside || !is_free(box) || (!may_cross && is_crossed(box))) continue;
        node.label = label;
        taken_.push_back(box);
        return;
      }
  }

  [[nodiscard]] bool is_free(const LabelBox& box) const {
    return std::ranges::none_of(taken_, [&](const LabelBox& t) { return overlap(box, t); }) &&
           std::ranges::none_of(layout_.nodes,
                                [&](const LayoutNode& node) { return overlap(box, node); });
  }

private:
  static double width_of(const LabelWish& wish, double font) {
    return std::max(label_width(wish.text, font), label_width(wish.longest, font));
  }

  /// Box of the label, extended to at least `width`: away from the node where it stands beside it.
  static LabelBox reserved(const LayoutLabel& label, double width, Side side) {
    LabelBox box = box_of(label);
    const double more = std::max(0.0, width - (box.most.x - box.least.x));
    box.least.x -= side == Side::left ? more : side == Side::right ? 0 : more / 2;
    box.most.x += side == Side::right ? more : side == Side::left ? 0 : more / 2;
    return box;
  }

  static Position beside(const LayoutNode& node, const LabelWish& wish, Side side, double font) {
    const double x = node.radius + wish.gap + 2 + label_width(wish.text, font) / 2;
    const double y = node.radius + wish.gap + 1 + label_height(font) / 2;
    switch (side) {
    case Side::below: return node.at + Position{0, y};
    case Side::above: return node.at - Position{0, y};
    case Side::right: return node.at + Position{x, 0};
    case Side::left: return node.at - Position{x, 0};
    case Side::inside: break;
    }
    return node.at;
  }

  [[nodiscard]] bool is_crossed(const LabelBox& box) const {
    for (const LayoutLink& link : layout_.links)
      for (const std::vector<Position>& stroke : link.strokes)
        for (std::size_t i = 1; i < stroke.size(); ++i)
          if (crosses(stroke[i - 1], stroke[i], box)) return true;
    for (const LayoutBox& other : layout_.boxes)
      for (std::size_t i = 0; i < other.outline.size(); ++i)
        if (crosses(other.outline[i], other.outline[(i + 1) % other.outline.size()], box))
          return true;
    return false;
  }

  Layout& layout_;
  double font_;
  std::vector<LabelBox> taken_;
};

/// Gives each node the label that it wishes for on the first free side, preferring one that no link
/// crosses; and none where no side is free of other labels and nodes. Names of boxes that have no
/// place yet stand in their upper left corners. Pre: nodes, boxes and links have their places.
void place_labels(Layout& layout, const std::vector<LabelWish>& wishes, double font) {
  LabelPlacer placer(layout, font);
  for (LayoutBox& box : layout.boxes) {
    LayoutLabel& label = box.label;
    if (label.text.empty()) continue;
    if (label.font == 0) {
      label.font = std::max(font - 0.5, 7.5);
      if (label.at == Position{})
        label.at = box.outline.front() + Position{4 + label_width(label.text, label.font) / 2,
                                                  2 + label_height(label.font) / 2};
    }
    if (placer.is_free(box_of(label)))
      placer.add_taken(label);
    else
      label = {};
  }
  // What stands for several: all on their nodes, or none.
  bool many_fit = true;
  for (std::size_t i = 0; i < layout.nodes.size(); ++i)
    if (layout.nodes[i].kind == NodeClass::many)
      many_fit = many_fit && placer.fits_inside(layout.nodes[i], wishes[i], least_label_font);
  std::vector<std::size_t> beside;
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    const LabelWish& wish = wishes[i];
    if (wish.text.empty()) continue;
    const bool may_be_inside = (many_fit || layout.nodes[i].kind != NodeClass::many) &&
                               std::ranges::find(wish.sides, Side::inside) != wish.sides.end();
    if (!may_be_inside || !placer.place_inside(layout.nodes[i], wish)) beside.push_back(i);
  }
  for (const std::size_t i : beside) placer.place_beside(layout.nodes[i], wishes[i]);
}

// ---- the whole

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

double label_width(std::string_view text, double font) { return text_width(text, font); }

double label_height(double font) { return 1.15 * font; }

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
