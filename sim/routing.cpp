// A reverse Dijkstra per destination gives distances; the next link of each node is the least id
// among those that lie on a shortest path, so that routes do not depend on the order of the search.
// A dimension-order route joins such paths within one dimension each, from corner to corner.

#include "sim/routing.hpp"

#include "sim/error.hpp"
#include "sim/graphs/shortest_paths.hpp"
#include "sim/out_of_reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tutti {

namespace {

constexpr int every_dimension = -1;

enum class Along { forward, backward };

bool in_dimension(const Topology& topology, LinkId link, int dimension) {
  return dimension == every_dimension || topology.link(link).dimension == dimension;
}

/// The nodes that `start` reaches (or that reach it), itself first, over the links of a dimension.
std::vector<NodeId> reached(const Topology& topology, NodeId start, Along along, int dimension) {
  std::unordered_set<NodeId> seen{start};
  std::vector<NodeId> nodes{start};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool ahead = along == Along::forward;
    for (const LinkId link : ahead ? topology.out_links(nodes[i]) : topology.in_links(nodes[i])) {
      const NodeId next = ahead ? topology.link(link).to : topology.link(link).from;
      if (in_dimension(topology, link, dimension) && seen.insert(next).second)
        nodes.push_back(next);
    }
  }
  return nodes;
}

} // namespace

std::string_view to_text(Routing routing) {
  switch (routing) {
  case Routing::automatic: return "auto";
  case Routing::shortest: return "shortest";
  case Routing::dimension_order: break;
  }
  return "dimension-order";
}

Routing parse_routing(std::string_view text) {
  std::vector<std::string> known;
  for (const Routing routing : {Routing::automatic, Routing::shortest, Routing::dimension_order}) {
    if (to_text(routing) == text) return routing;
    known.emplace_back(to_text(routing));
  }
  throw InputError(unknown_name("routing", text, known));
}

Router::Router(const Topology& topology, Routing routing, Bytes size)
    : topology_(topology), routing_(routing) {
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    cost_.push_back(topology.link(LinkId{l}).latency.ps +
                    serialization(size, topology.effective_bandwidth(LinkId{l})).ps);
  trees_.resize(topology.shape().size() + 1);
  for (auto& by_destination : trees_) by_destination.resize(topology.node_count());

  if (routing == Routing::dimension_order && topology.shape().empty())
    throw InputError(
        fmt::format("{} has no coordinates: no dimension-order routing", topology.name()));
  index_coordinates();
  if (routing == Routing::automatic)
    routing_ = every_line_connected() ? Routing::dimension_order : Routing::shortest;
}

void Router::index_coordinates() {
  const std::span<const int> shape = topology_.shape();
  if (shape.empty()) return;
  constexpr std::size_t most = std::size_t{1} << 26; // 256 MB; a sparse shape may be any size
  std::size_t positions = 1;
  for (const int extent : shape) {
    positions *= static_cast<std::size_t>(extent);
    if (positions <= most) continue;
    if (routing_ == Routing::dimension_order)
      throw InputError(fmt::format("{}: the shape {} is too large for dimension-order routing",
                                   topology_.name(), fmt::join(shape, "x")));
    return;
  }
  npu_at_.resize(positions);
  for (std::uint32_t n = 0; n < topology_.npu_count(); ++n)
    npu_at_[position(topology_.coordinate(NodeId{n}))] = NodeId{n};
}

std::size_t Router::position(std::span<const int> coordinate) const {
  std::size_t index = 0;
  for (std::size_t d = 0; d < coordinate.size(); ++d)
    index = index * static_cast<std::size_t>(topology_.shape()[d]) +
            static_cast<std::size_t>(coordinate[d]);
  return index;
}

bool Router::every_line_connected() const {
  const std::span<const int> shape = topology_.shape();
  if (npu_at_.empty()) return false;
  if (std::ranges::any_of(npu_at_, [](NodeId npu) { return !npu.valid(); })) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (const NodeId start : npu_at_) {
      if (topology_.coordinate(start)[d] != 0) continue; // one start per line
      for (const Along along : {Along::forward, Along::backward}) {
        const std::vector<NodeId> line = reached(topology_, start, along, static_cast<int>(d));
        const auto npus = std::ranges::count_if(
            line, [&](NodeId node) { return node.value < topology_.npu_count(); });
        if (npus != shape[d]) return false;
      }
    }
  return true;
}

Router::Tree Router::tree_to(NodeId to, int dimension) const {
  const auto usable = [&](LinkId link) { return in_dimension(topology_, link, dimension); };
  constexpr std::int64_t far = INT64_MAX;
  std::vector<std::int64_t> distance(topology_.node_count(), far);
  search_shortest_paths(distance, {&to.value, 1}, [&](auto node, auto rest, const auto& relax) {
    for (const LinkId link : topology_.in_links(NodeId{node}))
      if (usable(link)) relax(topology_.link(link).from.value, rest + cost_[link.value]);
  });
  // Of several shortest paths the one with the least link ids, from the start on.
  Tree tree{std::vector<LinkId>(topology_.node_count())};
  for (std::uint32_t node = 0; node < topology_.node_count(); ++node) {
    if (distance[node] == far || node == to.value) continue;
    for (const LinkId link : topology_.out_links(NodeId{node})) {
      const std::int64_t rest = distance[topology_.link(link).to.value];
      if (!usable(link) || rest == far || rest + cost_[link.value] != distance[node]) continue;
      tree.next[node] = link;
      break;
    }
  }
  return tree;
}

const Router::Tree& Router::tree(NodeId to, int dimension) {
  Tree& kept = trees_[static_cast<std::size_t>(dimension + 1)][to.value];
  if (kept.next.empty()) kept = tree_to(to, dimension);
  return kept;
}

bool Router::append_route(NodeId from, NodeId to) {
  const Tree& towards = tree(to, every_dimension);
  for (NodeId at = from; at != to; at = topology_.link(path_.back()).to) {
    if (!towards.next[at.value].valid()) return false;
    path_.push_back(towards.next[at.value]);
  }
  return true;
}

bool Router::append_dimension_order(NodeId from, NodeId to) {
  const std::span<const int> target = topology_.coordinate(to);
  std::vector<int> corner(topology_.coordinate(from).begin(), topology_.coordinate(from).end());
  NodeId at = from;
  for (std::size_t d = 0; d < target.size(); ++d) {
    if (corner[d] == target[d]) continue;
    corner[d] = target[d];
    const NodeId turn = npu_at_[position(corner)];
    if (!turn.valid()) return false;
    const Tree& towards = tree(turn, static_cast<int>(d));
    for (; at != turn; at = topology_.link(path_.back()).to) {
      if (!towards.next[at.value].valid()) return false;
      path_.push_back(towards.next[at.value]);
    }
  }
  return at == to;
}

std::span<const LinkId> Router::route(NodeId from, NodeId to) {
  path_.clear();
  const bool found = routing_ == Routing::dimension_order ? append_dimension_order(from, to)
                                                          : append_route(from, to);
  if (!found && routing_ == Routing::dimension_order)
    throw InputError(fmt::format("{}: no dimension-order route from {} to {}; try shortest",
                                 topology_.name(), topology_.node(from).name,
                                 topology_.node(to).name));
  if (!found)
    throw OutOfReach(fmt::format("{}: {} can't be reached from {}", topology_.name(),
                                 topology_.node(to).name, topology_.node(from).name));
  return path_;
}

} // namespace tutti
