// A reverse Dijkstra per destination gives distances, and these all links that lie on shortest
// paths, so that routes don't depend on the order of the search. Switches of real fabrics spread
// flows over equally short ways (ECMP), by a hash; that a flow takes the way with the fewest others
// is the ideal of it. Fourth powers of loads, flows by bandwidth, make one busy link worse than
// several that are less so. A dimension-order route joins such paths within one dimension each,
// from corner to corner.

#include "sim/routing.hpp"

#include "sim/error.hpp"
#include "sim/graphs/shortest_paths.hpp"
#include "sim/out_of_reach.hpp"
#include "sim/random.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace tutti {

namespace {

// Parts of the network that routes may keep to, besides the dimensions of a grid.
constexpr int everything = -2, switches_only = -1, first_part = everything;

enum class Along { forward, backward };

bool in_part(const Topology& topology, LinkId link, int part) {
  return part < 0 || topology.link(link).dimension == part;
}

/// The nodes that `start` reaches (or that reach it), itself first, over the links of a dimension.
std::vector<NodeId> reached(const Topology& topology, NodeId start, Along along, int dimension) {
  std::unordered_set<NodeId> seen{start};
  std::vector<NodeId> nodes{start};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool ahead = along == Along::forward;
    for (const LinkId link : ahead ? topology.out_links(nodes[i]) : topology.in_links(nodes[i])) {
      const NodeId next = ahead ? topology.link(link).to : topology.link(link).from;
      if (in_part(topology, link, dimension) && seen.insert(next).second) nodes.push_back(next);
    }
  }
  return nodes;
}

/// Whether each link joins two NPUs along its dimension: a grid, if one with holes.
bool is_grid(const Topology& topology) {
  return !topology.shape().empty() && std::ranges::all_of(topology.links(), [&](const Link& link) {
    if (link.dimension < 0 || std::max(link.from, link.to).value >= topology.npu_count())
      return false;
    const auto from = topology.coordinate(link.from), to = topology.coordinate(link.to);
    for (std::size_t d = 0; d < from.size(); ++d)
      if ((from[d] != to[d]) != (static_cast<int>(d) == link.dimension)) return false;
    return true;
  });
}

struct RuleName {
  Routing::Rule rule;
  std::string_view name;
};
constexpr std::array<RuleName, 5> rule_names{{{Routing::automatic, "auto"},
                                              {Routing::shortest, "shortest"},
                                              {Routing::single, "single"},
                                              {Routing::ecmp_hash, "ecmp-hash"},
                                              {Routing::dimension_order, "dimension-order"}}};

} // namespace

std::string to_text(Routing routing) {
  const std::string_view name = std::ranges::find(rule_names, routing.rule, &RuleName::rule)->name;
  return routing.rule == Routing::ecmp_hash ? fmt::format("{},seed={}", name, routing.seed)
                                            : std::string(name);
}

std::vector<std::string> routing_names() {
  std::vector<std::string> names;
  for (const RuleName& each : rule_names) names.emplace_back(each.name);
  return names;
}

Routing parse_routing(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(','));
  const auto row = std::ranges::find(rule_names, name, &RuleName::name);
  if (row == rule_names.end()) throw InputError(unknown_name("routing", name, routing_names()));
  Routing routing = row->rule;
  if (name.size() == text.size()) return routing;
  constexpr std::string_view key = ",seed=";
  const std::string_view rest = text.substr(name.size());
  if (routing.rule != Routing::ecmp_hash || !rest.starts_with(key))
    throw InputError(fmt::format("routing \"{}\": only ecmp-hash takes more, its seed "
                                 "(ecmp-hash,seed=3)",
                                 text));
  routing.seed = static_cast<std::uint64_t>(
      parse_integer(rest.substr(key.size()), "seed of ecmp-hash", 0, INT64_MAX));
  return routing;
}

Router::Router(const Topology& topology, Routing routing, Bytes size)
    : topology_(topology), routing_(routing), flows_(topology.link_count()),
      rest_(topology.node_count(), -1) {
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    cost_.push_back(std::max<std::int64_t>(
        1, topology.link(LinkId{l}).latency.ps +
               serialization(size, topology.effective_bandwidth(LinkId{l})).ps));
  trees_.resize(topology.shape().size() + std::size_t{2}); // and everything, and switches only
  for (auto& by_destination : trees_) by_destination.resize(topology.node_count());

  if (routing.rule == Routing::dimension_order && topology.shape().empty())
    throw InputError(
        fmt::format("{} has no coordinates: no dimension-order routing", topology.name()));
  index_coordinates();
  if (routing.rule == Routing::automatic)
    routing_.rule = every_line_connected() ? Routing::dimension_order
                    : is_grid(topology)    ? Routing::single
                                           : Routing::shortest;
}

