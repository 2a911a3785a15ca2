// Cheapest trees, and bounds on trees that need not reach everyone, against all trees there are.
#include "sim/random.hpp"
#include "synth/bounds/steiner_bound.hpp"
#include "synth/flows/packing/arborescence.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace arborescence_test {

namespace {

using namespace tutti;

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct RandomGraph {
  std::uint32_t vertices;
  std::vector<CostedArc> arcs;
};

RandomGraph random_graph(Random& random) {
  RandomGraph graph{static_cast<std::uint32_t>(2 + random.below(5)), {}};
  const std::uint64_t arcs = random.below(3 * graph.vertices);
  for (std::uint64_t a = 0; a < arcs; ++a)
    graph.arcs.push_back({static_cast<std::uint32_t>(random.below(graph.vertices)),
                          static_cast<std::uint32_t>(random.below(graph.vertices)),
                          static_cast<std::int64_t>(random.below(8))});
  return graph;
}

bool reaches_all(const RandomGraph& graph, std::uint32_t root, const std::vector<bool>& chosen,
                 const std::vector<std::uint32_t>& targets) {
  std::vector<bool> reached(graph.vertices);
  reached[root] = true;
  for (std::uint32_t round = 0; round < graph.vertices; ++round)
    for (std::size_t a = 0; a < graph.arcs.size(); ++a)
      if (chosen[a] && reached[graph.arcs[a].from]) reached[graph.arcs[a].to] = true;
  return std::all_of(targets.begin(), targets.end(), [&](std::uint32_t t) { return reached[t]; });
}

/// The least cost of arcs over which all targets are reached: an in-arc or none for each vertex.
std::int64_t least_cost(const RandomGraph& graph, std::uint32_t root,
                        const std::vector<std::uint32_t>& targets) {
  std::vector<std::vector<std::size_t>> into(graph.vertices);
  for (std::size_t a = 0; a < graph.arcs.size(); ++a) into[graph.arcs[a].to].push_back(a);
  std::vector<bool> chosen(graph.arcs.size());
  std::int64_t best = never;
  const auto choose = [&](const auto& next, std::uint32_t vertex, std::int64_t cost) -> void {
    if (vertex == graph.vertices) {
      if (cost < best && reaches_all(graph, root, chosen, targets)) best = cost;
      return;
    }
    next(next, vertex + 1, cost);
    for (const std::size_t a : into[vertex]) {
      chosen[a] = true;
      next(next, vertex + 1, cost + graph.arcs[a].cost);
      chosen[a] = false;
    }
  };
  choose(choose, 0, 0);
  return best;
}

std::vector<std::uint32_t> all_but(std::uint32_t vertices, std::uint32_t root) {
  std::vector<std::uint32_t> others;
  for (std::uint32_t v = 0; v < vertices; ++v)
    if (v != root) others.push_back(v);
  return others;
}

} // namespace

TEST_CASE("minimum_arborescence finds the cheapest spanning tree out of the root") {
  Random random(7);
  int found = 0, missing = 0;
  for (int i = 0; i < 3000; ++i) {
    const RandomGraph graph = random_graph(random);
    const auto root = static_cast<std::uint32_t>(random.below(graph.vertices));
    const std::vector<std::uint32_t> into = minimum_arborescence(graph.vertices, root, graph.arcs);
    const std::int64_t least = least_cost(graph, root, all_but(graph.vertices, root));
    INFO("case " << i);
    if (into.empty()) {
      CHECK(least == never);
      ++missing;
      continue;
    }
    ++found;
    std::vector<bool> chosen(graph.arcs.size());
    std::int64_t cost = 0;
    for (std::uint32_t v = 0; v < graph.vertices; ++v) {
      if (v == root) {
        CHECK(into[v] == UINT32_MAX);
        continue;
      }
      REQUIRE(graph.arcs[into[v]].to == v);
      chosen[into[v]] = true;
      cost += graph.arcs[into[v]].cost;
    }
    CHECK(reaches_all(graph, root, chosen, all_but(graph.vertices, root)));
    CHECK(cost == least);
  }
  CHECK(found > 500);
  CHECK(missing > 500);
}

TEST_CASE("minimum_arborescence opens cycles within cycles") {
  // 1 and 2 prefer each other, both together prefer 3, and 3 prefers them
  const std::vector<CostedArc> arcs{{1, 2, 1}, {2, 1, 1},  {3, 1, 2},
                                    {2, 3, 1}, {0, 3, 10}, {0, 1, 20}};
  const std::vector<std::uint32_t> into = minimum_arborescence(4, 0, arcs);
  CHECK(into == std::vector<std::uint32_t>{UINT32_MAX, 2, 0, 4}); // 10 + 2 + 1
}

TEST_CASE("steiner_bound is never above the cheapest tree to the terminals") {
  Random random(11);
  int tight = 0, positive = 0;
  for (int i = 0; i < 2000; ++i) {
    const RandomGraph graph = random_graph(random);
    std::vector<std::uint32_t> terminals;
    for (std::uint32_t v = 1; v < graph.vertices; ++v)
      if (random.below(2) == 0) terminals.push_back(v);
    const std::int64_t least = least_cost(graph, 0, terminals);
    const std::int64_t bound = steiner_bound(graph.vertices, 0, terminals, graph.arcs);
    INFO("case " << i);
    if (least == never) {
      CHECK(bound == 0);
      continue;
    }
    CHECK(bound <= least);
    positive += least > 0 ? 1 : 0;
    tight += least > 0 && bound == least ? 1 : 0;
  }
  CHECK(positive > 300);
  CHECK(2 * tight > positive); // it is worth something
}

} // namespace arborescence_test
