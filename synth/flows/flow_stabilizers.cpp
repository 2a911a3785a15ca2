#include "synth/flows/flow_stabilizers.hpp"

#include "synth/flows/flow_symmetry.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

namespace tutti {

namespace {

// Up to here stabilizers are picked from a list of all elements.
constexpr std::size_t most_elements = 64;

/// Adds a resource for each weight, of a bandwidth that no other has.
void add_weight_resources(FlowNetwork& network, std::span<const double> weights) {
  std::map<double, std::vector<std::uint32_t>> links;
  for (std::uint32_t l = 0; l < weights.size(); ++l) links[weights[l]].push_back(l);
  if (links.size() < 2) return;
  std::int64_t bandwidth = 0;
  for (auto& [weight, some] : links) {
    for (const std::uint32_t l : some) network.resources_of[l].push_back(network.resource_count());
    network.resources.push_back({--bandwidth, std::move(some)});
  }
}

void append(Permutation& all, const Permutation& block, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t i = 0; i < end - begin; ++i) all.push_back(begin + block[i]);
}

std::vector<std::uint32_t> block(const std::vector<std::uint32_t>& all, std::uint32_t begin,
                                 std::uint32_t end) {
  std::vector<std::uint32_t> part(all.begin() + begin, all.begin() + end);
  for (std::uint32_t& each : part) each -= begin;
  return part;
}

/// Makes `generators` all elements if there are few.
void list_elements(FlowGroup& group, std::size_t points) {
  std::vector<Permutation> all = elements(group.generators, points, most_elements);
  group.order = all.size();
  if (!all.empty()) group.generators = std::move(all);
}

FlowGroup stabilizer(const FlowGroup& group, std::uint32_t point) {
  FlowGroup less = group;
  std::erase_if(less.generators, [&](const Permutation& each) { return each[point] != point; });
  less.order = less.generators.size();
  return less;
}

} // namespace

FlowStabilizers::FlowStabilizers(const FlowProblem& problem, std::span<const double> weights,
                               bool known)
    : coloured_(problem), known_(known) {
  at_.links = problem.network.node_count();
  at_.resources = at_.links + problem.network.link_count();
  at_.demands = at_.resources + problem.network.resource_count();
  at_.end = at_.demands + static_cast<std::uint32_t>(problem.demands.size());
  add_weight_resources(coloured_.network, weights);
}

FlowGroup FlowStabilizers::all() { return found({}); }

FlowGroup FlowStabilizers::keeping_demand(const FlowGroup& group, std::uint32_t demand) {
  assert(!group.demand && group.fixed.empty());
  FlowGroup less = group.order > 0 ? stabilizer(group, at_.demands + demand) : FlowGroup{};
  less.demand = demand;
  return less.order > 0 ? less : found(std::move(less));
}

FlowGroup FlowStabilizers::keeping_node(const FlowGroup& group, std::uint32_t node) {
  FlowGroup less = group;
  if (group.order > 0) less = stabilizer(group, node);
  less.fixed.push_back(node);
  return less.order > 0 ? less : found(std::move(less));
}

FlowClasses FlowStabilizers::orbits(const FlowGroup& group) const {
  const std::vector<std::uint32_t> all = tutti::orbits(group.generators, at_.end);
  return {block(all, 0, at_.links), block(all, at_.links, at_.resources),
          block(all, at_.resources, at_.demands), block(all, at_.demands, at_.end)};
}

FlowGroup FlowStabilizers::found(FlowGroup group) {
  group.generators.clear();
  if (known_) {
    std::int64_t* bytes = group.demand ? &coloured_.demands[*group.demand].bytes : nullptr;
    // an amount that no other demand has tells it from all others
    const std::int64_t amount = bytes ? std::exchange(*bytes, 0) : 0;
    for (const FlowAutomorphism& each : flow_automorphisms(coloured_, group.fixed)) {
      Permutation& all = group.generators.emplace_back();
      all.reserve(at_.end);
      append(all, each.nodes, 0, at_.links);
      append(all, each.links, at_.links, at_.resources);
      append(all, each.resources, at_.resources, at_.demands);
      append(all, each.demands, at_.demands, at_.end);
    }
    if (bytes) *bytes = amount;
  }
  list_elements(group, at_.end);
  return group;
}

} // namespace tutti