void Router::index_coordinates() {
  const std::span<const int> shape = topology_.shape();
  if (shape.empty()) return;
  constexpr std::size_t most = std::size_t{1} << 26; // 256 MB; a sparse shape may be any size
  std::size_t positions = 1;
  for (const int extent : shape) {
    positions *= static_cast<std::size_t>(extent);
    if (positions <= most) continue;
    if (routing_.rule == Routing::dimension_order)
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

bool Router::may_cross(NodeId node, int part) const {
  return part != switches_only || node.value >= topology_.npu_count();
}

Router::Tree Router::tree_to(NodeId to, int part) const {
  const auto usable = [&](LinkId link) { return in_part(topology_, link, part); };
  constexpr std::int64_t far = INT64_MAX;
  std::vector<std::int64_t> distance(topology_.node_count(), far);
  search_shortest_paths(distance, {&to.value, 1}, [&](auto node, auto rest, const auto& relax) {
    if (node != to.value && !may_cross(NodeId{node}, part)) return;
    for (const LinkId link : topology_.in_links(NodeId{node}))
      if (usable(link)) relax(topology_.link(link).from.value, rest + cost_[link.value]);
  });
  const auto is_npu = [&](LinkId link) {
    return topology_.link(link).to.value < topology_.npu_count();
  };
  // Links of equally short paths, in the order of their ids.
  Tree tree;
  for (std::uint32_t node = 0; node < topology_.node_count(); ++node) {
    tree.begin.push_back(static_cast<std::uint32_t>(tree.links.size()));
    if (distance[node] == far || node == to.value) continue;
    std::optional<LinkId> first;
    for (const LinkId link : topology_.out_links(NodeId{node})) {
      const NodeId next = topology_.link(link).to;
      const std::int64_t rest = distance[next.value];
      if (!usable(link) || rest == far || rest + cost_[link.value] != distance[node] ||
          (next != to && !may_cross(next, part)))
        continue;
      if (!first) first = link;
      // In a dimension whatever is next to an NPU along it comes by ids.
      if (part >= 0 && next != topology_.link(*first).to && (is_npu(*first) || is_npu(link)))
        continue;
      tree.links.push_back(link);
    }
  }
  tree.begin.push_back(static_cast<std::uint32_t>(tree.links.size()));
  return tree;
}

const Router::Tree& Router::tree(NodeId to, int part) {
  Tree& kept = trees_[static_cast<std::size_t>(part - first_part)][to.value];
  if (kept.begin.empty()) kept = tree_to(to, part);
  return kept;
}

/// Its flows, and more of them, by its bandwidth in GB/s.
double Router::load(LinkId link, double more) const {
  constexpr double gb = 1e9;
  const auto speed = static_cast<double>(topology_.effective_bandwidth(link).bytes_per_second);
  return (flows_[link.value] + more) * gb / speed;
}

/// What one more flow adds to the sum of fourth powers.
double Router::weight(LinkId link) const {
  const auto fourth_power = [](double load) { return load * load * load * load; };
  return fourth_power(load(link, 1)) - fourth_power(load(link, 0));
}

/// Sets rest_ for all nodes on the shortest paths between two: ends first, by depth.
void Router::weigh(const Tree& tree, NodeId from, NodeId to) {
  for (const NodeId node : weighed_) rest_[node.value] = -1;
  weighed_.assign(1, to);
  rest_[to.value] = 0;
  open_.assign(1, from);
  while (!open_.empty()) {
    const NodeId node = open_.back();
    if (rest_[node.value] >= 0) {
      open_.pop_back();
      continue;
    }
    double least = std::numeric_limits<double>::infinity();
    bool is_complete = true;
    for (const LinkId link : tree.ways(node)) {
      const NodeId next = topology_.link(link).to;
      if (rest_[next.value] < 0) {
        open_.push_back(next);
        is_complete = false;
      } else {
        least = std::min(least, weight(link) + rest_[next.value]);
      }
    }
    if (!is_complete) continue;
    rest_[node.value] = least;
    weighed_.push_back(node);
    open_.pop_back();
  }
}

/// By weight, then by the name or number of the node that it leads to, then by its own number.
LinkId Router::lightest(std::span<const LinkId> ways) {
  if (by_name_.empty()) {
    std::vector<std::uint32_t> nodes(topology_.node_count());
    std::iota(nodes.begin(), nodes.end(), 0);
    if (!routing_.by_number)
      std::ranges::sort(nodes, {}, [&](std::uint32_t n) -> const std::string& {
        return topology_.node(NodeId{n}).name;
      });
    by_name_.resize(nodes.size());
    for (std::uint32_t place = 0; place < nodes.size(); ++place) by_name_[nodes[place]] = place;
  }
  return *std::ranges::min_element(ways, {}, [&](LinkId link) {
    const NodeId next = topology_.link(link).to;
    return std::pair(weight(link) + rest_[next.value], by_name_[next.value]);
  });
}

Router::Choice Router::choice() const {
  switch (routing_.rule) {
  case Routing::single: return Choice::first;
  case Routing::ecmp_hash: return Choice::by_hash;
  case Routing::automatic:
  case Routing::shortest:
  case Routing::dimension_order: break;
  }
  return Choice::least_loaded;
}

bool Router::append_route(const Flow& flow, int part, Choice choice) {
  const Tree& towards = tree(flow.to, part);
  bool is_weighed = false;
  for (NodeId at = flow.from; at != flow.to; at = topology_.link(path_.back()).to) {
    const std::span<const LinkId> ways = towards.ways(at);
    if (ways.empty()) return false;
    LinkId taken = ways.front();
    if (ways.size() > 1) {
      had_choice_ = true;
      if (choice == Choice::least_loaded) {
        if (!std::exchange(is_weighed, true)) weigh(towards, at, flow.to);
        taken = lightest(ways);
      } else if (choice == Choice::by_hash) {
        std::uint64_t hash = routing_.seed;
        for (const std::uint32_t word : {at.value, flow.from.value, flow.to.value, flow.channel})
          hash = Random(hash ^ word).next();
        taken = ways[hash % ways.size()];
      }
    }
    path_.push_back(taken);
  }
  return true;
}

bool Router::append_dimension_order(const Flow& flow, Choice choice) {
  const std::span<const int> target = topology_.coordinate(flow.to);
  const std::span<const int> begin = topology_.coordinate(flow.from);
  std::vector<int> corner(begin.begin(), begin.end());
  NodeId at = flow.from;
  for (std::size_t d = 0; d < target.size(); ++d) {
    if (corner[d] == target[d]) continue;
    corner[d] = target[d];
    const NodeId turn = npu_at_[position(corner)];
    if (!turn.valid() || !append_route({at, turn, flow.channel}, static_cast<int>(d), choice))
      return false;
    at = turn;
  }
  return at == flow.to;
}

std::span<const LinkId> Router::found(const Flow& flow, Choice choice) {
  path_.clear();
  had_choice_ = false;
  const bool by_dimension = routing_.rule == Routing::dimension_order;
  if (by_dimension ? append_dimension_order(flow, choice) : append_route(flow, everything, choice))
    return path_;
  const std::string &from = topology_.node(flow.from).name, &to = topology_.node(flow.to).name;
  if (by_dimension)
    throw InputError(fmt::format("{}: no dimension-order route from {} to {}; try shortest",
                                 topology_.name(), from, to));
  throw OutOfReach(fmt::format("{}: {} can't be reached from {}", topology_.name(), to, from));
}

std::span<const LinkId> Router::route(const Flow& flow) {
  const std::span<const LinkId> path = found(flow, choice());
  for (const LinkId link : path) ++flows_[link.value];
  return path;
}

bool Router::could_move(const Flow& flow, std::span<const LinkId> route) {
  if (routing_.rule == Routing::dimension_order) return true;
  const Tree& towards = tree(flow.to, everything);
  double highest = 0; // of what another route may avoid, from there on
  for (std::size_t i = route.size(); i-- > 0;) {
    const LinkId taken = route[i];
    const bool is_shared_by_all = i + 1 == route.size() && topology_.in_links(flow.to).size() == 1;
    if (!is_shared_by_all) highest = std::max(highest, load(taken, 0));
    for (const LinkId other : towards.ways(topology_.link(taken).from))
      if (other != taken && load(other, 1) < highest) return true;
  }
  return false;
}

void Router::withdraw(std::span<const LinkId> route) {
  for (const LinkId link : route) --flows_[link.value];
}

std::span<const LinkId> Router::first_route(NodeId from, NodeId to) {
  return found({from, to}, Choice::first);
}

std::optional<std::span<const LinkId>> Router::route_by_switches(const Flow& flow) {
  path_.clear();
  had_choice_ = false;
  if (!append_route(flow, switches_only, choice())) return std::nullopt;
  for (const LinkId link : path_) ++flows_[link.value];
  return path_;
}

} // namespace tutti
