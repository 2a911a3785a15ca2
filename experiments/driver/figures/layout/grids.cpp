// Networks with coordinates stand at them: what a paper calls a 4 x 4 mesh looks like one. A ring
// is a circle for as long as the page is wide enough. Links around a torus would cross everything,
// so they are drawn as stubs that point to where they go on, as papers do; so are links to the
// layer beside. The hypercube is drawn as cubes of cubes; the directions of its dimensions were
// chosen by search so that no link passes closely by a node that isn't its own.
#include "experiments/driver/figures/layout/arrangement.hpp"
#include "experiments/driver/figures/layout/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <span>

namespace tutti::layouts {

namespace {

constexpr double page = 540; // width of what a page holds

// ---- rings

/// The nodes in their order around; empty where they form no single cycle.
std::vector<std::uint32_t> cycle_of(const Neighbours& next) {
  std::vector<std::uint32_t> cycle{0};
  std::uint32_t before = 0;
  for (std::uint32_t node = 0; node < next.count(); ++node)
    if (next.degree(node) != 2) return {};
  for (std::uint32_t at = next.of(0)[0].node; at != 0;) {
    cycle.push_back(at);
    const auto neighbours = next.of(at);
    const std::uint32_t after = neighbours[neighbours[0].node == before ? 1 : 0].node;
    before = at;
    at = after;
  }
  return cycle.size() == next.count() ? cycle : std::vector<std::uint32_t>{};
}

/// Corners of a closed line through all cells of a grid, an even number of rows: along the first
/// row, then to and fro, and back along the first column.
std::vector<Position> loop_through(std::uint32_t columns, std::uint32_t rows) {
  std::vector<Position> corners{{0, 0}};
  for (std::uint32_t row = 0; row < rows; ++row) {
    const double left = row == 0 || row + 1 == rows ? 0 : 1, right = columns - 1.0;
    const auto y = static_cast<double>(row);
    if (row % 2 == 0) {
      if (row > 0) corners.push_back({left, y});
      corners.push_back({right, y});
    } else {
      corners.push_back({right, y});
      corners.push_back({left, y});
    }
  }
  return corners;
}

/// Nodes at equal distances along a closed line.
std::vector<Position> spread_along(const std::vector<Position>& corners, std::size_t count) {
  double whole = 0;
  for (std::size_t i = 0; i < corners.size(); ++i)
    whole += distance(corners[i], corners[(i + 1) % corners.size()]);
  std::vector<Position> places;
  double passed = 0; // up to the current corner
  std::size_t corner = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted = whole * static_cast<double>(i) / static_cast<double>(count);
    for (;; ++corner) {
      const Position a = corners[corner], b = corners[(corner + 1) % corners.size()];
      const double side = distance(a, b);
      if (wanted <= passed + side + 1e-9 || corner + 1 == corners.size()) {
        places.push_back(a + (b - a) * ((wanted - passed) / side));
        break;
      }
      passed += side;
    }
  }
  return places;
}

} // namespace

std::optional<Arrangement> as_ring(const Topology& topology) {
  const Neighbours next(topology);
  if (next.count() < 3) return std::nullopt;
  const std::vector<std::uint32_t> cycle = cycle_of(next);
  if (cycle.empty()) return std::nullopt;
  constexpr std::size_t most_on_circle = 96;
  const auto n = static_cast<double>(cycle.size());
  Arrangement ring = blank(topology, "ring");
  std::vector<Position> places;
  double pitch = 0;
  if (cycle.size() <= most_on_circle) {
    pitch = std::clamp(std::numbers::pi * (page - 30) / n, 16.0, 44.0);
    const double radius = std::max(46.0, n * pitch / (2 * std::numbers::pi));
    for (std::size_t i = 0; i < cycle.size(); ++i)
      places.push_back(on_circle(radius, static_cast<double>(i) / n));
  } else {
    const auto columns = static_cast<std::uint32_t>(std::lround(std::sqrt(1.3 * n)));
    const auto rows = static_cast<std::uint32_t>(std::ceil(n / columns / 2)) * 2;
    pitch = std::max(15.0, page / columns);
    places = spread_along(loop_through(columns, rows), cycle.size());
    for (Position& place : places) place = place * pitch;
  }
  for (std::size_t i = 0; i < cycle.size(); ++i) ring.at[cycle[i]] = places[i];
  ring.radius.assign(cycle.size(), std::clamp(0.27 * pitch, 4.2, 11.0));
  ring.lane = std::clamp(0.11 * pitch, 2.0, 4.4);
  if (cycle.size() > most_on_circle)
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const bool left = places[i].x < 0.5 * pitch && (i == 0 || places[i].y > 0.5 * pitch);
      const bool right = places[i].x > page - 1.5 * pitch;
      ring.labels[cycle[i]].sides = {left ? Side::left : Side::right};
      if (!(left && i % 4 == 0) && !right) ring.labels[cycle[i]].text.clear();
    }
  return ring;
}

