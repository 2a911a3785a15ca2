// Paths between nodes, for algorithms that think in NPU pairs. Deterministic; named in every
// report.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tutti {

enum class Routing : std::uint8_t {
  automatic, ///< dimension_order where every pair of NPUs has such a route, else shortest
  shortest,  ///< least alpha + n * beta; of several, the one whose link ids are least in order
  dimension_order, ///< one dimension after another, each by shortest path over its own links
};

[[nodiscard]] std::string_view to_text(Routing routing); ///< "auto", "shortest", "dimension-order"
[[nodiscard]] Routing parse_routing(std::string_view text);

/// Routes between all NPUs for chunks of `size` bytes. Routes are made when first asked for (one
/// reverse Dijkstra per destination, O(links log nodes)) and kept. Paths never pass a node
/// twice. Memory: 4 bytes per node for each destination asked for, per dimension.
class Router {
public:
  /// Errors: InputError where dimension_order is asked of a topology without coordinates.
  Router(const Topology& topology, Routing routing, Bytes size);

  /// The links from `from` to `to`, in order; empty for from == to. The span is valid until the
  /// next call. Errors: InputError naming both nodes where there is no path.
  [[nodiscard]] std::span<const LinkId> route(NodeId from, NodeId to);

  /// Never `automatic`: what was chosen.
  [[nodiscard]] Routing routing() const { return routing_; }

private:
  struct Tree { // next[node] = link towards the destination, or none
    std::vector<LinkId> next;
  };
  void index_coordinates();
  [[nodiscard]] std::size_t position(std::span<const int> coordinate) const;
  [[nodiscard]] bool every_line_connected() const;
  [[nodiscard]] Tree tree_to(NodeId to, int dimension) const;
  const Tree& tree(NodeId to, int dimension);
  bool append_route(NodeId from, NodeId to);
  bool append_dimension_order(NodeId from, NodeId to);

  const Topology& topology_;
  Routing routing_;
  std::vector<std::int64_t> cost_;       // per link: alpha + n * beta in ps
  std::vector<std::vector<Tree>> trees_; // [dimension + 1][destination]
  std::vector<NodeId> npu_at_; // [position of the coordinate]; invalid where an NPU is missing
  std::vector<LinkId> path_;
};

} // namespace tutti
