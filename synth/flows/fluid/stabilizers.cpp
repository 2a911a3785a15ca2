// Nodes, resources and demands are points of one permutation domain, so that keeping a demand or a
// node is one stabilizer. Groups of up to 64 elements are listed, whose stabilizers are picked from
// the list; larger ones go by generators (symmetry/stabilizer.hpp). Weights of links are kept by a
// fictitious resource for each value.

#include "synth/flows/fluid/stabilizers.hpp"

#include "synth/flows/fluid/symmetry.hpp"
#include "synth/symmetry/stabilizer.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {

namespace {

// Up to here elements are listed, and stabilizers picked from the list.
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

std::vector<FlowAutomorphism> automorphisms_keeping(const FlowProblem& problem,
                                                    std::span<const double> weights) {
  FlowProblem weighted = problem;
  add_weight_resources(weighted.network, weights);
  return flow_automorphisms(weighted);
}

} // namespace

FlowGroup::FlowGroup(const FlowProblem& problem, std::span<const FlowAutomorphism> generators)
    : resources_(problem.network.node_count()),
      links_end_(resources_ + problem.network.link_count()),
      demands_(resources_ + problem.network.resource_count()),
      end_(demands_ + static_cast<std::uint32_t>(problem.demands.size())) {
  for (const FlowAutomorphism& each : generators) {
    Permutation& all = generators_.emplace_back();
    all.reserve(end_);
    append(all, each.nodes, 0, resources_);
    append(all, each.resources, resources_, demands_);
    append(all, each.demands, demands_, end_);
  }
  list_elements();
}

FlowGroup::FlowGroup(const FlowProblem& problem, std::span<const double> weights)
    : FlowGroup(problem, automorphisms_keeping(problem, weights)) {}

FlowGroup FlowGroup::keeping_demand(std::uint32_t demand) const {
  return keeping(demands_ + demand);
}

FlowGroup FlowGroup::keeping_node(std::uint32_t node) const { return keeping(node); }

FlowClasses FlowGroup::classes() const {
  const std::vector<std::uint32_t> all = orbits(generators_, end_);
  return {block(all, 0, resources_), block(all, resources_, links_end_),
          block(all, resources_, demands_), block(all, demands_, end_)};
}

FlowGroup FlowGroup::keeping(std::uint32_t point) const {
  FlowGroup less = *this;
  if (order_ > 0) {
    std::erase_if(less.generators_, [&](const Permutation& each) { return each[point] != point; });
    less.order_ = std::max<std::size_t>(1, less.generators_.size());
  } else {
    less.generators_ = stabilizer(generators_, point);
    less.list_elements();
  }
  return less;
}

void FlowGroup::list_elements() {
  std::vector<Permutation> all = elements(generators_, end_, most_elements);
  order_ = all.size();
  if (order_ > 0) generators_ = std::move(all);
}

} // namespace tutti
