// Why: a fluid schedule is expanded from few trees by a group in which no element but the identity
// fixes a source or a sink, so that images share the load evenly. Of such groups commuting ones are
// looked for first (translations of tori, rails and nodes); where they are smaller than could be,
// small groups are searched through as a whole.

#include "synth/flows/fluid/symmetry.hpp"

#include "synth/flows/fluid/graph.hpp"
#include "synth/symmetry/commuting_group.hpp"
#include "synth/symmetry/semiregular.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

/// The largest group of few elements: where there are no large commuting ones, as in small groups
/// without.
std::vector<Permutation> semiregular_among_few(std::span<const Permutation> generators,
                                               std::size_t points) {
  constexpr std::size_t most_elements = 4096, most_work = 4'000'000;
  const std::size_t elements = std::min(most_elements, most_work / generators.front().size());
  std::vector<std::vector<Permutation>> groups =
      semiregular_subgroups(generators, points, elements, 1);
  return groups.empty() ? std::vector<Permutation>{} : std::move(groups.front());
}

std::vector<Permutation> semiregular_group(const FlowProblem& problem, const FlowGraph& graph,
                                           const std::vector<Permutation>& generators,
                                           const WorkLimit& limit) {
  constexpr std::size_t most_numbers = 500'000'000 / sizeof(std::uint32_t);
  const std::size_t size = generators.front().size(), points = graph.ends(),
                    numbers = size + problem.network.link_count(),
                    most = std::max<std::size_t>(1, most_numbers / numbers);
  const std::vector<std::uint32_t> marks =
      orbits(generators, problem.network.node_count()); // of places
  const auto centralizer = [&](std::span<const Permutation> group) {
    return graph.generators(marks, group, limit);
  };
  const CommutingGroup commuting =
      semiregular_commuting_group(generators, points, most, centralizer);
  if (commuting.order() < most_semiregular_elements(generators, points, most)) {
    std::vector<Permutation> other = semiregular_among_few(generators, points);
    if (other.size() > commuting.order()) return other;
  }
  return elements(commuting, size);
}

} // namespace

std::vector<FlowAutomorphism> flow_automorphisms(const FlowProblem& problem,
                                                 std::span<const std::uint32_t> fixed,
                                                 const WorkLimit& limit) {
  const FlowGraph graph(problem);
  std::vector<std::uint32_t> marks(problem.network.node_count());
  for (std::uint32_t next = 1; const std::uint32_t n : fixed) marks[graph.place_of(n)] = next++;
  std::vector<FlowAutomorphism> found;
  for (const Permutation& one : graph.generators(marks, {}, limit))
    found.push_back(graph.decoded(one));
  return found;
}

std::vector<FlowAutomorphism> free_flow_symmetry(const FlowProblem& problem,
                                                 std::span<const FlowAutomorphism> generators,
                                                 const WorkLimit& limit) {
  const FlowGraph graph(problem);
  std::vector<Permutation> wholes;
  for (const FlowAutomorphism& one : generators) wholes.push_back(graph.encoded(one));
  Permutation identity(graph.size());
  std::iota(identity.begin(), identity.end(), 0U);
  std::vector<Permutation> group{std::move(identity)};
  if (!wholes.empty() && graph.ends() > 0) group = semiregular_group(problem, graph, wholes, limit);
  std::vector<FlowAutomorphism> symmetry;
  symmetry.reserve(group.size());
  for (const Permutation& element : group) symmetry.push_back(graph.decoded(element));
  return symmetry;
}

} // namespace tutti
