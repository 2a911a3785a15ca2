#include "synth/solvers/automorphisms.hpp"

#if __has_include(<bliss/digraph.hh>)
#include <bliss/digraph.hh> // from 0.77 on
#else
#include <bliss/graph.hh>
#endif

#include <algorithm>
#include <vector>

namespace tutti {

namespace {

using Arc = std::pair<std::uint32_t, std::uint32_t>;

std::vector<Arc> distinct(std::vector<Arc> arcs) {
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  return arcs;
}

bool is_permutation(const Permutation& permutation) {
  std::vector<bool> hit(permutation.size());
  for (const std::uint32_t image : permutation) {
    if (image >= hit.size() || hit[image]) return false;
    hit[image] = true;
  }
  return true;
}

using Found = std::vector<Permutation>;

// bliss 0.73 reports to a function with an argument of the caller's, 0.77 to a std::function.
template <typename Search> void search_generators(Search& search, Found& found) {
  bliss::Stats stats;
  const auto report = [&found](unsigned size, const unsigned* image) {
    found.emplace_back(image, image + size);
  };
  if constexpr (requires { search.find_automorphisms(stats, report); }) {
    search.find_automorphisms(stats, report);
  } else {
    search.find_automorphisms(
        stats,
        [](void* target, unsigned size, const unsigned* image) {
          static_cast<Found*>(target)->emplace_back(image, image + size);
        },
        &found);
  }
}

} // namespace

std::vector<Permutation> automorphism_generators(const ColouredGraph& graph) {
  bliss::Digraph search;
  search.set_component_recursion(false); // 0.73 leaks memory by it where colours tell all apart
  for (const std::uint32_t colour : graph.colours) search.add_vertex(colour);
  for (const auto& [from, to] : distinct(graph.arcs)) search.add_edge(from, to);
  Found found;
  search_generators(search, found);
  // A symmetry that is none would make wrong schedules and wrong proofs: better have fewer.
  std::erase_if(found, [&](const Permutation& made) { return !is_automorphism(graph, made); });
  return found;
}

bool is_automorphism(const ColouredGraph& graph, const Permutation& permutation) {
  if (permutation.size() != graph.colours.size() || !is_permutation(permutation)) return false;
  for (std::size_t v = 0; v < permutation.size(); ++v)
    if (graph.colours[permutation[v]] != graph.colours[v]) return false;
  std::vector<Arc> images;
  for (const auto& [from, to] : graph.arcs) images.emplace_back(permutation[from], permutation[to]);
  return distinct(std::move(images)) == distinct(graph.arcs);
}

} // namespace tutti
