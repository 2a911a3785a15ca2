#include "synth/symmetry/automorphisms.hpp"

#include "sim/random.hpp"
#include "synth/symmetry/semiregular.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace automorphisms_test {

using namespace tutti;

namespace {

// Links are vertices of their own, coloured by bandwidth.
ColouredGraph graph_of(const Topology& topology) {
  ColouredGraph graph;
  graph.colours.resize(topology.node_count());
  std::map<Bandwidth, std::uint32_t> colours;
  for (const Link& link : topology.links()) colours.emplace(link.bandwidth, 0);
  std::uint32_t colour = 0;
  for (auto& [bandwidth, number] : colours) number = ++colour;
  for (const Link& link : topology.links()) {
    const auto vertex = static_cast<std::uint32_t>(graph.colours.size());
    graph.colours.push_back(colours.at(link.bandwidth));
    graph.arcs.emplace_back(link.from.value, vertex);
    graph.arcs.emplace_back(vertex, link.to.value);
  }
  return graph;
}

struct Symmetry {
  std::size_t points;
  std::vector<Permutation> generators; // of the nodes
};

Symmetry symmetry(const std::string& text) {
  const Topology topology = make_topology(text);
  Symmetry result{topology.node_count(), automorphism_generators(graph_of(topology))};
  for (Permutation& generator : result.generators) generator.resize(result.points);
  return result;
}

std::size_t group_order(const std::string& topology) {
  const Symmetry found = symmetry(topology);
  return elements(found.generators, found.points, 100'000).size();
}

// By trying all 8! permutations.
std::vector<Permutation> all_symmetries_of_dgx1() {
  const Topology topology = make_topology("dgx1");
  std::vector<std::vector<std::int64_t>> bandwidth(8, std::vector<std::int64_t>(8));
  for (const Link& link : topology.links())
    bandwidth[link.from.value][link.to.value] = link.bandwidth.bytes_per_second;
  std::vector<Permutation> found;
  Permutation image{0, 1, 2, 3, 4, 5, 6, 7};
  do {
    bool kept = true;
    for (std::size_t i = 0; i < 64 && kept; ++i)
      kept = bandwidth[i / 8][i % 8] == bandwidth[image[i / 8]][image[i % 8]];
    if (kept) found.push_back(image);
  } while (std::next_permutation(image.begin(), image.end()));
  return found;
}

/// Few arcs, or few that are missing; parts that can be exchanged; sometimes two colours.
ColouredGraph random_graph(Random& random) {
  ColouredGraph graph;
  const auto points = static_cast<std::uint32_t>(3 + random.below(4));
  for (std::uint32_t v = 0; v < points; ++v)
    graph.colours.push_back(static_cast<std::uint32_t>(random.below(6) == 0));
  const std::uint64_t density = 1 + random.below(5);
  for (std::uint32_t from = 0; from < points; ++from)
    for (std::uint32_t to = 0; to < points; ++to)
      if (from != to && random.below(6) < density) graph.arcs.emplace_back(from, to);
  return graph;
}

// By the definition: a permutation that maps colours to themselves and the set of arcs to itself.
bool is_automorphism(const ColouredGraph& graph, const Permutation& image) {
  if (std::set(image.begin(), image.end()).size() != graph.colours.size() ||
      image.size() != graph.colours.size())
    return false;
  std::set<std::pair<std::uint32_t, std::uint32_t>> arcs, images;
  for (const auto& [from, to] : graph.arcs) {
    arcs.emplace(from, to);
    images.emplace(image[from], image[to]);
  }
  for (std::size_t i = 0; i < image.size(); ++i)
    if (graph.colours[i] != graph.colours[image[i]]) return false;
  return arcs == images;
}

std::size_t symmetries_among_all_permutations(const ColouredGraph& graph) {
  Permutation image(graph.colours.size());
  std::iota(image.begin(), image.end(), 0U);
  std::size_t count = 0;
  do {
    count += is_automorphism(graph, image) ? 1 : 0;
  } while (std::next_permutation(image.begin(), image.end()));
  return count;
}

bool leaves_a_point(const Permutation& permutation) {
  for (std::size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] == i) return true;
  return false;
}

bool is_semiregular(const std::vector<Permutation>& group) {
  return std::count_if(group.begin(), group.end(), leaves_a_point) == 1; // the identity
}

std::set<Permutation> as_set(const std::vector<Permutation>& group) {
  return {group.begin(), group.end()};
}

std::vector<std::size_t> orders(const std::vector<std::vector<Permutation>>& groups) {
  std::vector<std::size_t> result;
  for (const auto& group : groups) result.push_back(group.size());
  return result;
}

// What semiregular_subgroups promises, but for which groups it finds.
void check_promises(const std::vector<std::vector<Permutation>>& groups, const Symmetry& of) {
  Permutation identity(of.points);
  std::iota(identity.begin(), identity.end(), 0U);
  const std::vector<std::size_t> sizes = orders(groups);
  CHECK(std::is_sorted(sizes.rbegin(), sizes.rend()));
  CHECK((sizes.empty() || sizes.back() > 1));
  std::set<std::set<Permutation>> different;
  for (const auto& group : groups) {
    CHECK(group.front() == identity);
    CHECK(is_semiregular(group));
    CHECK(as_set(elements(group, of.points, of.points)) == as_set(group)); // closed
    different.insert(as_set(group));
  }
  CHECK(different.size() == groups.size());
}

} // namespace

