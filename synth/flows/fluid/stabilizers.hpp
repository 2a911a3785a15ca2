// What symmetries make one: classes of nodes, links, resources and demands that they exchange, and
// what is left of these where a demand or a node has to stay where it is.
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

} // namespace tutti
