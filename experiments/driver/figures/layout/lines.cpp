// All links between two nodes share a middle line; each is moved to the right of it as seen along
// its own direction, as on roads, so that both directions can be seen. Lines end at
// the edges of their nodes, where an arrowhead can be seen.
#include "experiments/driver/figures/layout/lines.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace tutti::layouts {

namespace {

using Line = std::vector<Position>;

struct Outline {
  Position at;
  double radius = 0;
  bool is_square = false;

  [[nodiscard]] bool holds(Position place) const {
    const Position from_middle = place - at;
    const double away = is_square ? std::max(std::abs(from_middle.x), std::abs(from_middle.y))
                                  : length(from_middle);
    return away < radius + 0.7; // half of the edge's own width
  }
};

/// Moved to the right of its direction.
Line moved_aside(const Line& line, double by) {
  Line result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    // At a corner along its bisector, and as much further as keeps both sides' distance.
    const auto direction = [&](std::size_t from, std::size_t to) {
      const Position step = line[to] - line[from];
      return step * (1 / std::max(length(step), 1e-9));
    };
    const Position before = direction(i > 0 ? i - 1 : 0, i > 0 ? i : 1),
                   after = i + 1 < line.size() ? direction(i, i + 1) : before;
    const Position sum = before + after;
    const double size = std::max(length(sum), 0.5);
    result.push_back(line[i] + right_of(sum) * (2 * by / (size * size)));
  }
  return result;
}

/// Without its beginning within a node; whole where nothing else would be left.
Line leaving(const Line& line, const Outline& node) {
  std::size_t inside = 0;
  while (inside < line.size() && node.holds(line[inside])) ++inside;
  if (inside == 0 || inside == line.size()) return line;
  double in = 0, out = 1;
  const Position a = line[inside - 1], b = line[inside];
  for (int i = 0; i < 24; ++i) {
    const double middle = 0.5 * (in + out);
    (node.holds(a + (b - a) * middle) ? in : out) = middle;
  }
  Line result{a + (b - a) * out};
  result.insert(result.end(), line.begin() + static_cast<std::ptrdiff_t>(inside), line.end());
  return result;
}

Line reversed_line(Line line) {
  std::ranges::reverse(line);
  return line;
}

/// A parabola through the middle of the straight line moved by `by`.
Line curve(Position a, Position b, Position by) {
  constexpr int steps = 16;
  Line line;
  for (int i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    line.push_back(a + (b - a) * t + by * (4 * t * (1 - t)));
  }
  return line;
}

/// The middle lines of a link, in its direction.
std::vector<Line> middle_lines(const Bend& bend, const Outline& from, const Outline& to) {
  switch (bend.course) {
  case LinkCourse::straight: return {{from.at, to.at}};
  case LinkCourse::bent: {
    if (bend.through.empty()) return {curve(from.at, to.at, bend.by)};
    Line line{from.at};
    line.insert(line.end(), bend.through.begin(), bend.through.end());
    line.push_back(to.at);
    return {line};
  }
  case LinkCourse::stubs: break;
  }
  const double visible = length(bend.by);
  const Position along = bend.by * (1 / visible);
  std::vector<Line> lines;
  if (bend.first) lines.push_back({from.at, from.at + along * (from.radius + visible)});
  if (bend.second) lines.push_back({to.at - along * (to.radius + visible), to.at});
  return lines;
}

} // namespace

std::vector<LayoutLink> lines_of(const Topology& topology, const Arrangement& arrangement,
                                 const std::vector<bool>& squares) {
  // Between two nodes, those from the lower one first, parallel ones by what they are.
  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> links;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    links[{link.from, link.to}].push_back(LinkId{l});
  }
  const auto outline = [&](NodeId node) {
    return Outline{arrangement.at[node.value], arrangement.radius[node.value], squares[node.value]};
  };
  std::vector<LayoutLink> result(topology.link_count());
  for (auto& [ends, parallel] : links) {
    std::ranges::sort(parallel, {}, [&](LinkId id) {
      const Link& link = topology.link(id);
      return std::tuple(-link.bandwidth.bytes_per_second, link.latency.ps, id);
    });
    const auto back = links.find({ends.second, ends.first});
    const bool two_ways = back != links.end();
    const auto own = static_cast<double>(parallel.size());
    const double all = own + (two_ways ? static_cast<double>(back->second.size()) : 0);
    const Outline from = outline(ends.first), to = outline(ends.second);
    const double lane = std::min(arrangement.lane, 1.7 * std::min(from.radius, to.radius) / all);
    for (std::size_t i = 0; i < parallel.size(); ++i) {
      const double place = static_cast<double>(i) + (two_ways ? 0.5 : -0.5 * (own - 1));
      const std::uint32_t l = parallel[i].value;
      const Bend bend = arrangement.bends.empty() ? Bend{} : arrangement.bends[l];
      LayoutLink& link = result[l];
      link = {ends.first.value, ends.second.value, bend.course, {}, {parallel[i]}};
      const std::vector<Line> middle = middle_lines(bend, from, to);
      for (std::size_t k = 0; k < middle.size(); ++k) {
        Line line = moved_aside(middle[k], lane * place);
        const bool is_stub = bend.course == LinkCourse::stubs;
        const bool begins = !is_stub || (bend.first && k == 0);
        const bool ends_here = !is_stub || !begins;
        if (begins) line = leaving(line, from);
        if (ends_here) line = reversed_line(leaving(reversed_line(std::move(line)), to));
        link.strokes.push_back(std::move(line));
      }
    }
  }
  return result;
}

} // namespace tutti::layouts