namespace {

// ---- coordinates

int extent_of(const Topology& topology, std::size_t dimension) {
  return topology.shape()[dimension];
}

/// In which dimension the ends of a link differ, and by how much; none where they differ in
/// several.
struct Step {
  std::size_t dimension = 0;
  int by = 0;
};
std::optional<Step> step_of(const Topology& topology, const Link& link) {
  const auto from = topology.coordinate(link.from), to = topology.coordinate(link.to);
  std::optional<Step> step;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d] == to[d]) continue;
    if (step) return std::nullopt;
    step = {d, to[d] - from[d]};
  }
  return step;
}

/// Coordinates for all nodes, and links along one dimension each.
bool is_lattice(const Topology& topology) {
  return !topology.shape().empty() && topology.node_count() == topology.npu_count() &&
         std::ranges::all_of(topology.links(),
                             [&](const Link& link) { return step_of(topology, link).has_value(); });
}

} // namespace

std::optional<Arrangement> as_hypercube(const Topology& topology) {
  const std::size_t dimensions = topology.shape().size();
  constexpr std::size_t most_dimensions = 10;
  if (dimensions < 3 || dimensions > most_dimensions || !is_lattice(topology) ||
      std::ranges::any_of(topology.shape(), [](int extent) { return extent != 2; }))
    return std::nullopt;
  constexpr std::array<Position, most_dimensions> directions{{{1, 0},
                                                              {0, 1},
                                                              {-0.43, 0.50},
                                                              {2.65, -0.32},
                                                              {0.23, 1.96},
                                                              {-1.83, 0.95},
                                                              {2.23, -0.07},
                                                              {-0.49, 3.36},
                                                              {5.74, 0.21},
                                                              {-0.04, 6.24}}};
  double across = 0; // in lengths of the first link
  for (std::size_t d = 0; d < dimensions; ++d) across += std::abs(directions[d].x);
  const double pitch = dimensions <= 4 ? 76 : dimensions <= 6 ? 92 : std::min(60.0, 720 / across);
  Arrangement cube = blank(topology, "hypercube");
  for (std::uint32_t n = 0; n < topology.node_count(); ++n)
    for (std::size_t d = 0; d < dimensions; ++d)
      if (topology.coordinate(NodeId{n})[d] == 1) cube.at[n] = cube.at[n] + directions[d] * pitch;
  cube.radius.assign(topology.node_count(), dimensions <= 5   ? 9.0
                                            : dimensions == 6 ? 7.5
                                                              : 0.078 * pitch);
  cube.lane = dimensions <= 5 ? 3.4 : dimensions == 6 ? 2.6 : 1.6;
  if (dimensions == 6) cube.font = 7.5;
  if (dimensions > 6) cube.labels.assign(topology.node_count(), {});
  return cube;
}

