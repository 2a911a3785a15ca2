// Direct factors are found as components of the graph of generators that don't commute. In each,
// generators that move equally many points are swaps at one level of the structure; a swap that
// joins two sets of parts extends the cycle, one that joins none would close it and is left out.

#include "synth/symmetry/swap_products.hpp"

#include "sim/graphs/disjoint_sets.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

std::vector<std::uint32_t> moved_points(const Permutation& permutation, std::size_t points) {
  std::vector<std::uint32_t> moved;
  for (std::uint32_t i = 0; i < points; ++i)
    if (permutation[i] != i) moved.push_back(i);
  return moved;
}

/// `moved`: the points that a moves. It suffices to compare there: if they agree, b maps these to
/// themselves, and so all others, too.
bool commute(const Permutation& a, const Permutation& b, const std::vector<std::uint32_t>& moved) {
  return std::ranges::all_of(moved, [&](std::uint32_t i) { return b[a[i]] == a[b[i]]; });
}

} // namespace

std::vector<Permutation> swap_products(std::span<const Permutation> generators,
                                       std::size_t points) {
  std::vector<std::vector<std::uint32_t>> moved;
  for (const Permutation& generator : generators) moved.push_back(moved_points(generator, points));
  DisjointSets factors(generators.size());
  for (std::uint32_t a = 0; a < generators.size(); ++a)
    for (std::uint32_t b = 0; b < a; ++b) {
      const std::uint32_t fewer = moved[a].size() < moved[b].size() ? a : b, other = a + b - fewer;
      if (factors.find(a) != factors.find(b) &&
          !commute(generators[fewer], generators[other], moved[fewer]))
        factors.join(a, b);
    }
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::uint32_t>> classes;
  for (std::uint32_t i = 0; i < generators.size(); ++i)
    classes[{moved[i].size(), factors.find(i)}].push_back(i);
  std::vector<Permutation> products;
  for (const auto& [key, members] : classes) {
    if (key.first == 0) continue;
    Permutation product(generators.front().size());
    std::iota(product.begin(), product.end(), 0U);
    DisjointSets parts(points);
    for (const std::uint32_t i : members) {
      bool joins = false; // one that doesn't would close a cycle of swaps
      for (const std::uint32_t point : moved[i])
        joins = parts.join(point, generators[i][point]) || joins;
      if (joins) product = composed(product, generators[i]);
    }
    products.push_back(std::move(product));
  }
  return products;
}

} // namespace tutti
