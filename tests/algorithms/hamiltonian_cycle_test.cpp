// The search against trying all orders on small graphs, and proofs that there is no cycle.

#include "algorithms/hamiltonian_cycle.hpp"

#include "sim/random.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hamiltonian_cycle_test {

using namespace tutti;

namespace {

using Adjacency = std::vector<std::vector<std::uint32_t>>;

Adjacency undirected(std::uint32_t vertices,
                     const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
  Adjacency graph(vertices);
  for (const auto& [a, b] : edges) {
    graph[a].push_back(b);
    graph[b].push_back(a);
  }
  for (auto& next : graph) {
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
  }
  return graph;
}

/// A grid of any dimension, with wrap-around links if `torus`.
Adjacency grid(const std::vector<std::uint32_t>& shape, bool torus = false) {
  std::uint32_t vertices = 1;
  for (const std::uint32_t extent : shape) vertices *= extent;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    std::uint32_t stride = 1;
    for (const std::uint32_t extent : shape) {
      const std::uint32_t at = v / stride % extent;
      if (at + 1 < extent)
        edges.emplace_back(v, v + stride);
      else if (torus && extent > 2)
        edges.emplace_back(v, v - at * stride);
      stride *= extent;
    }
  }
  return undirected(vertices, edges);
}

/// Every vertex once (given that it is a permutation), each followed by a successor.
bool is_cycle(const Adjacency& graph, const std::vector<std::uint32_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!std::ranges::binary_search(graph[order[i]], order[(i + 1) % order.size()])) return false;
  return true;
}

void check_found(const Adjacency& graph) {
  std::vector<std::uint32_t> cycle = find_hamiltonian_cycle(graph).cycle;
  REQUIRE(cycle.size() == graph.size());
  CHECK(is_cycle(graph, cycle));
  std::ranges::sort(cycle);
  CHECK(std::unique(cycle.begin(), cycle.end()) == cycle.end());
}

} // namespace

TEST_CASE("Hamiltonian cycles are found on the usual networks") {
  check_found(grid({8, 8}));
  check_found(grid({7, 10}));
  check_found(grid({2, 9}));
  check_found(grid({32, 32}));
  check_found(grid({4, 4, 4}));
  check_found(grid({5, 5}, true));
  check_found(grid({7, 7}, true));
  check_found(grid({5, 5, 5}, true));
  check_found(grid(std::vector<std::uint32_t>(8, 2))); // hypercube
  check_found(grid({64}, true));
  // DGX-1's NVLinks: two full quads, joined by a matching.
  check_found(undirected(8, {{0, 1},
                             {0, 2},
                             {0, 3},
                             {1, 2},
                             {1, 3},
                             {2, 3},
                             {4, 5},
                             {4, 6},
                             {4, 7},
                             {5, 6},
                             {5, 7},
                             {6, 7},
                             {0, 4},
                             {1, 5},
                             {2, 6},
                             {3, 7}}));
  check_found({{1}, {2}, {3}, {0}}); // directed
  check_found({{1}, {0}});
}

TEST_CASE("where there is no Hamiltonian cycle the search proves it") {
  const Adjacency petersen = undirected(10, {{0, 1},
                                             {1, 2},
                                             {2, 3},
                                             {3, 4},
                                             {4, 0},
                                             {0, 5},
                                             {1, 6},
                                             {2, 7},
                                             {3, 8},
                                             {4, 9},
                                             {5, 7},
                                             {7, 9},
                                             {9, 6},
                                             {6, 8},
                                             {8, 5}});
  for (const Adjacency& graph :
       {petersen, grid({5, 5}), grid({9}), grid({5, 5, 5}), Adjacency{{1}, {2}, {1}},
        Adjacency{{}, {}, {}}, undirected(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 2}})}) {
    const HamiltonianSearch search = find_hamiltonian_cycle(graph);
    CHECK(search.cycle.empty());
    CHECK(search.exhaustive);
  }
}

TEST_CASE("random graphs of degree three are decided with little work") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    std::vector<std::uint32_t> order(64);
    std::iota(order.begin(), order.end(), 0);
    for (int matching = 0; matching < 3; ++matching) {
      random.shuffle(order);
      for (std::size_t i = 0; i < order.size(); i += 2) edges.emplace_back(order[i], order[i + 1]);
    }
    const HamiltonianSearch search = find_hamiltonian_cycle(undirected(64, edges), 2'000'000);
    CHECK((search.exhaustive || search.cycle.size() == 64));
  }
}

TEST_CASE("the search agrees with trying all orders") {
  int with_cycle = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Adjacency graph(6);
    for (std::uint32_t from = 0; from < 6; ++from)
      for (std::uint32_t to = 0; to < 6; ++to)
        if (from != to && random.below(10) < 4) graph[from].push_back(to);
    std::vector<std::uint32_t> order{0, 1, 2, 3, 4, 5};
    bool exists = false;
    do exists = exists || is_cycle(graph, order);
    while (std::next_permutation(order.begin() + 1, order.end()));
    const HamiltonianSearch search = find_hamiltonian_cycle(graph);
    CHECK(search.cycle.empty() == !exists);
    CHECK(search.exhaustive == !exists);
    with_cycle += exists ? 1 : 0;
  }
  CHECK(with_cycle > 20); // the cases are neither all easy nor all hopeless
  CHECK(with_cycle < 180);
}

TEST_CASE("a search that runs out of work says that it proves nothing") {
  const HamiltonianSearch search = find_hamiltonian_cycle(grid({8, 8}), 100);
  CHECK(search.cycle.empty());
  CHECK_FALSE(search.exhaustive);
}

} // namespace hamiltonian_cycle_test
