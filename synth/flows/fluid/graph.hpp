// A flow problem as a coloured graph, and its symmetries as permutations of everything in it.
#pragma once

#include "synth/flows/fluid/fluid.hpp"
#include "synth/symmetry/automorphisms.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// "Whole" permutations are of nodes, those that are ends of demands (a source or a sink) first;
/// then links, shared groups and demands. The problem must outlive it.
class FlowGraph {
public:
  explicit FlowGraph(const FlowProblem& problem);

  [[nodiscard]] std::size_t ends() const { return ends_; } ///< nodes that are ends
  [[nodiscard]] std::uint32_t place_of(std::uint32_t node) const { return place_[node]; }
  [[nodiscard]] std::size_t size() const { return demands_ + problem_.demands.size(); }

  /// Of the group of all whole permutations that are symmetries, exchange only nodes of the same
  /// mark (`marks` [place of a node]), and commute on nodes with all in `commuting`. None that
  /// move neither a node nor a link. Errors: LimitReached.
  [[nodiscard]] std::vector<Permutation> generators(const std::vector<std::uint32_t>& marks,
                                                    std::span<const Permutation> commuting,
                                                    const WorkLimit& limit) const;

  [[nodiscard]] FlowAutomorphism decoded(const Permutation& whole) const;
  [[nodiscard]] Permutation encoded(const FlowAutomorphism& one) const;

private:
  void find_plain_links();
  [[nodiscard]] ColouredGraph graph(const std::vector<std::uint32_t>& marks,
                                    std::span<const Permutation> commuting) const;
  [[nodiscard]] Permutation whole(const Permutation& of_vertices) const;

  const FlowProblem& problem_;
  std::uint32_t nodes_, groups_, demands_;     // how many; where these begin in whole permutations
  std::vector<std::uint32_t> place_, node_at_; // [node]; [place]
  std::vector<std::uint32_t> classes_;         // [place]: what tells nodes apart at first sight
  std::size_t ends_ = 0;
  // Links that are only arcs, as their ends' classes tell all about them: ((from, to), link).
  std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>> plain_;
  std::vector<std::uint32_t> others_;        // links that are vertices, ascending
  std::vector<std::uint32_t> vertex_of_set_; // of one node: the node's
  std::vector<FlowSet> crowds_;              // sets of several nodes
  // Vertices: nodes by place, others_, groups, demands, crowds_, images of what to commute with.
  std::uint32_t group_vertices_, demand_vertices_, crowd_vertices_;
};

} // namespace tutti
