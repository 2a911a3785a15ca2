// What symmetries make one: orbits of nodes, links, resources and demands, and of what is left of
// them where a demand or a node has to stay where it is.
#pragma once

#include "synth/flows/flow_problem.hpp"
#include "synth/solvers/permutations.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// [each]: the least of its orbit.
struct FlowClasses {
  std::vector<std::uint32_t> nodes, links, resources, demands;
};

/// A group of symmetries of a flow problem, as FlowStabilizers finds them.
struct FlowGroup {
  std::optional<std::uint32_t> demand; ///< that stays
  std::vector<std::uint32_t> fixed;    ///< nodes that stay
  /// Of nodes, links, resources and demands, in this order.
  std::vector<Permutation> generators;
  std::size_t order = 0; ///< where it is small, and `generators` are all elements; 0: not known
};

/// Symmetries of one problem. Groups may be less than all that there are; what they make one is so.
class FlowStabilizers {
public:
  /// Symmetries keep the weights [link] too; empty: none. `known` false: only the identity.
  FlowStabilizers(const FlowProblem& problem, std::span<const double> weights, bool known);

  [[nodiscard]] FlowGroup all();
  [[nodiscard]] FlowGroup keeping_demand(const FlowGroup& group, std::uint32_t demand);
  [[nodiscard]] FlowGroup keeping_node(const FlowGroup& group, std::uint32_t node);
  /// Cost: O(generators * size of the problem).
  [[nodiscard]] FlowClasses orbits(const FlowGroup& group) const;

private:
  /// What bliss finds for the group's demand and nodes.
  [[nodiscard]] FlowGroup found(FlowGroup group);

  struct Blocks {
    std::uint32_t links, resources, demands, end;
  };
  FlowProblem coloured_; ///< with resources that tell the weights of links apart
  Blocks at_;
  bool known_;
};

} // namespace tutti