namespace {

/// How a grid's dimensions are laid on the page: the first two are columns and rows, later ones
/// number its layers.
struct GridPlan {
  std::vector<std::size_t> dimensions; ///< of more than one place
  std::vector<bool> has_long_links;    ///< [dimension]: between places that aren't neighbours
  std::uint32_t columns = 1, rows = 1; ///< of a layer
  std::uint32_t layers = 1, layers_beside = 1;
  double pitch_x = 0, pitch_y = 0, gap = 0; ///< gap: between layers

  explicit GridPlan(const Topology& topology) : has_long_links(topology.shape().size()) {
    for (std::size_t d = 0; d < topology.shape().size(); ++d)
      if (extent_of(topology, d) > 1) dimensions.push_back(d);
    for (const Link& link : topology.links()) {
      const Step step = *step_of(topology, link);
      const int by = std::abs(step.by);
      if (by > 1 && by < extent_of(topology, step.dimension) - 1)
        has_long_links[step.dimension] = true;
    }
    const auto extent = [&](std::size_t i) {
      return i < dimensions.size() ? static_cast<std::uint32_t>(extent_of(topology, dimensions[i]))
                                   : 1U;
    };
    columns = extent(0);
    rows = extent(1);
    for (std::size_t i = 2; i < dimensions.size(); ++i) layers *= extent(i);
    if (dimensions.size() > 3)
      layers_beside = extent(2);
    else if (layers <= 3)
      layers_beside = layers;
    else
      layers_beside = static_cast<std::uint32_t>(std::clamp<long>(
          std::lround(std::sqrt(1.4 * layers * rows / columns)), 1, static_cast<long>(layers)));
    const double across = columns * layers_beside + 0.45 * (layers_beside - 1);
    const double down = rows * std::ceil(static_cast<double>(layers) / layers_beside);
    const double pitch =
        std::clamp(std::min(page / across, 720 / down), rows * layers == 1 ? 8.0 : 15.0, 46.0);
    const auto wide = [&](std::size_t other) { // room for the arcs of the other dimension
      return pitch * (other < dimensions.size() && has_long_links[dimensions[other]] ? 1.7 : 1);
    };
    pitch_x = wide(1);
    pitch_y = wide(0);
    gap = 1.2 * pitch + 9;
  }

  [[nodiscard]] std::uint32_t layer_of(std::span<const int> coordinate,
                                       std::span<const int> shape) const {
    std::uint32_t layer = 0, weight = 1;
    for (std::size_t i = 2; i < dimensions.size(); ++i) {
      layer += weight * static_cast<std::uint32_t>(coordinate[dimensions[i]]);
      weight *= static_cast<std::uint32_t>(shape[dimensions[i]]);
    }
    return layer;
  }
  [[nodiscard]] Position corner(std::uint32_t layer) const {
    const std::uint32_t column = layer % layers_beside, row = layer / layers_beside;
    return {column * (pitch_x * (columns - 1) + gap), row * (pitch_y * (rows - 1) + gap + 12)};
  }
};

/// "z = 3", or of more dimensions "2, 3".
std::string layer_name(const GridPlan& plan, std::span<const int> coordinate) {
  if (plan.dimensions.size() == 3) return fmt::format("z = {}", coordinate[plan.dimensions[2]]);
  std::string name;
  for (std::size_t i = 2; i < plan.dimensions.size(); ++i)
    name += fmt::format("{}{}", name.empty() ? "" : ", ", coordinate[plan.dimensions[i]]);
  return name;
}

Bend grid_bend(const Topology& topology, const GridPlan& plan, const Link& link) {
  const Step step = *step_of(topology, link);
  const auto place = static_cast<std::size_t>(std::ranges::find(plan.dimensions, step.dimension) -
                                              plan.dimensions.begin());
  const int extent = extent_of(topology, step.dimension), by = std::abs(step.by);
  const double pitch = std::min(plan.pitch_x, plan.pitch_y);
  const bool wraps = extent > 2 && by == extent - 1 && !plan.has_long_links[step.dimension];
  const double sign = (step.by > 0) != wraps ? 1 : -1;
  if (place >= 2) { // to another layer: a direction of its own for each dimension
    const double turn = 0.125 + 0.25 * static_cast<double>(place - 2) / 2;
    return {LinkCourse::stubs, on_circle(0.24 * pitch * sign, turn)};
  }
  const Position along = place == 0 ? Position{1, 0} : Position{0, 1};
  if (wraps) return {LinkCourse::stubs, along * (0.3 * pitch * sign)};
  if (by == 1) return {};
  const double height = 0.42 + (extent > 3 ? 0.45 * (by - 2) / (extent - 3) : 0);
  return {LinkCourse::bent, (place == 0 ? Position{0, -1} : Position{-1, 0}) * (height * pitch)};
}

} // namespace

