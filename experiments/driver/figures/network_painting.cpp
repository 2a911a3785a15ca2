// Painting only: what stands where is the layout's (layout/), and colours are the caller's.
#include "experiments/driver/figures/network_painting.hpp"

#include "experiments/driver/figures/figure_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti {

double stroke_length(std::span<const Position> stroke) {
  double sum = 0;
  for (std::size_t i = 1; i < stroke.size(); ++i)
    sum += std::hypot(stroke[i].x - stroke[i - 1].x, stroke[i].y - stroke[i - 1].y);
  return sum;
}

void paint_cross(Canvas& canvas, int layer, Position at, double half) {
  for (const double slope : {1.0, -1.0}) {
    const Position end{half, half * slope};
    canvas.line(layer, at - end, at + end, 0xffffff, 3.4);
    canvas.line(layer + 1, at - end, at + end, 0xb2182b, 1.5);
  }
}

namespace {

constexpr int box_colour = 0xf3f5f7, halo_colour = 0x12b3e8;
constexpr int box_layer = 0, link_layer = 10, mark_layer = 75, node_layer = 80, name_layer = 90;

std::vector<Position> moved(std::span<const Position> points, Position by) {
  std::vector<Position> result;
  for (const Position& point : points) result.push_back(point + by);
  return result;
}

/// The point that far along, at most the end.
Position point_along(std::span<const Position> stroke, double wanted) {
  for (std::size_t i = 1; i < stroke.size(); ++i) {
    const Position step = stroke[i] - stroke[i - 1];
    const double size = std::hypot(step.x, step.y);
    if (wanted <= size && size > 0) return stroke[i - 1] + step * (wanted / size);
    wanted -= size;
  }
  return stroke.back();
}

/// Half an arrowhead, on the side away from the opposite link.
void paint_head(Canvas& canvas, int layer, std::span<const Position> stroke, double width,
                double lane, int colour) {
  const double size = std::clamp(2.1 * lane, 4.0, 7.5);
  const Position tip = stroke.back(), from = point_along(stroke, stroke_length(stroke) - size);
  const Position step = tip - from;
  const double reach = std::max(std::hypot(step.x, step.y), 1e-9);
  const Position right = Position{-step.y, step.x} * (1 / reach);
  const std::array<Position, 3> corners{tip - right * (0.5 * width), from - right * (0.5 * width),
                                        from + right * (0.5 * width + 0.5 * lane)};
  canvas.area(layer, corners, colour);
}

void paint_link(Canvas& canvas, const Layout& layout, const LayoutLink& link,
                const LinkPaint& paint, Position corner) {
  const int layer = link_layer + paint.layer;
  for (std::size_t k = 0; k < link.strokes.size(); ++k) {
    std::vector<Position> stroke = moved(link.strokes[k], corner);
    if (paint.is_dead) {
      canvas.line(layer, stroke, 0x8a9099, std::min(1.1, 0.6 * layout.lane), dotted);
      continue;
    }
    const bool has_head = layout.lane >= 2.4 && paint.width >= 0.8 &&
                          k + 1 == link.strokes.size() && stroke_length(stroke) > 13 &&
                          link.course != LinkCourse::stubs;
    if (paint.is_marked) canvas.line(mark_layer, stroke, halo_colour, paint.width + 4);
    const int shown = paint.is_marked ? mark_layer + 1 : layer;
    if (has_head) {
      paint_head(canvas, shown, stroke, paint.width, layout.lane, paint.colour);
      const Position before = point_along(stroke, stroke_length(stroke) - 2.5);
      while (stroke.size() > 2 && std::hypot(stroke.back().x - stroke[stroke.size() - 2].x,
                                             stroke.back().y - stroke[stroke.size() - 2].y) < 2.5)
        stroke.pop_back();
      stroke.back() = before;
    }
    canvas.line(shown, stroke, paint.colour, paint.width);
  }
}

/// Behind a name, so that links that cross it leave it legible.
void paint_backing(Canvas& canvas, const LayoutLabel& label, Position corner, int colour) {
  const Position half{label_width(label.text, label.font) / 2, 0.42 * label_height(label.font)};
  const Position least = corner + label.at - half, most = corner + label.at + half;
  canvas.rectangle(node_layer - 1, least, most, colour);
}

/// By how often a line from there to the left crosses the outline.
bool is_within(Position place, std::span<const Position> outline) {
  bool within = false;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Position a = outline[i], b = outline[(i + 1) % outline.size()];
    if ((a.y > place.y) != (b.y > place.y) &&
        place.x > a.x + (place.y - a.y) * (b.x - a.x) / (b.y - a.y))
      within = !within;
  }
  return within;
}

