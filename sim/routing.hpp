// Paths between nodes, for algorithms that think in NPU pairs. Deterministic; named in every
// report.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// How a path is chosen among those that there are.
struct Routing {
  enum Rule : std::uint8_t {
    automatic, ///< dimension_order where every pair of NPUs has such a route, else single in a grid
               ///< with holes, else shortest
    shortest,  ///< least alpha + n * beta; flows share equally short ones evenly
    single,    ///< the one of these whose link ids are least in order, for all flows
    ecmp_hash, ///< each node takes one of its equally short ways by a hash of flow and seed
    dimension_order, ///< one dimension after another, each by shortest path over its own links
  };
  Rule rule = automatic;
  std::uint64_t seed = 0; ///< of ecmp_hash
  /// Among equals nodes' numbers decide, and not their names: where numbers follow structure.
  bool by_number = false;

  constexpr Routing() = default;
  constexpr Routing(Rule chosen, std::uint64_t with = 0) : rule(chosen), seed(with) {}
  bool operator==(const Routing&) const = default;
};

/// "auto", "shortest", "single", "ecmp-hash,seed=3", "dimension-order".
[[nodiscard]] std::string to_text(Routing routing);
/// The seed of ecmp-hash may be left out. Errors: InputError.
[[nodiscard]] Routing parse_routing(std::string_view text);
/// "auto", ..., "ecmp-hash", as they are typed.
[[nodiscard]] std::vector<std::string> routing_names();

/// What shares routes with others: data that one node sends to another on one channel.
struct Flow {
  NodeId from, to;
  std::uint32_t channel = 0;
};

/// Routes between nodes for chunks of `size` bytes. Routes are made when first asked for (one
/// reverse Dijkstra per destination, O(links log nodes)) and kept. Paths never pass a node
/// twice. Memory: at least 8 bytes per node for each destination asked for, per dimension.
///
/// In a dimension of a grid, flows share parallel links and switches; which of two ways through
/// NPUs is taken depends on ids alone, as in every router of a torus.
class Router {
public:
  /// Errors: InputError where dimension_order is asked of a topology without coordinates.
  Router(const Topology& topology, Routing routing, Bytes size);

  /// The links of one more flow, in order; empty for from == to. Of equally short routes it takes
  /// the one whose links are least loaded by the flows of earlier calls and this one (flows by
  /// bandwidth, the sum of their fourth powers); among equals nodes' names decide. The span is
  /// valid until the next call. Errors: InputError naming both nodes where there is no path. Cost:
  /// O(nodes + links) on its shortest routes, where there are several.
  [[nodiscard]] std::span<const LinkId> route(const Flow& flow);

  /// Whether somewhere on its route a flow could leave by a link that would then have a lower load
  /// than the highest from there on: else it needn't be placed again.
  [[nodiscard]] bool could_move(const Flow& flow, std::span<const LinkId> route);

  /// Takes a flow of route() off its links: the next call for it finds the route that is best
  /// beside all others, and no longer beside those that came before.
  void withdraw(std::span<const LinkId> route);

  /// Whether flows share what is equally short by load.
  [[nodiscard]] bool balances() const { return choice() == Choice::least_loaded; }

  /// The same by switches alone; nothing where only NPUs lead there. Dimension order is none of
  /// switches: there flows share what is equally short.
  [[nodiscard]] std::optional<std::span<const LinkId>> route_by_switches(const Flow& flow);

  /// As `single` has it, or dimension order; adds no flow. Errors: as route().
  [[nodiscard]] std::span<const LinkId> first_route(NodeId from, NodeId to);

  /// How many flows each link has, which other routers' may be added to.
  [[nodiscard]] std::span<std::uint32_t> flows() { return flows_; }

  /// Whether the path of the last call was one of several, so that another channel may have
  /// another one.
  [[nodiscard]] bool had_choice() const { return had_choice_; }

  /// Never `automatic`: what was chosen.
  [[nodiscard]] Routing routing() const { return routing_; }

private:
  struct Tree {                       // ways towards the destination
    std::vector<std::uint32_t> begin; // [node], and one more
    std::vector<LinkId> links;
    [[nodiscard]] std::span<const LinkId> ways(NodeId node) const {
      return std::span(links).subspan(begin[node.value], begin[node.value + 1] - begin[node.value]);
    }
  };
  enum class Choice : std::uint8_t { first, least_loaded, by_hash };

  void index_coordinates();
  [[nodiscard]] std::size_t position(std::span<const int> coordinate) const;
  [[nodiscard]] bool every_line_connected() const;
  [[nodiscard]] bool may_cross(NodeId node, int part) const;
  [[nodiscard]] Tree tree_to(NodeId to, int part) const;
  const Tree& tree(NodeId to, int part);
  [[nodiscard]] Choice choice() const;
  bool append_route(const Flow& flow, int part, Choice choice);
  bool append_dimension_order(const Flow& flow, Choice choice);
  std::span<const LinkId> found(const Flow& flow, Choice choice);
  void weigh(const Tree& tree, NodeId from, NodeId to);
  [[nodiscard]] LinkId lightest(std::span<const LinkId> ways);
  [[nodiscard]] double load(LinkId link, double more) const;
  [[nodiscard]] double weight(LinkId link) const;

  const Topology& topology_;
  Routing routing_;
  std::vector<std::int64_t> cost_;       // per link: alpha + n * beta in ps, at least 1
  std::vector<std::vector<Tree>> trees_; // [part of the network][destination]
  std::vector<NodeId> npu_at_; // [position of the coordinate]; invalid where an NPU is missing
  std::vector<LinkId> path_;
  bool had_choice_ = false;
  std::vector<std::uint32_t> flows_;   // per link
  std::vector<double> rest_;           // per node: weight of what is left; negative: not known
  std::vector<NodeId> weighed_, open_; // nodes
  std::vector<std::uint32_t> by_name_; // per node: its place among all names
};

} // namespace tutti
