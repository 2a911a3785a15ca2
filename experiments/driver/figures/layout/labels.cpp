// Greedy, node by node: names of boxes, then names that fit on their nodes, then names beside them,
// each tried on every side against all that stands already. A name that would touch another one is
// worse than none.
#include "experiments/driver/figures/layout/labels.hpp"

#include "experiments/driver/figures/style.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace tutti {

double label_width(std::string_view text, double font) { return text_width(text, font); }

double label_height(double font) { return 1.15 * font; }

} // namespace tutti

namespace tutti::layouts {

namespace {

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

class Placer {
public:
  Placer(Layout& layout, double font) : layout_(layout), font_(font) {}

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

} // namespace

LabelBox box_of(const LayoutLabel& label) {
  const Position half{label_width(label.text, label.font) / 2, label_height(label.font) / 2};
  return {label.at - half, label.at + half};
}

void place_labels(Layout& layout, const std::vector<LabelWish>& wishes, double font) {
  Placer placer(layout, font);
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

} // namespace tutti::layouts