/// In the middle of the link, or of its longest stub.
Position middle_of(const LayoutLink& link) {
  const auto longest = std::ranges::max_element(
      link.strokes, {}, [](const std::vector<Position>& stroke) { return stroke_length(stroke); });
  return point_along(*longest, 0.5 * stroke_length(*longest));
}

} // namespace

std::vector<NodePaint> plain_nodes(const Layout& layout) {
  std::vector<NodePaint> paints;
  for (const LayoutNode& node : layout.nodes) {
    NodePaint paint;
    switch (node.kind) {
    case NodeClass::npu: break;
    case NodeClass::switching: paint = {0x4a5663, 0x2b333b, 0xffffff}; break;
    case NodeClass::nic: paint = {0xb7c2cc, 0x4a5663, 0x222222}; break;
    case NodeClass::cpu: paint = {0xcfdfc6, 0x4d6645, 0x222222}; break;
    case NodeClass::memory: paint = {0xe3ded3, 0x6b6252, 0x222222}; break;
    case NodeClass::many: paint = {0xeef1f4, 0x3c4650, 0x222222}; break;
    }
    paints.push_back(paint);
  }
  return paints;
}

void paint_network(Canvas& canvas, const Layout& layout, std::span<const LinkPaint> links,
                   std::span<const NodePaint> nodes, Position corner) {
  std::vector<bool> in_box(layout.nodes.size());
  for (const LayoutBox& box : layout.boxes) {
    for (const std::uint32_t node : box.nodes) in_box[node] = true;
    std::vector<Position> outline = moved(box.outline, corner);
    canvas.area(box_layer, outline, box_colour);
    if (!box.label.text.empty() && is_within(box.label.at, box.outline))
      paint_backing(canvas, box.label, corner, box_colour);
    outline.push_back(outline.front());
    canvas.line(box_layer + 1, outline, 0xc5ccd4, 0.8);
    canvas.text(name_layer, corner + box.label.at, box.label.text, box.label.font,
                FigureFrame::pale_ink);
  }
  for (std::size_t l = 0; l < layout.links.size(); ++l)
    paint_link(canvas, layout, layout.links[l], links[l], corner);
  for (std::size_t n = 0; n < layout.nodes.size(); ++n) {
    const LayoutNode& node = layout.nodes[n];
    const Position at = corner + node.at;
    if (node.kind == NodeClass::npu)
      canvas.disc(node_layer, at, node.radius, nodes[n].fill, nodes[n].edge);
    else
      canvas.square(node_layer, at, node.radius, nodes[n].fill, nodes[n].edge);
    if (!node.label.text.empty() && !node.label.inside)
      paint_backing(canvas, node.label, corner, in_box[n] ? box_colour : 0xffffff);
    canvas.text(name_layer, corner + node.label.at, node.label.text, node.label.font,
                node.label.inside ? nodes[n].ink : name_ink);
    if (nodes[n].is_dead) paint_cross(canvas, node_layer + 2, at, 0.8 * node.radius + 2);
  }
  for (std::size_t l = 0; l < layout.links.size(); ++l)
    if (links[l].is_dead && !layout.links[l].strokes.empty())
      paint_cross(canvas, node_layer + 2, corner + middle_of(layout.links[l]), 3.2);
}

} // namespace tutti
