#include "experiments/driver/figures/bound_drawing.hpp"
#include "experiments/driver/figures/layout/layout.hpp"
#include "sim/error.hpp"
#include "topologies/list.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bound_drawing_test {

using namespace tutti;
using svg_reading::read;
using svg_reading::Svg;

namespace {

/// Of what must enter these nodes or, if `leaves`, leave them.
Bound cut_of(const Topology& topology, BoundKind kind, std::vector<NodeId> nodes,
             bool leaves = false) {
  Certificate proof{.inside = std::vector<bool>(topology.node_count(), leaves)};
  for (const NodeId node : nodes) proof.inside[node.value] = !leaves;
  return {Time{1}, kind, "words", std::move(nodes), std::move(proof)};
}

using Lines = std::vector<std::vector<Position>>;
constexpr double of_legend = 2.4; // width of its lines

/// The lines of links that count, and that don't; heads of arrows have no width.
Lines lines_of(const Figure& figure, const char* colour) {
  Lines lines;
  for (const svg_reading::SvgPath& path : read(figure).paths)
    if (path.stroke == colour && path.width != of_legend)
      lines.insert(lines.end(), path.lines.begin(), path.lines.end());
  return lines;
}
Lines across(const Figure& figure) { return lines_of(figure, "#d62728"); }
Lines within(const Figure& figure) { return lines_of(figure, "#c8c8c8"); }

} // namespace

TEST_CASE("what proves a bound is drawn: a path, work, prices, nothing") {
  const Topology line = make_topology("mesh2d:4x1");
  const auto links_marked = [&](const Certificate& proof) {
    const Bound bound{Time{1}, BoundKind::latency_path, "words", {}, proof};
    return across(bound_figure("title", line, bound)).size();
  };
  CHECK(links_marked({.source = NodeId{0}, .destination = NodeId{3}}) == 3);
  CHECK(links_marked({.source = NodeId{2}, .destination = NodeId{1}}) == 1);
  CHECK(links_marked({.destination = NodeId{1}}) == 0); // from the nearest that holds it
  CHECK(links_marked({.part_of = {0, 1, 2, 3}}) == 6);
  CHECK(links_marked({.part_of = {0, 0, 1, 1}}) == 2);
  CHECK(links_marked({.prices = {0.5, 0, 0, 0.25, 0, 0}}) == 2);
  CHECK(links_marked({}) == 0);
}

TEST_CASE("a cut: nodes in two colours, links across apart from the others") {
  // 0 - 1 - 2 - 3 with 0 and 1 cut off: of 6 links, 1-2 and back are across.
  const Topology line = make_topology("mesh2d:4x1");
  const Figure figure =
      bound_figure("title", line, cut_of(line, BoundKind::cluster_cut, {NodeId{0}, NodeId{1}}));
  CHECK(across(figure).size() == 1); // the way back carries nothing of it
  CHECK(within(figure).size() == 5);
  const Svg svg = read(figure);
  CHECK(svg.circles_of("#f28e2b") == 2);
  CHECK(svg.circles_of("#4e79a7") == 2);
  CHECK(svg.has("3"));

  const Topology machine = make_topology("dgx_a100");
  const Figure of_machine =
      bound_figure("title", machine, cut_of(machine, BoundKind::in_cut, {NodeId{7}}));
  CHECK(read(of_machine).lines_of("#4e79a7").size() == 6 + 1); // squares, and the legend's
  CHECK(read(of_machine).has("memory0"));
  CHECK(within(of_machine).size() == machine.link_count() - 2); // from NVSwitch and PCIe switch
}

TEST_CASE("a cut that nobody could read is refused") {
  const Topology large = make_topology("ring:1025");
  CHECK_THROWS_WITH(bound_figure("title", large, cut_of(large, BoundKind::in_cut, {NodeId{0}})),
                    "a bound on 1025 nodes can't be drawn, only on up to 1024");
  const Topology ring = make_topology("ring:1024");
  CHECK_NOTHROW(bound_figure("title", ring, cut_of(ring, BoundKind::in_cut, {NodeId{0}})));
  const Topology random = make_topology("random:500");
  CHECK_THROWS_WITH(bound_figure("title", random, cut_of(random, BoundKind::in_cut, {NodeId{0}})),
                    ContainsSubstring("a page hasn't room for each of its 500 nodes"));
}

TEST_CASE("links across are those on which data enters a cut or leaves it") {
  const Topology ring = make_topology("ring:5,directions=1"); // 0 > 1 > 2 > 3 > 4 > 0
  for (std::uint32_t first = 0; first < 5; ++first)
    for (std::uint32_t size = 1; size < 5; ++size)
      for (const bool leaves : {false, true}) {
        std::vector<NodeId> nodes;
        for (std::uint32_t n = 0; n < size; ++n) nodes.emplace_back((first + n) % 5);
        const Bound cut = cut_of(ring, BoundKind::cluster_cut, nodes, leaves);
        const std::uint32_t link = (leaves ? first + size - 1 : first + 4) % 5;
        const auto only = [&](std::uint32_t marked) {
          Bound priced{Time{1}, BoundKind::flow_prices, "words", {}, {}};
          priced.proof.prices.assign(5, 0);
          priced.proof.prices[marked] = 1;
          return across(bound_figure("title", ring, priced));
        };
        CHECK(across(bound_figure("title", ring, cut)) == only(link));
      }
}

} // namespace bound_drawing_test
