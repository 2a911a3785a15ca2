// Symmetries of a flow problem, found by bliss on the coloured network, shared groups included; and
// what they make one: classes of nodes, links, resources and demands that they exchange, and what
// is left of these where a demand or a node has to stay where it is.
#pragma once

#include "synth/flows/fluid/fluid.hpp"
#include "synth/symmetry/permutations.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// [each]: the least that is exchanged with it.
struct FlowClasses {
  std::vector<std::uint32_t> nodes, links, resources, demands;
};

/// A group of symmetries of a flow problem; maybe fewer than there are.
class FlowGroup {
public:
  /// All that keep the weights [link] too; these may be empty.
  FlowGroup(const FlowProblem& problem, std::span<const double> weights);
  /// What these generate; without any only the identity.
  explicit FlowGroup(const FlowProblem& problem, std::span<const FlowAutomorphism> generators = {});

  /// How many, where that is known, which small groups' are; else 0.
  [[nodiscard]] std::size_t order() const { return order_; }
  [[nodiscard]] FlowGroup keeping_demand(std::uint32_t demand) const;
  [[nodiscard]] FlowGroup keeping_node(std::uint32_t node) const;
  /// Cost: O(generators * size of the problem).
  [[nodiscard]] FlowClasses classes() const;

private:
  [[nodiscard]] FlowGroup keeping(std::uint32_t point) const;
  void list_elements();

  // Points: nodes, resources (first of which are the links), demands.
  std::uint32_t resources_, links_end_, demands_, end_;
  std::vector<Permutation> generators_; ///< where the order is known, all elements
  std::size_t order_ = 1;
};

/// Generators of the group of all automorphisms: they keep links, bandwidths, shared groups,
/// abilities and demands, and leave the nodes of `fixed` where they are. Empty where there are none
/// but the identity. Those that move neither a node nor a link aren't among them. Errors:
/// LimitReached.
[[nodiscard]] std::vector<FlowAutomorphism>
flow_automorphisms(const FlowProblem& problem, std::span<const std::uint32_t> fixed = {},
                   const WorkLimit& limit = {});

/// All elements, the identity first, of a group of automorphisms that keep the orbits of nodes
/// under these and in which no element but the identity leaves any source or sink of a demand in
/// place: as large as was found, regular (as many as there are sources and sinks) if possible. Only
/// the identity where there is none. Commuting ones (commuting_group.hpp) are preferred:
/// translations, which use links most evenly. Deterministic. Cost: as of some searches by bliss,
/// below 0.3 s for 1,024 GPUs; memory 4 bytes for each element and node, link, resource and demand,
/// for which elements are given up beyond some 500 MB. Errors: LimitReached.
[[nodiscard]] std::vector<FlowAutomorphism>
free_flow_symmetry(const FlowProblem& problem, std::span<const FlowAutomorphism> generators,
                   const WorkLimit& limit = {});

} // namespace tutti
