// bliss searches, this file guards: duplicate arcs are merged before, and every generator is
// checked against the graph after, since a false symmetry would make wrong schedules and wrong
// proofs. The quick search by components runs in a process of its own, as bliss 0.73 may abort in
// it.

#include "synth/symmetry/automorphisms.hpp"

#include "sim/processes/isolated.hpp"

#if __has_include(<bliss/digraph.hh>)
#include <bliss/digraph.hh> // from 0.77 on
#else
#include <bliss/graph.hh>
#endif

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
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

// Pre: arcs are sorted and distinct; a permutation, which takes different arcs to different ones.
bool keeps(const std::vector<Arc>& arcs, const Permutation& permutation) {
  return std::ranges::all_of(arcs, [&](const Arc& arc) {
    const Arc image{permutation[arc.first], permutation[arc.second]};
    return image == arc || std::binary_search(arcs.begin(), arcs.end(), image);
  });
}

bool keeps(const std::vector<std::uint32_t>& colours, const Permutation& permutation) {
  for (std::size_t v = 0; v < permutation.size(); ++v)
    if (colours[permutation[v]] != colours[v]) return false;
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

bool is_identity(const Permutation& permutation) {
  for (std::size_t v = 0; v < permutation.size(); ++v)
    if (permutation[v] != v) return false;
  return true;
}

Found searched(const std::vector<std::uint32_t>& colours, const std::vector<Arc>& arcs,
               bool by_parts) {
  bliss::Digraph search;
  search.set_component_recursion(by_parts);
  if (by_parts) search.set_splitting_heuristic(bliss::Digraph::shs_f);
  for (const std::uint32_t colour : colours) search.add_vertex(colour);
  for (const auto& [from, to] : arcs) search.add_edge(from, to);
  Found found;
  search_generators(search, found);
  return found;
}

/// Component recursion finds generators that exchange two parts each, but bliss 0.73 aborts in it
/// on some graphs, since what it takes for a component isn't one (its author advises against it, as
/// SCIP's source notes), and leaks memory on others: so in a process of its own, which may die.
Found searched_by_parts(const std::vector<std::uint32_t>& colours, const std::vector<Arc>& arcs,
                        const WorkLimit& limit) {
  const auto search = [&] {
    const rlimit no_dump{0, 0};
    setrlimit(RLIMIT_CORE, &no_dump);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO); // where it would say why it aborts
    std::string bytes;
    for (const Permutation& one : searched(colours, arcs, true))
      bytes.append(reinterpret_cast<const char*>(one.data()), one.size() * sizeof(one.front()));
    return bytes;
  };
  Found found;
  try {
    const std::string bytes =
        bytes_of_child(search, [&](const WorkProgress&) { return limit.reached(); });
    const std::size_t each = colours.size() * sizeof(std::uint32_t);
    for (std::size_t at = 0; at < bytes.size(); at += each) {
      Permutation& one = found.emplace_back(colours.size());
      std::memcpy(one.data(), bytes.data() + at, each);
    }
  } catch (const Stopped&) {
    throw LimitReached();
  } catch (const std::runtime_error&) {
    found = searched(colours, arcs, false);
  }
  return found;
}

} // namespace

std::vector<Permutation> automorphism_generators(const ColouredGraph& graph, AutomorphismSearch how,
                                                 const WorkLimit& limit) {
  const std::vector<Arc> arcs = distinct(graph.arcs);
  Found found = how == AutomorphismSearch::by_parts && !graph.colours.empty()
                    ? searched_by_parts(graph.colours, arcs, limit)
                    : searched(graph.colours, arcs, false);
  // A symmetry that is none would make wrong schedules and wrong proofs: better have fewer.
  std::erase_if(found, [&](const Permutation& made) {
    return is_identity(made) || !is_permutation(made) || !keeps(graph.colours, made) ||
           !keeps(arcs, made);
  });
  return found;
}

} // namespace tutti
