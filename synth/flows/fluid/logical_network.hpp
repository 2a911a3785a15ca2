// Paths between nodes that copy: links in a row through nodes that only pass data on.
#pragma once

#include "synth/flows/packing/arborescence.hpp"
#include "synth/flows/problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// The cheapest path between any two of its vertices: the nodes that copy, and those where data
/// starts or ends. Data gets through a node that doesn't copy, and nowhere through one that does
/// (it could stop there as well).
class LogicalNetwork {
public:
  /// `members` [node]: where data starts or ends. The network must outlive this.
  LogicalNetwork(const FlowNetwork& network, const std::vector<bool>& members);

  /// Finds the cheapest paths anew, of equal ones that with fewest links. `costs` [link] >= 0.
  /// Cost: O(vertices * links between nodes that don't copy * log).
  void set_costs(std::span<const std::int64_t> costs);

  /// By from; one for each pair that is connected.
  [[nodiscard]] std::span<const CostedArc> arcs() const { return arcs_; }
  /// The links of an arc, in order.
  void append_path(std::uint32_t arc, std::vector<std::uint32_t>& links) const;
  [[nodiscard]] bool is_vertex(std::uint32_t node) const { return vertex_[node]; }
  [[nodiscard]] const FlowNetwork& network() const { return network_; }

private:
  /// A node that a search has come to, by a link from an earlier one.
  struct Step {
    std::uint32_t link, before; ///< before: index into steps_; UINT32_MAX: the start
  };
  void search(std::uint32_t start, std::span<const std::int64_t> costs);

  const FlowNetwork& network_;
  std::vector<bool> vertex_;
  std::vector<CostedArc> arcs_;
  std::vector<std::uint32_t> last_step_; ///< [arc]
  std::vector<Step> steps_;

  struct Reached { // of one search, for each node
    std::int64_t cost = 0;
    std::uint32_t links = 0, step = 0, search = 0;
    bool settled = false;
  };
  std::vector<Reached> reached_;
  std::uint32_t searches_ = 0;
};

} // namespace tutti
