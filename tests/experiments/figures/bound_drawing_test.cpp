#include "experiments/driver/figures/bound_drawing.hpp"
#include "experiments/driver/figures/node_places.hpp"
#include "sim/error.hpp"
#include "topologies/list.hpp"

#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace tutti;

namespace {

/// Of what must enter these nodes or, if `leaves`, leave them.
Bound cut_of(const Topology& topology, BoundKind kind, std::vector<NodeId> nodes,
             bool leaves = false) {
  Certificate proof{.inside = std::vector<bool>(topology.node_count(), leaves)};
  for (const NodeId node : nodes) proof.inside[node.value] = !leaves;
  return {Time{1}, kind, "words", std::move(nodes), std::move(proof)};
}

/// The lines of a data block.
std::string block(const std::string& script, const std::string& name) {
  const std::string head = "$" + name + " << END\n";
  const std::size_t begin = script.find(head) + head.size();
  return script.substr(begin, script.find("END\n", begin) - begin);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

double distance(const Place& a, const Place& b) { return std::hypot(a.x - b.x, a.y - b.y); }

} // namespace

TEST_CASE("what proves a bound is drawn: a path, work, prices, nothing") {
  const Topology line = make_topology("mesh2d:4x1");
  const auto links_marked = [&](const Certificate& proof) {
    const Bound bound{Time{1}, BoundKind::latency_path, "words", {}, proof};
    const std::string script = bound_figure("title", line, bound).script;
    return script.find("$across") == std::string::npos ? 0 : count(block(script, "across"), "\n");
  };
  CHECK(links_marked({.source = NodeId{0}, .destination = NodeId{3}}) == 3);
  CHECK(links_marked({.source = NodeId{2}, .destination = NodeId{1}}) == 1);
  CHECK(links_marked({.destination = NodeId{1}}) == 0); // from the nearest that holds it
  CHECK(links_marked({.part_of = {0, 1, 2, 3}}) == 6);
  CHECK(links_marked({.part_of = {0, 0, 1, 1}}) == 2);
  CHECK(links_marked({.prices = {0.5, 0, 0, 0.25, 0, 0}}) == 2);
  CHECK(links_marked({}) == 0);
}

TEST_CASE("servers stand apart, with their switches within them") {
  const Topology two = make_topology("dgx_a100x2");
  const Bound bound = cut_of(two, BoundKind::in_cut, {NodeId{0}});
  const std::string npus = block(bound_figure("title", two, bound).script, "npus");
  std::vector<double> x;
  std::istringstream lines(npus);
  for (double at = 0, y = 0, radius = 0, colour = 0; lines >> at >> y >> radius >> colour;)
    x.push_back(at);
  REQUIRE(x.size() == 16);
  CHECK(*std::max_element(x.begin(), x.begin() + 8) < *std::min_element(x.begin() + 8, x.end()));
}

TEST_CASE("a cut: nodes in two colours, links across apart from the others") {
  // 0 - 1 - 2 - 3 with 0 and 1 cut off: of 6 links, 1-2 and back are across.
  const Topology line = make_topology("mesh2d:4x1");
  const std::string script =
      bound_figure("title", line, cut_of(line, BoundKind::cluster_cut, {NodeId{0}, NodeId{1}}))
          .script;
  CHECK(count(block(script, "across"), "\n") == 1); // the way back carries nothing of it
  CHECK(count(block(script, "within"), "\n") == 5);
  const std::string npus = block(script, "npus");
  CHECK(count(npus, fmt::format(" {}\n", 0xf28e2b)) == 2);
  CHECK(count(npus, fmt::format(" {}\n", 0x4e79a7)) == 2);
  CHECK_THAT(block(script, "npu_names"), ContainsSubstring("\"3\""));
  CHECK(count(script, "$others") == 0); // there are none

  const Topology machine = make_topology("dgx_a100");
  const std::string of_machine =
      bound_figure("title", machine, cut_of(machine, BoundKind::in_cut, {NodeId{7}})).script;
  CHECK(count(block(of_machine, "across"), "\n") == 2); // from NVSwitch and PCIe switch
  CHECK(count(block(of_machine, "others"), "\n") == 6);
  CHECK_THAT(block(of_machine, "other_names"), ContainsSubstring("\"memory0\""));
}

TEST_CASE("a cut that nobody could read is refused") {
  const Topology large = make_topology("ring:129");
  CHECK_THROWS_WITH(bound_figure("title", large, cut_of(large, BoundKind::in_cut, {NodeId{0}})),
                    "a bound on 129 nodes can't be drawn, only on up to 128");
  const Topology ring = make_topology("ring:128");
  CHECK_NOTHROW(bound_figure("title", ring, cut_of(ring, BoundKind::in_cut, {NodeId{0}})));
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
          return block(bound_figure("title", ring, priced).script, "across");
        };
        CHECK(block(bound_figure("title", ring, cut).script, "across") == only(link));
      }
}

TEST_CASE("switches stand near the NPUs that they join, those of all in the middle") {
  const Topology t = make_topology("dgx_a100_rail:4");
  const std::vector<Place> places = nested_places(t, 30);
  const auto place = [&](const std::string& name) { return places[t.find_node(name).value]; };
  const double radius = std::hypot(places[0].x, places[0].y);
  CHECK(radius == Approx(30 * 32 / (2 * std::acos(-1.0))));
  // NVSwitch 0 is nearer to its own GPUs than to the opposite ones.
  CHECK(distance(place("nvswitch0"), place("npu3")) < distance(place("nvswitch0"), place("npu19")));
  CHECK(distance(place("pcie2_3"), place("npu22")) < distance(place("pcie2_3"), place("npu6")));
  for (const char* rail : {"rail0", "rail7"})
    CHECK(std::hypot(place(rail).x, place(rail).y) < 0.5 * radius);
  for (std::size_t a = 0; a < places.size(); ++a) // nobody on top of another
    for (std::size_t b = 0; b < a; ++b) CHECK(distance(places[a], places[b]) > 10);
  const Topology star = make_topology("switch:5");
  CHECK(std::hypot(nested_places(star, 30)[5].x, nested_places(star, 30)[5].y) < 1e-9);
}
