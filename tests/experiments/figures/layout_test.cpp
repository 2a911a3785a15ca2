// What every layout keeps, on all families and machines: nothing over anything else, nothing lost,
// nothing that depends on how links are numbered. And of each structure what makes it that.
#include "experiments/driver/figures/layout/layout.hpp"

#include "sim/error.hpp"
#include "sim/random.hpp"
#include "sim/text.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace layout_test {

using namespace tutti;

namespace {

struct Rectangle {
  Position least, most;
};

Rectangle rectangle_of(const LayoutLabel& label) {
  const Position half{label_width(label.text, label.font) / 2, label_height(label.font) / 2};
  return {label.at - half, label.at + half};
}

bool touch(const Rectangle& a, const Rectangle& b) {
  return a.least.x < b.most.x && b.least.x < a.most.x && a.least.y < b.most.y &&
         b.least.y < a.most.y;
}

bool touch(const Rectangle& box, const LayoutNode& node) {
  const Position nearest{std::clamp(node.at.x, box.least.x, box.most.x),
                         std::clamp(node.at.y, box.least.y, box.most.y)};
  const Position away = node.at - nearest;
  return node.kind == NodeClass::npu
             ? std::hypot(away.x, away.y) < node.radius - 1e-6
             : std::max(std::abs(away.x), std::abs(away.y)) < node.radius - 1e-6;
}

bool touch(const LayoutNode& a, const LayoutNode& b) {
  const Position half{a.radius, a.radius};
  const Position away = a.at - b.at;
  if (a.kind == NodeClass::npu && b.kind == NodeClass::npu)
    return std::hypot(away.x, away.y) < a.radius + b.radius;
  return a.kind == NodeClass::npu
             ? touch({b.at - Position{b.radius, b.radius}, b.at + Position{b.radius, b.radius}}, a)
             : touch({a.at - half, a.at + half}, b);
}

const std::string no_fault;

/// What is wrong with it, in words; no_fault: nothing.
std::string fault_of(const Layout& layout, const Topology& topology) {
  std::string fault;
  const auto require_inside = [&](Position place, const char* what) {
    if (!(place.x >= 0 && place.y >= 0 && place.x <= layout.width && place.y <= layout.height))
      fault += fmt::format("{} at {:.1f}, {:.1f} is outside; ", what, place.x, place.y);
  };
  std::vector<std::pair<Rectangle, std::string>> labels;
  const auto add_label = [&](const LayoutLabel& label) {
    if (label.text.empty()) return;
    labels.emplace_back(rectangle_of(label), label.text);
    require_inside(labels.back().first.least, "label");
    require_inside(labels.back().first.most, "label");
    if (label.font < 6.7) fault += label.text + " is too small; ";
  };
  for (std::size_t a = 0; a < layout.nodes.size(); ++a) {
    require_inside(layout.nodes[a].at, "node");
    for (std::size_t b = 0; b < a; ++b)
      if (touch(layout.nodes[a], layout.nodes[b])) fault += fmt::format("nodes {}, {}; ", a, b);
    const LayoutLabel& label = layout.nodes[a].label;
    add_label(label);
    if (label.text.empty()) continue;
    for (std::size_t b = 0; b < a; ++b)
      // Numbers of a tree's switches are told apart by their levels.
      if (layout.nodes[b].kind == layout.nodes[a].kind &&
          layout.nodes[b].label.text == label.text &&
          (layout.arrangement != "tree" || layout.nodes[b].at.y == layout.nodes[a].at.y))
        fault += fmt::format("two nodes are called {}; ", label.text);
    for (std::size_t b = 0; b < layout.nodes.size(); ++b)
      if ((b != a || !label.inside) && touch(rectangle_of(label), layout.nodes[b]))
        fault += fmt::format("label {} over node {}; ", label.text, b);
  }
  for (const LayoutBox& box : layout.boxes) {
    add_label(box.label);
    for (const Position& corner : box.outline) require_inside(corner, "box");
    if (!box.label.text.empty())
      for (std::size_t b = 0; b < layout.nodes.size(); ++b)
        if (touch(rectangle_of(box.label), layout.nodes[b]))
          fault += fmt::format("label {} over node {}; ", box.label.text, b);
  }
  for (std::size_t a = 0; a < labels.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (touch(labels[a].first, labels[b].first))
        fault += fmt::format("labels {}, {}; ", labels[a].second, labels[b].second);

  std::vector<int> drawn(topology.link_count());
  for (const LayoutLink& link : layout.links) {
    if (link.strokes.empty()) fault += "a link without a line; ";
    for (const std::vector<Position>& stroke : link.strokes)
      for (const Position& place : stroke) require_inside(place, "link");
    for (const LinkId id : link.links) {
      ++drawn[id.value];
      if (&layout.links[layout.link_of[id.value]] != &link) fault += "a link elsewhere; ";
      if (layout.node_of[topology.link(id).from.value] != link.from ||
          layout.node_of[topology.link(id).to.value] != link.to)
        fault += "a link between other nodes; ";
    }
  }
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    const bool within = layout.node_of[link.from.value] == layout.node_of[link.to.value];
    if (drawn[l] != (within ? 0 : 1)) fault += fmt::format("link {} {} times; ", l, drawn[l]);
  }
  std::vector<int> held(topology.node_count());
  for (std::size_t n = 0; n < layout.nodes.size(); ++n)
    for (const NodeId node : layout.nodes[n].nodes) {
      ++held[node.value];
      if (layout.node_of[node.value] != n) fault += "a node elsewhere; ";
    }
  if (std::ranges::any_of(held, [](int count) { return count != 1; })) fault += "nodes lost; ";
  return fault.substr(0, 400);
}

/// The same network with its links in another order.
Topology shuffled(const Topology& topology, std::uint64_t seed) {
  TopologyParts parts = topology.parts();
  std::vector<std::uint32_t> order(topology.link_count());
  for (std::uint32_t l = 0; l < order.size(); ++l) order[l] = l;
  Random random(seed);
  random.shuffle(order);
  std::vector<LinkId> new_id(order.size());
  for (std::uint32_t l = 0; l < order.size(); ++l) {
    parts.links[l] = topology.link(LinkId{order[l]});
    new_id[order[l]] = LinkId{l};
  }
  for (SharedGroup& group : parts.groups)
    for (LinkId& link : group.links) link = new_id[link.value];
  return Topology(std::move(parts));
}

/// All that is to be seen of it.
std::string seen(const Layout& layout) {
  std::string text = fmt::format("{} {} {}\n", layout.arrangement, layout.width, layout.height);
  for (const LayoutNode& node : layout.nodes)
    text += fmt::format("{} {} {} {}\n", node.at.x, node.at.y, node.radius, node.label.text);
  for (const LayoutLink& link : layout.links) {
    text += fmt::format("{} {}:", link.from, link.to);
    for (const std::vector<Position>& stroke : link.strokes)
      for (const Position& place : stroke) text += fmt::format(" {} {}", place.x, place.y);
    text += "\n";
  }
  return text;
}

const std::vector<std::string_view> named =
    split("ring:2 ring:3 ring:8,directions=1 ring:64 ring:97 ring:1024 fully_connected:2 "
          "fully_connected:8 fully_connected:24 mesh2d:4x4 mesh2d:40x1 mesh2d:200x2 mesh2d:32x32 "
          "mesh3d:3x2x4 mesh3d:8x8x16 torus2d:2x2 torus2d:8x8 torus2d:3x5,directions=1 "
          "torus3d:4x4x4 hypercube:1 hypercube:2 hypercube:3 hypercube:4 hypercube:6 hypercube:8 "
          "hypercube:10 switch:2 switch:8 switch:100 two_level_switch:8x4 two_level_switch:2x3 "
          "rfs:2x4x8 rfs:3x3x2 dragonfly:4x5 dragonfly:7x8 dragonfly:4x9 fat_tree:4 fat_tree:8 "
          "fat_tree:10 k_ary_tree:2x4 k_ary_tree:8x2 multi_rail:8x4 multi_rail:16x2x8 "
          "multi_rail:8x16 dgx_a100_rail:1 dgx_a100_rail:8 dgx_a100_rail:4,links=nvlink "
          "dgx_a100_rail:16 dgx_a100_rail:32 dgx_a100_rail:16,links=pcie,memory=switch "
          "multi_rail:64x16 dgx_h100:1 dgx_h100:4 dgx_h200:2,nics=16 dgx_b200:8,fabric=switch "
          "hgx_b300:2,nvls=off gb200_nvl72:1 gb200_nvl72:2 gb300_nvl72:4,npus=36 mi300x:1 mi300x:4 "
          "mi325x:2 mi355x:1 hgx_a100:2 l40s:2 a10g:1 rtx4090:1 rtx5090:2 rtx_pro_6000:1 "
          "dgx_spark:2 dgx_spark:5 teccl_internal:4x3 taccl_ndv2:2 taccl_dgx2:2 "
          "teccl_internal:2x5 random:2 random:12 random:40 random:120 "
          "random:20,bandwidth=1GB/s+2GB/s+3GB/s+4GB/s+5GB/s+6GB/s+7GB/s+8GB/s "
          "torus2d:8x8,fail-links=10%",
          ' ');

} // namespace