TEST_CASE("permutations are composed from left to right") {
  const Permutation a{1, 2, 0, 3}, b{0, 3, 2, 1};
  CHECK(composed(a, b) == Permutation{3, 2, 0, 1});
  CHECK(inverse(a) == Permutation{2, 0, 1, 3});
  CHECK(composed(a, inverse(a)) == Permutation{0, 1, 2, 3});
}

TEST_CASE("a group's elements start with the identity, and too many are none") {
  const std::vector<Permutation> generators{{1, 2, 3, 0}, {1, 0, 3, 2}}; // of a square
  const std::vector<Permutation> all = elements(generators, 4, 8);
  CHECK(all.size() == 8);
  CHECK(as_set(all).size() == 8);
  CHECK(all.front() == Permutation{0, 1, 2, 3});
  CHECK(elements(generators, 4, 7).empty());
  CHECK(elements({}, 3, 10) == std::vector<Permutation>{{0, 1, 2}});
}

TEST_CASE("an orbit is named by its least point") {
  const std::vector<Permutation> generators{{0, 4, 2, 5, 1, 3}, {0, 1, 2, 4, 3, 5}};
  CHECK(orbits(generators, 6) == std::vector<std::uint32_t>{0, 1, 2, 1, 1, 1});
  CHECK(orbits({}, 2) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("groups of automorphisms are as large as theory says") {
  CHECK(group_order("ring:8") == 16);
  CHECK(group_order("torus2d:4x4") == 384); // a hypercube in disguise
  CHECK(group_order("hypercube:4") == 384);
  CHECK(group_order("torus2d:8x8") == 512);
  CHECK(group_order("fully_connected:8") == 40'320);
}

TEST_CASE("an automorphism keeps colours and the direction of arcs") {
  const ColouredGraph cycle{{0, 0, 0}, {{0, 1}, {1, 2}, {2, 0}, {0, 1}}};
  CHECK(is_automorphism(cycle, {1, 2, 0}));
  CHECK_FALSE(is_automorphism(cycle, {1, 0, 2}));
  CHECK_FALSE(is_automorphism(cycle, {1, 1, 0}));
  CHECK_FALSE(is_automorphism(cycle, {0, 1}));
  const std::vector<Permutation> generators = automorphism_generators(cycle);
  CHECK(elements(generators, 3, 100).size() == 3);
  const ColouredGraph coloured{{0, 0, 1}, cycle.arcs};
  CHECK_FALSE(is_automorphism(coloured, {1, 2, 0}));
  CHECK(automorphism_generators(coloured).empty());
  CHECK(automorphism_generators({}).empty());
}

TEST_CASE("a graph without arcs has all permutations") {
  CHECK(elements(automorphism_generators({{0, 0, 0, 0, 0}, {}}), 5, 1000).size() == 120);
}

TEST_CASE("the automorphisms of DGX-1 are those among all permutations") {
  const std::vector<Permutation> expected = all_symmetries_of_dgx1();
  REQUIRE(expected.size() > 1);
  CHECK(as_set(elements(symmetry("dgx1").generators, 8, 1000)) == as_set(expected));
}

TEST_CASE("either search finds all automorphisms of random graphs") {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const ColouredGraph graph = random_graph(random);
    const std::size_t expected = symmetries_among_all_permutations(graph);
    for (const auto how : {AutomorphismSearch::plain, AutomorphismSearch::by_parts}) {
      const auto found = automorphism_generators(graph, how);
      REQUIRE(elements(found, graph.colours.size(), 1000).size() == expected);
    }
  }
}

TEST_CASE("a regular subgroup is found where one is known to exist", "[heavy]") {
  const std::map<std::string, std::size_t> cases = {{"ring:8", 8},
                                                    {"torus2d:4x4", 16},
                                                    {"hypercube:4", 16},
                                                    {"torus2d:8x8", 64},
                                                    {"fully_connected:8", 8},
                                                    {"hypercube:5", 32},
                                                    {"torus2d:3x5", 15},
                                                    {"fully_connected:16", 16},
                                                    {"torus3d:4x4x4", 64},
                                                    {"ring:7,directions=1", 7}};
  for (const auto& [topology, order] : cases) {
    INFO(topology);
    const Symmetry found = symmetry(topology);
    const auto groups = semiregular_subgroups(found.generators, found.points, 4000, 8);
    REQUIRE_FALSE(groups.empty());
    CHECK(groups.front().size() == order);
    check_promises(groups, found);
  }
}

TEST_CASE("semiregular subgroups come in several orders") {
  const Symmetry ring = symmetry("ring:8");
  CHECK(orders(semiregular_subgroups(ring.generators, 8, 1000, 3)) ==
        std::vector<std::size_t>{8, 4, 2});
  const auto more = orders(semiregular_subgroups(ring.generators, 8, 1000, 100));
  // Rotations, the two dihedral ones that turn no edge or no vertex; and their parts.
  CHECK(std::count(more.begin(), more.end(), 8U) >= 2);
  const Symmetry torus = symmetry("torus2d:4x4");
  const auto groups = semiregular_subgroups(torus.generators, 16, 1000, 4);
  CHECK(orders(groups) == std::vector<std::size_t>{16, 8, 4, 2});
}

TEST_CASE("the largest semiregular group of DGX-1 is found") {
  const std::vector<Permutation> all = all_symmetries_of_dgx1();
  std::size_t largest = 1;
  for (const Permutation& a : all)
    for (const Permutation& b : all)
      for (const Permutation& c : all) {
        const std::vector<Permutation> generators{a, b, c}; // enough for at most 8 elements
        const std::vector<Permutation> group = elements(generators, 8, 8);
        if (!group.empty() && is_semiregular(group)) largest = std::max(largest, group.size());
      }
  const Symmetry found = symmetry("dgx1");
  const auto groups = semiregular_subgroups(found.generators, 8, 1000, 10);
  REQUIRE(largest > 1);
  REQUIRE_FALSE(groups.empty());
  CHECK(groups.front().size() == largest);
  check_promises(groups, found);
}

TEST_CASE("two factors of a product too large to list give a regular group together") {
  const Permutation turn{1, 2, 3, 4, 5, 6, 7, 0}, swap{1, 0, 2, 3, 4, 5, 6, 7};
  Symmetry product{64, {}}; // all permutations of the rows, and of the columns
  for (const Permutation& p : {turn, swap}) {
    Permutation& rows = product.generators.emplace_back();
    for (std::uint32_t i = 0; i < 64; ++i) rows.push_back(p[i / 8] * 8 + i % 8);
    Permutation& columns = product.generators.emplace_back();
    for (std::uint32_t i = 0; i < 64; ++i) columns.push_back(i / 8 * 8 + p[i % 8]);
  }
  const auto groups = semiregular_subgroups(product.generators, 64, 2000, 8);
  REQUIRE_FALSE(groups.empty());
  CHECK(groups.front().size() == 64);
  check_promises(groups, product);
}

TEST_CASE("where nothing moves every point there is no semiregular subgroup") {
  const std::vector<Permutation> star{{0, 2, 3, 1}, {0, 2, 1, 3}};
  CHECK(semiregular_subgroups(star, 4, 100, 10).empty());
  CHECK(semiregular_subgroups(star, 4, 3, 10).empty()); // by random products
  CHECK(semiregular_subgroups({}, 4, 100, 10).empty());
}

TEST_CASE("semiregular subgroups are the same each time") {
  const Symmetry found = symmetry("fully_connected:16");
  CHECK(semiregular_subgroups(found.generators, 16, 1000, 8) ==
        semiregular_subgroups(found.generators, 16, 1000, 8));
}

TEST_CASE("a search by parts finds the same group") {
  for (const char* text : {"ring:8", "hypercube:4", "fully_connected:6", "switch:6", "rfs:2x2x3"}) {
    INFO(text);
    const ColouredGraph graph = graph_of(make_topology(text));
    const auto order = [&](AutomorphismSearch how) {
      return elements(automorphism_generators(graph, how), graph.colours.size(), 10'000).size();
    };
    CHECK(order(AutomorphismSearch::by_parts) > 1);
    CHECK(order(AutomorphismSearch::by_parts) == order(AutomorphismSearch::plain));
  }
  const ColouredGraph coloured{{0, 1, 2}, {{0, 1}, {1, 2}, {2, 0}}};
  CHECK(automorphism_generators(coloured, AutomorphismSearch::by_parts).empty());
  CHECK(automorphism_generators({}, AutomorphismSearch::by_parts).empty());
}

TEST_CASE("points beyond those that must move go along") {
  // A square that turns, and two points that each turn exchanges; all that must move is the square.
  const std::vector<Permutation> turn{{1, 2, 3, 0, 5, 4}};
  const auto groups = semiregular_subgroups(turn, 4, 100, 10);
  REQUIRE(orders(groups) == std::vector<std::size_t>{4, 2});
  CHECK(as_set(groups.front()) == as_set(elements(turn, 6, 4)));
  CHECK(semiregular_subgroups(turn, 6, 100, 10).empty());
}

} // namespace automorphisms_test
