// Link maps by hand, and what the pictures made from them say.
#include "experiments/driver/figures/heatmap.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace heatmap_test {

using namespace tutti;
using svg_reading::read;
using svg_reading::Svg;

namespace {

constexpr Bandwidth rate{50'000'000'000};

/// Two NPUs and a switch; 0 -> 1 twice in parallel, 0 -> switch -> 1.
Topology three_nodes() {
  TopologyParts parts;
  parts.name = "three";
  for (const char* name : {"npu0", "npu1"})
    parts.add_node({.name = name, .kind = NodeKind::npu, .can = {}, .reduce_rate = {}});
  parts.add_node({.name = "switch0",
                  .kind = NodeKind::switching,
                  .can = {.store = false, .copy = false, .reduce = false},
                  .reduce_rate = {}});
  parts.add_link({NodeId{0}, NodeId{1}, Time{0}, rate});
  parts.add_link({NodeId{0}, NodeId{1}, Time{0}, rate});
  parts.add_link({NodeId{0}, NodeId{2}, Time{0}, rate});
  parts.add_link({NodeId{2}, NodeId{1}, Time{0}, rate});
  return Topology(parts);
}

/// 10 us in which the links were busy for 10, 5, 2 and 0 us.
Report report() {
  Report report;
  report.completion = Time{10'000'000};
  report.links = {{Bytes{500'000}, Time{10'000'000}, 1},
                  {Bytes{250'000}, Time{5'000'000}, 1},
                  {Bytes{100'000}, Time{2'000'000}, 1},
                  {Bytes{0}, Time{0}, 0}};
  return report;
}

LinkMap three_map(LinkQuantity quantity) {
  return link_map("direct", three_nodes(), report(), quantity);
}

} // namespace

TEST_CASE("A link map has a cell per pair of nodes, NaN where there is no link") {
  const LinkMap map = three_map(LinkQuantity::utilisation);
  CHECK(map.nodes == 3);
  CHECK(map.npus == 2);
  CHECK(map.others == std::vector<std::string>{"switch0"});
  REQUIRE(map.cells.size() == 9);
  CHECK(map.cells[0 * 3 + 2] == 0.2);
  CHECK(map.cells[2 * 3 + 1] == 0.0); // a link that nobody used isn't an absent one
  for (const std::size_t absent : {0U, 3U, 4U, 5U, 6U, 8U}) CHECK(std::isnan(map.cells[absent]));
  CHECK(map.links == std::vector<double>{1.0, 0.5, 0.2, 0.0});
}

TEST_CASE("Links that are hardly used fill the scale, too") {
  CHECK(scale_end(LinkQuantity::utilisation, 0.024) == 0.05);
  CHECK(scale_end(LinkQuantity::utilisation, 0.5) == 0.5);
  CHECK(scale_end(LinkQuantity::utilisation, 0.51) == 1);
  CHECK(scale_end(LinkQuantity::utilisation, 0) == 1);
  CHECK(scale_end(LinkQuantity::bytes, 7e6) == 7e6);
  LinkMap map = three_map(LinkQuantity::utilisation);
  for (double& cell : map.cells) cell /= 10;
  const Figure figure = heatmap_figure("t", std::vector{map}, LinkQuantity::utilisation);
  CHECK(read(figure).has("10"));
  CHECK_FALSE(read(figure).has("12"));
}

TEST_CASE("Parallel links: mean utilisation, sum of bytes") {
  CHECK(three_map(LinkQuantity::utilisation).cells[1] == 0.75);
  CHECK(three_map(LinkQuantity::bytes).cells[1] == 750'000);
}

TEST_CASE("A heat map names quantity, unit, panels and their figures") {
  const LinkMap map = three_map(LinkQuantity::utilisation);
  const Svg svg =
      read(heatmap_figure("Direct, it's hot", std::vector{map}, LinkQuantity::utilisation));
  // The mean of 100, 50, 20 and 0 % is 42.5 %; one link idle.
  for (const char* words : {"Direct, it's hot", "link utilisation [%]", "100", "4 links, 1 idle",
                            "mean 42 %, max 100 %", "source (NPUs, then switches)", "no link"})
    CHECK(svg.has(words));
  CHECK(svg.count_of_text("switch0") == 2); // beside its row and below its column
  // Cells of 75, 20 and 0 %, each a stroke as wide as a cell.
  std::vector<Position> cells;
  double pitch = 0;
  for (const svg_reading::SvgPath& path : svg.paths)
    if (path.width > 50) {
      pitch = path.width;
      for (const auto& line : path.lines) cells.push_back(line.front());
    }
  REQUIRE(cells.size() == 3);
  std::ranges::sort(cells, {}, [](Position p) { return std::pair(p.y, p.x); });
  CHECK(cells[1].x - cells[0].x == Approx(pitch).margin(0.02)); // 0 > 1 and 0 > switch
  CHECK(cells[2].x == cells[0].x);                              // switch > 1
  CHECK(cells[2].y - cells[0].y == Approx(2 * pitch).margin(0.02));
}

TEST_CASE("The scale of bytes ends at the largest cell of all panels, in its unit") {
  LinkMap small = three_map(LinkQuantity::bytes), large = small;
  const std::vector<LinkMap> kilobytes{small};
  CHECK(read(heatmap_figure("t", kilobytes, LinkQuantity::bytes)).has("data over the link [kB]"));
  for (double& cell : large.cells) cell *= 4'000; // 3 GB
  const Figure both = heatmap_figure("t", std::vector{small, large}, LinkQuantity::bytes);
  CHECK(read(both).has("data over the link [GB]"));
  CHECK(read(both).has("3"));
}

TEST_CASE("Panels side by side up to three, then in a grid") {
  const LinkMap map = three_map(LinkQuantity::utilisation);
  const auto size = [&](std::size_t panels) {
    const Figure f = heatmap_figure("t", std::vector(panels, map), LinkQuantity::utilisation);
    return static_cast<double>(f.width) / f.height;
  };
  CHECK(size(2) > 1.3);
  CHECK(size(4) == Approx(1).margin(0.2)); // 2 x 2
  CHECK(size(12) < 0.5);                   // with names of switches two columns at most
}

TEST_CASE("Long names neither run into the next panel nor out of the picture") {
  LinkMap map = three_map(LinkQuantity::utilisation);
  map.title = std::string(80, 'x');
  const std::vector<LinkMap> maps{map};
  const Figure figure = heatmap_figure(std::string(90, 't') + ' ' + std::string(90, 't'), maps,
                                       LinkQuantity::utilisation);
  CHECK(read(figure).shows("xxx…"));
  CHECK_FALSE(read(figure).shows(map.title));
  CHECK(figure.height > heatmap_figure("t", maps, LinkQuantity::utilisation).height);
}

TEST_CASE("NPUs keep their names where others have failed") {
  const auto map_of = [](const Topology& topology) {
    Report idle;
    idle.links.resize(topology.link_count());
    return link_map("t", topology, idle, LinkQuantity::bytes);
  };
  CHECK(map_of(make_topology("mesh2d:4x4")).npu_names.empty());
  const LinkMap map = map_of(make_topology("mesh2d:4x4,without=npu7+npu9"));
  REQUIRE(map.npu_names.size() == 14);
  CHECK(map.npu_names[6] == "6");
  CHECK(map.npu_names[7] == "8");
  CHECK(map.npu_names[8] == "10");
  const Svg svg = read(heatmap_figure("t", std::vector{map}, LinkQuantity::bytes));
  for (const char* name : {"6", "8", "10", "11"}) CHECK(svg.has(name));
  for (const char* name : {"7", "9"}) CHECK_FALSE(svg.has(name));
}

TEST_CASE("The sorted picture starts with the busiest link") {
  const Figure figure = sorted_links_figure("t", std::vector{three_map(LinkQuantity::utilisation)},
                                            LinkQuantity::utilisation);
  // Four links: each is a quarter of the axis.
  const Svg svg = read(figure);
  std::vector<Position> stairs;
  for (const auto& line : svg.lines_of("#0e956c"))
    if (line.size() > stairs.size()) stairs = line;
  REQUIRE(stairs.size() == 8); // the last two are one place
  CHECK(stairs[1].x - stairs[0].x == Approx(stairs[3].x - stairs[2].x).margin(0.02));
  CHECK(stairs[2].y - stairs[1].y == Approx((stairs[7].y - stairs[0].y) / 2).margin(0.02));
  for (const char* words : {"direct (mean 42 %)", "link utilisation [%]", "[% of all links]"})
    CHECK(svg.shows(words));
}

TEST_CASE("A picture of no run is refused") {
  CHECK_THROWS_WITH(heatmap_figure("t", {}, LinkQuantity::bytes),
                    "a heat map needs at least one run");
  CHECK_THROWS_WITH(sorted_links_figure("t", {}, LinkQuantity::bytes),
                    "a picture of sorted links needs at least one run");
}

} // namespace heatmap_test