TEST_CASE("nothing of a layout is over anything else, nothing is lost") {
  std::set<std::string> families;
  for (const std::string_view name : named) {
    CAPTURE(name);
    const Topology topology = make_topology(name);
    families.emplace(name.substr(0, name.find(':')));
    const Layout layout = layout_of(topology);
    CHECK(fault_of(layout, topology) == no_fault);
    if (topology.node_count() <= 64) CHECK(layout.nodes.size() == topology.node_count());
  }
  for (const TopologyRow& row : topology_families())
    CHECK(families.contains(std::string(row.name)));
  for (const Machine& machine : machines()) {
    CAPTURE(machine.name);
    const Topology topology = make_topology(machine.name);
    CHECK(fault_of(layout_of(topology), topology) == no_fault);
  }
}

TEST_CASE("above 1,024 NPUs nodes are joined, and the note says so") {
  for (const char* name : {"mesh2d:64x64", "torus3d:16x16x16", "fat_tree:20", "dgx_a100_rail:256",
                           "dragonfly:32x40", "multi_rail:8x256", "random:1500", "ring:1025",
                           "hypercube:11", "fully_connected:1025", "switch:1500"}) {
    CAPTURE(name);
    const Topology topology = make_topology(name);
    const Layout layout = layout_of(topology);
    CHECK(fault_of(layout, topology) == no_fault);
    CHECK(layout.nodes.size() <= 1024);
    CHECK(layout.nodes.size() < topology.node_count());
    CHECK_THAT(layout.note, ContainsSubstring("a square stands for"));
  }
  CHECK_THAT(layout_of(make_topology("mesh2d:64x64")).note,
             ContainsSubstring("16 NPUs (a block of 4 x 4)"));
}

