// What all arrangements begin with.
#include "experiments/driver/figures/layout/arrangement.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace tutti::layouts {

Position on_circle(double radius, double turn) {
  const double angle = 2 * std::numbers::pi * turn;
  return {radius * std::sin(angle), -radius * std::cos(angle)};
}

double turn_of(Position place) {
  const double turn = std::atan2(place.x, -place.y) / (2 * std::numbers::pi);
  return turn < 0 ? turn + 1 : turn;
}

std::string short_name(const Node& node) {
  constexpr std::string_view prefix = "npu";
  return node.name.starts_with(prefix) && node.name.size() > prefix.size()
             ? node.name.substr(prefix.size())
             : node.name;
}

std::vector<Position> rectangle(Position least, Position most) {
  return {least, {most.x, least.y}, most, {least.x, most.y}};
}

LayoutBox sector(double inner, double outer, double from, double to, std::string name) {
  LayoutBox box;
  constexpr int corners = 12;
  const auto turn = [&](int k) { return from + (to - from) * k / corners; };
  for (int k = 0; k <= corners; ++k) box.outline.push_back(on_circle(outer, turn(k)));
  for (int k = corners; k >= 0; --k) box.outline.push_back(on_circle(inner, turn(k)));
  const Position outward = on_circle(1, (from + to) / 2);
  box.label = {std::move(name), {}, 8.5, false};
  box.label.at = outward * (outer + 4 + std::abs(outward.x) * label_width(box.label.text, 8.5) / 2 +
                            std::abs(outward.y) * label_height(8.5) / 2);
  return box;
}

Arrangement blank(const Topology& topology, std::string_view name) {
  Arrangement arrangement;
  arrangement.name = name;
  arrangement.at.resize(topology.node_count());
  for (const Node& node : topology.nodes()) {
    arrangement.radius.push_back(node.kind == NodeKind::npu ? 9 : 7.5);
    arrangement.labels.push_back(
        {short_name(node), {Side::inside, Side::below, Side::above, Side::right, Side::left}});
  }
  return arrangement;
}

} // namespace tutti::layouts