std::optional<Arrangement> as_grid(const Topology& topology) {
  if (!is_lattice(topology)) return std::nullopt;
  const GridPlan plan(topology);
  // A single row with all its links is better elsewhere.
  if (plan.dimensions.size() == 1 && plan.has_long_links[plan.dimensions[0]]) return std::nullopt;
  constexpr std::uint32_t most_beside = 64;
  if (plan.columns > most_beside || plan.rows > most_beside || plan.layers > most_beside)
    return std::nullopt;
  Arrangement grid = blank(topology, "grid");
  const double pitch = std::min(plan.pitch_x, plan.pitch_y);
  const double radius = pitch < 22 ? 0.2 * pitch : std::min(0.24 * pitch, 10.5);
  double longest = 0; // name
  for (const LabelWish& label : grid.labels)
    longest = std::max(longest, label_width(label.text, 7));
  const bool has_room = longest < 1.86 * radius;
  grid.radius.assign(topology.node_count(), radius);
  grid.lane = std::clamp(0.1 * pitch, 1.9, 4.2);
  grid.font = pitch < 32 ? 8 : 9;
  std::vector<LayoutBox> boxes(plan.layers);
  bool has_stubs = false;
  for (const Link& link : topology.links()) {
    grid.bends.push_back(grid_bend(topology, plan, link));
    has_stubs = has_stubs || (grid.bends.back().course == LinkCourse::stubs);
  }
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const auto at = topology.coordinate(NodeId{n});
    const std::uint32_t layer = plan.layer_of(at, topology.shape());
    const auto place = [&](std::size_t i) {
      return i < plan.dimensions.size() ? at[plan.dimensions[i]] : 0;
    };
    grid.at[n] = plan.corner(layer) + Position{place(0) * plan.pitch_x, place(1) * plan.pitch_y};
    boxes[layer].nodes.push_back(n);
    boxes[layer].label.text = layer_name(plan, at);
    if (!has_room) { // too small for numbers: the first and last of each row have them beside
      const bool first = place(0) == 0, last = place(0) + 1 == static_cast<int>(plan.columns);
      grid.labels[n].sides = {first ? Side::left : Side::right};
      grid.labels[n].gap = has_stubs ? 0.36 * pitch : 0;
      if (!first && !last) grid.labels[n].text.clear();
      if (plan.layers > 1) grid.labels[n].text.clear();
    }
  }
  if (plan.layers > 1) {
    for (std::uint32_t layer = 0; layer < plan.layers; ++layer) {
      const Position corner = plan.corner(layer), edge{0.6 * pitch, 0.6 * pitch};
      boxes[layer].outline =
          rectangle(corner - edge - Position{0, 12}, corner + edge +
                                                         Position{plan.pitch_x * (plan.columns - 1),
                                                                  plan.pitch_y * (plan.rows - 1)});
    }
    grid.boxes = std::move(boxes);
    grid.note = "slanted stubs lead to the layer beside";
  }
  const bool wraps = std::ranges::any_of(grid.bends, [](const Bend& bend) {
    return bend.course == LinkCourse::stubs && (bend.by.x == 0 || bend.by.y == 0);
  });
  if (wraps)
    grid.note += grid.note.empty() ? "stubs at the edges: links around the torus"
                                   : ", those at edges around the torus";
  return grid;
}

} // namespace tutti::layouts