TEST_CASE("a layout is the same in whatever order links are given") {
  for (const char* name :
       {"torus2d:4x4", "hypercube:4", "rfs:2x2x3", "dragonfly:4x5", "fat_tree:4", "dgx_a100x2",
        "mi250x_x2", "ndv2x4_pcie", "dgx1", "random:30,seed=3", "fat_tree:10", "random:400"}) {
    CAPTURE(name);
    const Topology topology = make_topology(name);
    const std::string once = seen(layout_of(topology));
    CHECK(once == seen(layout_of(topology)));
    for (const std::uint64_t seed : {1U, 2U})
      CHECK(once == seen(layout_of(shuffled(topology, seed))));
  }
}

TEST_CASE("structures are drawn as what they are") {
  for (const auto& [arrangement, names] :
       {std::pair{"ring", "ring:8 z52"},
        {"grid", "torus2d:4x4 mesh3d:2x3x4 torus2d:8x8,fail-links=10%"},
        {"hypercube", "hypercube:5"},
        {"groups", "dragonfly:7x8"},
        {"tree", "fat_tree:8 k_ary_tree:2x4 dgx_a100_rail:1,links=pcie,memory=switch "
                 "k_ary_tree:8x2,fail-links=3"},
        {"star", "switch:8 dgx2"},
        {"circle", "dgx1 fully_connected:8"},
        {"server", "dgx_a100"},
        {"servers",
         "dgx_a100x2 ndv2x2 rfs:2x4x8 multi_rail:8x4 dgx_a100_rail:2,links=pcie,memory=switch"},
        {"blocks", "random:40"},
        {"forces", "random:40,degree=3"}})
    for (const std::string_view name : split(names, ' ')) {
      CAPTURE(name);
      CHECK(layout_of(make_topology(name)).arrangement == arrangement);
    }
  // Servers: a box around each one's NPUs, and around nobody else's.
  const Topology machine = make_topology("mi250x_x2");
  const Layout layout = layout_of(machine);
  REQUIRE(layout.boxes.size() == 2);
  for (std::uint32_t s = 0; s < 2; ++s) {
    CHECK(layout.boxes[s].nodes.size() == 16 + 8); // dies and NICs
    for (const std::uint32_t node : layout.boxes[s].nodes)
      if (node < 32) CHECK(node / 16 == s);
  }
  CHECK(layout.nodes[machine.find_node("nic3").value].kind == NodeClass::nic);
  CHECK(layout.nodes[machine.find_node("infiniband").value].kind == NodeClass::switching);
}

