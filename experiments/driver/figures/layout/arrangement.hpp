// What an arrangement decides: where nodes stand, what surrounds them, which links aren't straight.
// Lines and labels follow from it (lines.hpp, layout.cpp). Each arrangement knows one structure and
// says nothing of networks that don't have it.
#pragma once

#include "experiments/driver/figures/layout/layout.hpp"
#include "sim/topology.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::layouts {

inline double length(Position a) { return std::hypot(a.x, a.y); }
inline double distance(Position a, Position b) { return length(a - b); }
/// To the right of who looks along it, as y grows downwards.
inline Position right_of(Position a) { return {-a.y, a.x}; }
/// `turn` 0 is at the top, 1/4 to the right.
[[nodiscard]] Position on_circle(double radius, double turn);
/// The turn of a place as seen from (0, 0): from 0 up to 1.
[[nodiscard]] double turn_of(Position place);

/// A label in a smaller font can't be read.
inline constexpr double least_label_font = 7; // points

/// How a link runs.
struct Bend {
  LinkCourse course = LinkCourse::straight;
  /// Stubs: along which they are drawn, from the first node and to the second. Bent: from the
  /// middle of the straight line to that of the curve.
  Position by;
  /// Bent: corners on the way, from the first node to the second; empty: a curve by `by`.
  std::vector<Position> through = {};
  /// Stubs: whether the one at the first node is drawn, and the one at the second.
  bool first = true, second = true;
};

enum class Side : std::uint8_t { inside, below, above, right, left };

/// A label that a node should have, on the first of these sides that is free.
struct LabelWish {
  std::string text;
  std::vector<Side> sides;
  double gap = 0; ///< kept free between node and label, for stubs
  /// Room is taken for this text where it is longer, so that nodes of one kind have their labels on
  /// one side.
  std::string longest = {};
};

struct Arrangement {
  std::string_view name;
  std::string note;
  double lane = 4;
  double font = 9;
  std::vector<Position> at;      ///< [node]
  std::vector<double> radius;    ///< [node]
  std::vector<Bend> bends;       ///< [link]
  std::vector<LabelWish> labels; ///< [node]
  std::vector<LayoutBox> boxes;
};

/// One for this network with room for all, nothing placed: labels are wished inside or around.
[[nodiscard]] Arrangement blank(const Topology& topology, std::string_view name);

/// "7" for npu7; other names as they are, without what makes them too long for a picture.
[[nodiscard]] std::string short_name(const Node& node);

[[nodiscard]] std::vector<Position> rectangle(Position least, Position most);
/// A sector of a ring between these radii and turns, its name outside.
[[nodiscard]] LayoutBox sector(double inner, double outer, double from, double to,
                               std::string name);

// ---- the arrangements; none where the network hasn't the structure

using Arrange = std::optional<Arrangement> (*)(const Topology&);

/// Every node has two neighbours: a circle; from 96 nodes on a loop that fills the page.
[[nodiscard]] std::optional<Arrangement> as_ring(const Topology& topology);
/// Coordinates of extent 2 in three dimensions or more: cubes of cubes.
[[nodiscard]] std::optional<Arrangement> as_hypercube(const Topology& topology);
/// Coordinates, no switches, links along one dimension each: rows and columns, and layers side by
/// side from the third dimension on. What wraps around is drawn as stubs.
[[nodiscard]] std::optional<Arrangement> as_grid(const Topology& topology);
/// Groups of NPUs, each fully connected, with fewer links between them: on arcs of a circle.
[[nodiscard]] std::optional<Arrangement> as_groups(const Topology& topology);
/// Groups of NPUs below switches, of which only the uppermost are linked to those of other groups
/// (Dragonfly+): on sectors of a circle, NPUs outside.
[[nodiscard]] std::optional<Arrangement> as_tree_groups(const Topology& topology);
/// One switch in the middle of NPUs.
[[nodiscard]] std::optional<Arrangement> as_star(const Topology& topology);
/// NPUs at the bottom, switches above them by level; for up to 144 NPUs.
[[nodiscard]] std::optional<Arrangement> as_tree(const Topology& topology);
/// Whether NPUs are attached to switches, and switches to those of the next level, alone.
[[nodiscard]] bool is_tree(const Topology& topology);
/// Servers as boxes with all that is in them, and what joins the servers between them.
[[nodiscard]] std::optional<Arrangement> as_servers(const Topology& topology);
/// Few NPUs linked directly: a circle in the order that keeps strong links short.
[[nodiscard]] std::optional<Arrangement> as_circle(const Topology& topology);
/// NPUs alone of which all have as many neighbours, or most are neighbours, and which no other
/// structure has been found of: a circle, in order of ids, with gaps between blocks.
[[nodiscard]] std::optional<Arrangement> as_blocks(const Topology& topology);
/// NPUs on a circle, all else on one of half its radius, each in order of ids.
[[nodiscard]] Arrangement all_around(const Topology& topology);
/// By forces; any network of up to 320 nodes.
[[nodiscard]] std::optional<Arrangement> by_forces(const Topology& topology);

} // namespace tutti::layouts
