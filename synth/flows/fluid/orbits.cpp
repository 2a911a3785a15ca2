// What one master row and one column stand for: orbits of resources and of demands under the chosen
// group. An All-Reduce may be rooted at any node that copies and reduces; roots in one orbit give
// equal trees, so one of each is tried.

#include "synth/flows/fluid/orbits.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {

namespace {

/// [point]: the least point of its orbit.
std::vector<std::uint32_t> orbits_of(std::span<const FlowAutomorphism> symmetry,
                                     Permutation FlowAutomorphism::*points, std::size_t count) {
  std::vector<Permutation> moves;
  for (const FlowAutomorphism& one : symmetry) moves.push_back(one.*points);
  return orbits(moves, count);
}

std::vector<std::uint32_t> first_of_each(const std::vector<std::uint32_t>& points,
                                         const std::vector<std::uint32_t>& orbit_of) {
  std::vector<std::uint32_t> first;
  std::vector<bool> seen(orbit_of.size());
  for (const std::uint32_t point : points) {
    if (!seen[orbit_of[point]]) first.push_back(point);
    seen[orbit_of[point]] = true;
  }
  return first;
}

} // namespace

FlowOrbits flow_orbits(const FlowProblem& problem, std::span<const FlowAutomorphism> symmetry) {
  FlowOrbits result;
  const std::uint32_t resources = problem.network.resource_count();
  const std::vector<std::uint32_t> first =
      orbits_of(symmetry, &FlowAutomorphism::resources, resources);
  result.of_resource.resize(resources);
  for (std::uint32_t r = 0; r < resources; ++r) {
    if (first[r] == r) {
      result.of_resource[r] = static_cast<std::uint32_t>(result.size.size());
      result.size.push_back(0);
      result.bandwidth.push_back(static_cast<double>(problem.network.resources[r].bandwidth));
    }
    result.of_resource[r] = result.of_resource[first[r]];
    result.size[result.of_resource[r]] += 1;
  }
  const std::vector<std::uint32_t> demand_orbit =
      orbits_of(symmetry, &FlowAutomorphism::demands, problem.demands.size());
  const std::vector<std::uint32_t> node_orbit =
      orbits_of(symmetry, &FlowAutomorphism::nodes, problem.network.node_count());
  std::map<std::uint32_t, std::size_t> place; // of an orbit among the representatives
  for (std::uint32_t d = 0; d < problem.demands.size(); ++d) {
    const auto [at, added] = place.emplace(demand_orbit[d], result.representatives.size());
    if (!added) {
      ++result.representatives[at->second].images;
      continue;
    }
    Representative one{d, 1, {}};
    if (problem.demands[d].kind == FlowKind::both)
      one.roots = first_of_each(combining_roots(problem, problem.demands[d]), node_orbit);
    result.representatives.push_back(std::move(one));
  }
  return result;
}

namespace {

/// [node]: whether `from` reaches it over links of the network.
std::vector<bool> reached_from(const FlowNetwork& network, std::uint32_t from) {
  std::vector<bool> seen(network.node_count());
  std::vector<std::uint32_t> open{from};
  seen[from] = true;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const std::uint32_t link : network.out_links[at]) {
      const std::uint32_t to = network.links[link].to;
      if (!seen[to]) open.push_back(to);
      seen[to] = true;
    }
  }
  return seen;
}

/// [node]: whether each of the nodes reaches it. Those that the first one reaches and that reach it
/// are searched from once. `back`: the reversed network.
std::vector<bool> reached_by_all(const FlowNetwork& network, const FlowNetwork& back,
                                 std::span<const std::uint32_t> nodes) {
  std::vector<bool> all = reached_from(network, nodes.front());
  std::vector<bool> alike = reached_from(back, nodes.front());
  for (std::size_t v = 0; v < alike.size(); ++v) alike[v] = alike[v] && all[v];
  for (const std::uint32_t node : nodes) {
    if (alike[node]) continue;
    const std::vector<bool> seen = reached_from(network, node);
    for (std::size_t v = 0; v < all.size(); ++v) all[v] = all[v] && seen[v];
  }
  return all;
}

} // namespace

std::vector<std::uint32_t> combining_roots(const FlowProblem& problem, const FlowDemand& demand) {
  std::vector<std::uint32_t> inside, outside;
  const FlowNetwork back = reversed(problem.network);
  const std::vector<bool> reached = reached_by_all(problem.network, back, problem.sources(demand)),
                          serves = reached_by_all(back, problem.network, problem.sinks(demand));
  for (std::uint32_t v = 0; v < problem.network.node_count(); ++v) {
    if (!problem.network.copies[v] || !problem.network.reduces[v]) continue;
    if (!reached[v] || !serves[v]) continue; // no part of the network that this demand can use
    const bool is_member = std::ranges::binary_search(problem.sources(demand), v) ||
                           std::ranges::binary_search(problem.sinks(demand), v);
    (is_member ? inside : outside).push_back(v);
  }
  if (outside.size() <= inside.size()) inside.insert(inside.end(), outside.begin(), outside.end());
  return inside;
}

} // namespace tutti