TEST_CASE("what joins servers stands in tiers: leaves, then spines") {
  // Four servers of four NPUs around a switch, each NPU at one of two leaves, four spines above.
  TopologyParts parts = samples::npus("leaf and spine", 16);
  const auto add = [&](const char* name, std::uint32_t count) {
    const auto first = static_cast<std::uint32_t>(parts.nodes.size());
    for (std::uint32_t i = 0; i < count; ++i)
      parts.add_node({fmt::format("{}{}", name, i), NodeKind::switching, {}, {}});
    return first;
  };
  const std::uint32_t inner = add("nvswitch", 4), leaf = add("leaf", 2), spine = add("spine", 4);
  Link fast = samples::link(0, 0);
  fast.bandwidth = Bandwidth{400'000'000'000};
  for (std::uint32_t npu = 0; npu < 16; ++npu) {
    fast.from = NodeId{npu};
    fast.to = NodeId{inner + npu / 4};
    parts.add_duplex(fast);
    parts.add_duplex(samples::link(npu, leaf + npu / 8));
  }
  for (std::uint32_t l = 0; l < 2; ++l)
    for (std::uint32_t s = 0; s < 4; ++s) parts.add_duplex(samples::link(leaf + l, spine + s));
  const Topology topology(std::move(parts));
  const Layout layout = layout_of(topology);
  CHECK(fault_of(layout, topology) == no_fault);
  REQUIRE(layout.arrangement == "servers");
  const auto y = [&](std::uint32_t node) { return layout.nodes[node].at.y; };
  CHECK(y(leaf) == y(leaf + 1));
  CHECK(y(spine) == y(spine + 3));
  CHECK(y(spine) > y(leaf) + 30);
  CHECK(y(leaf) > y(0) + 30);
}

TEST_CASE("a Dragonfly+ stands by its groups around a circle, spines inside") {
  // Five groups of two leaves with two NPUs each and two spines; a link between any two groups.
  constexpr std::uint32_t groups = 5, npus = 4 * groups;
  TopologyParts parts = samples::npus("dragonfly+", npus);
  for (const char* name : {"leaf", "spine"})
    for (std::uint32_t i = 0; i < 2 * groups; ++i)
      parts.add_node({fmt::format("{}{}", name, i), NodeKind::switching, {}, {}});
  const std::uint32_t leaf = npus, spine = npus + 2 * groups;
  for (std::uint32_t npu = 0; npu < npus; ++npu)
    parts.add_duplex(samples::link(npu, leaf + npu / 2));
  for (std::uint32_t l = 0; l < 2 * groups; ++l)
    for (const std::uint32_t s : {0U, 1U})
      parts.add_duplex(samples::link(leaf + l, spine + l / 2 * 2 + s));
  for (std::uint32_t a = 0; a < groups; ++a)
    for (std::uint32_t b = a + 1; b < groups; ++b)
      parts.add_duplex(samples::link(spine + 2 * a + b % 2, spine + 2 * b + a % 2));
  const Topology topology(std::move(parts));
  const Layout layout = layout_of(topology);
  CHECK(fault_of(layout, topology) == no_fault);
  CHECK(layout.arrangement == "groups");
  REQUIRE(layout.boxes.size() == groups);
  for (const LayoutBox& box : layout.boxes) CHECK(box.nodes.size() == 8);
  Position middle;
  for (std::uint32_t s = 0; s < 2 * groups; ++s)
    middle = middle + layout.nodes[spine + s].at * (0.5 / groups);
  const auto away = [&](std::uint32_t node) {
    const Position by = layout.nodes[node].at - middle;
    return std::hypot(by.x, by.y);
  };
  CHECK(away(0) > away(leaf) + 20);
  CHECK(away(leaf) > away(spine) + 20);
}

TEST_CASE("names stand on the same side in all servers") {
  for (const char* name : {"dgx_a100_rail:4", "dgx_a100_rail:16", "dgx_a100_rail:32"}) {
    CAPTURE(name);
    const Topology topology = make_topology(name);
    const Layout layout = layout_of(topology);
    const auto side = [&](const std::string& node) { // -1, 0 or 1 in either direction
      const LayoutNode& drawn = layout.nodes[topology.find_node(node).value];
      const Position away = drawn.label.at - drawn.at;
      const auto sign = [](double x) { return x < -1e-6 ? -1 : x > 1e-6 ? 1 : 0; };
      return drawn.label.text.empty() ? std::pair(9, 9) : std::pair(sign(away.x), sign(away.y));
    };
    for (std::size_t s = 1; s < layout.boxes.size(); ++s)
      for (const char* node : {"nvswitch{}", "pcie{}_0", "pcie{}_1", "pcie{}_3", "memory{}"}) {
        CAPTURE(s, node);
        CHECK(side(fmt::format(fmt::runtime(node), s)) == side(fmt::format(fmt::runtime(node), 0)));
      }
    for (std::uint32_t npu = 0; npu < topology.npu_count(); ++npu)
      CHECK(layout.nodes[npu].label.inside == layout.nodes[0].label.inside);
    CHECK(layout.nodes[0].label.inside == (topology.npu_count() < 256)); // else there is no room
  }
}

TEST_CASE("two switches of a server that join the same NPUs stand side by side") {
  TopologyParts parts = samples::npus("server", 4);
  for (const char* name : {"nv0", "nv1", "pcie0", "pcie1"})
    parts.add_node({name, NodeKind::switching, {}, {}});
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    for (const std::uint32_t hub : {4U, 5U, 6 + npu / 2}) parts.add_duplex(samples::link(npu, hub));
  const Topology topology(std::move(parts));
  const Layout layout = layout_of(topology);
  CHECK(layout.arrangement == "server");
  CHECK(fault_of(layout, topology) == no_fault);
  CHECK(layout.nodes[4].at.y == Approx(layout.nodes[5].at.y));
}

TEST_CASE("both directions of a link lie side by side, parallel links apart") {
  TopologyParts parts = samples::npus("double", 2);
  for (int i = 0; i < 2; ++i) parts.add_duplex(samples::link(0, 1));
  const Topology topology(std::move(parts));
  const Layout layout = layout_of(topology);
  REQUIRE(layout.links.size() == 4);
  std::set<std::int64_t> offsets; // from the line between the nodes, in hundredths
  const Position a = layout.nodes[0].at, b = layout.nodes[1].at, step = b - a;
  for (const LayoutLink& link : layout.links) {
    const Position from = link.strokes.front().front() - a;
    const double right = (step.x * from.y - step.y * from.x) / std::hypot(step.x, step.y);
    CHECK((right > 0) == (link.from == 0)); // each on the right-hand side
    offsets.insert(std::llround(100 * right));
  }
  CHECK(offsets.size() == 4);
}

TEST_CASE("a torus's wrap-around is two stubs that point on") {
  const Topology topology = make_topology("torus2d:4x3");
  const Layout layout = layout_of(topology);
  std::size_t stubs = 0;
  for (const LayoutLink& link : layout.links) {
    const auto from = topology.coordinate(NodeId{link.from}),
               to = topology.coordinate(NodeId{link.to});
    const bool wraps = std::abs(from[0] - to[0]) > 1 || std::abs(from[1] - to[1]) > 1;
    CHECK(wraps == (link.course == LinkCourse::stubs));
    if (!wraps) continue;
    ++stubs;
    REQUIRE(link.strokes.size() == 2);
    for (const std::vector<Position>& stroke : link.strokes) {
      const Position along = stroke.back() - stroke.front();
      const bool forward = along.x > 0.1 || along.y > 0.1;
      CHECK(forward == (from[0] > to[0] || from[1] > to[1])); // from the last on to the first
    }
  }
  CHECK(stubs == 2 * (3 + 4));
}

TEST_CASE("a smaller layout keeps the names that still fit") {
  const Layout layout = layout_of(make_topology("torus2d:8x8"));
  const Layout half = scaled(layout, 0.5);
  CHECK(half.width == Approx(layout.width / 2));
  CHECK(half.nodes[9].at.x == Approx(layout.nodes[9].at.x / 2));
  for (const LayoutNode& node : half.nodes)
    if (!node.label.text.empty())
      CHECK(label_width(node.label.text, node.label.font) <= 2 * node.radius);
  CHECK(scaled(layout, 0.2).nodes[63].label.text.empty());
  const Layout beside = layout_of(make_topology("mesh2d:32x32")); // where there is no room on nodes
  const auto is_named = [](const LayoutNode& node) { return !node.label.text.empty(); };
  CHECK(std::ranges::count_if(beside.nodes, is_named) == 64);
  CHECK(std::ranges::count_if(scaled(beside, 0.9).nodes, is_named) == 0);
}

} // namespace layout_test
