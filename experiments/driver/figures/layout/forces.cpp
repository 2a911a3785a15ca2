// Any network: springs whose lengths are the numbers of hops (Kamada and Kawai 1989, by
// Boost.Graph) find places in which distances on the page are those in the network. They start from
// a circle in an order that comes from the structure and not from the numbers of the nodes, as far
// as a few rounds of colour refinement tell nodes apart; what ends up too close is pushed apart.
#include "experiments/driver/figures/layout/arrangement.hpp"
#include "experiments/driver/figures/layout/neighbours.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/kamada_kawai_spring_layout.hpp>
#include <boost/graph/topology.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>

namespace tutti::layouts {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdU;
}

/// [node]: alike for nodes with surroundings alike.
std::vector<std::uint64_t> colours_of(const Topology& topology, const Neighbours& next) {
  std::vector<std::uint64_t> colour;
  for (std::uint32_t n = 0; n < next.count(); ++n)
    colour.push_back(
        mixed(next.degree(n), static_cast<std::uint64_t>(topology.node(NodeId{n}).kind)));
  constexpr int rounds = 6;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::uint64_t> refined = colour;
    for (std::uint32_t n = 0; n < next.count(); ++n) {
      std::vector<std::uint64_t> around;
      for (const Neighbour& neighbour : next.of(n))
        around.push_back(
            mixed(colour[neighbour.node], static_cast<std::uint64_t>(neighbour.bandwidth)));
      std::ranges::sort(around);
      for (const std::uint64_t value : around) refined[n] = mixed(refined[n], value);
    }
    colour = std::move(refined);
  }
  return colour;
}

/// Breadth-first from the node of the least colour; what is alike by number.
std::vector<std::uint32_t> order_by_structure(const Topology& topology, const Neighbours& next) {
  const std::vector<std::uint64_t> colour = colours_of(topology, next);
  const auto key = [&](std::uint32_t n) { return std::tuple(colour[n], n); };
  std::vector<std::uint32_t> all(next.count()), order;
  std::iota(all.begin(), all.end(), 0U);
  std::ranges::sort(all, {}, key);
  std::vector<bool> seen(next.count());
  for (const std::uint32_t first : all) {
    if (seen[first]) continue;
    seen[first] = true;
    std::size_t at = order.size();
    for (order.push_back(first); at < order.size(); ++at) {
      std::vector<std::uint32_t> found;
      for (const Neighbour& neighbour : next.of(order[at]))
        if (!seen[neighbour.node]) {
          seen[neighbour.node] = true;
          found.push_back(neighbour.node);
        }
      std::ranges::sort(found, {}, key);
      order.insert(order.end(), found.begin(), found.end());
    }
  }
  return order;
}

/// Lets springs find the places of nodes that start on a circle.
std::vector<Position> spring_places(const Neighbours& next,
                                    const std::vector<std::uint32_t>& order) {
  using Graph =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                            boost::property<boost::edge_weight_t, double>>;
  using Space = boost::square_topology<>;
  const std::uint32_t n = next.count();
  std::vector<std::uint32_t> rank(n);
  for (std::uint32_t i = 0; i < n; ++i) rank[order[i]] = i;
  Graph graph(n); // a vertex is a place in the order
  for (std::uint32_t i = 0; i < n; ++i) {
    std::vector<std::uint32_t> later;
    for (const Neighbour& neighbour : next.of(order[i]))
      if (rank[neighbour.node] > i) later.push_back(rank[neighbour.node]);
    std::ranges::sort(later);
    for (const std::uint32_t j : later) boost::add_edge(i, j, 1.0, graph);
  }
  for (std::uint32_t i = 1; i < n; ++i) // parts that nothing joins would fly apart
    if (next.degree(order[i]) == 0 || next.degree(order[i - 1]) == 0)
      boost::add_edge(i - 1, i, 2.0, graph);
  std::vector<Space::point_type> places(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const Position at = on_circle(0.5, static_cast<double>(i) / n);
    places[i][0] = at.x;
    places[i][1] = at.y;
  }
  const auto index = boost::get(boost::vertex_index, graph);
  const bool found = boost::kamada_kawai_spring_layout(
      graph, boost::make_iterator_property_map(places.begin(), index),
      boost::get(boost::edge_weight, graph), Space(1.0), boost::side_length(1.0),
      boost::layout_tolerance<double>(0.002));
  std::vector<Position> result(n);
  for (std::uint32_t i = 0; i < n; ++i)
    result[order[i]] = found ? Position{places[i][0], places[i][1]}
                             : on_circle(0.5, static_cast<double>(i) / n); // several components
  return result;
}

void push_apart(std::vector<Position>& at, double least) {
  for (int round = 0; round < 300; ++round) {
    bool moved = false;
    for (std::size_t a = 0; a < at.size(); ++a)
      for (std::size_t b = a + 1; b < at.size(); ++b) {
        const Position between = at[b] - at[a];
        const double apart = length(between);
        if (apart >= least) continue;
        const Position away =
            apart > 1e-9 ? between * (1 / apart) : on_circle(1, 0.1 * static_cast<double>(b % 10));
        const Position step = away * (0.5 * (least - apart) + 0.01);
        at[a] = at[a] - step;
        at[b] = at[b] + step;
        moved = true;
      }
    if (!moved) return;
  }
}

} // namespace

std::optional<Arrangement> by_forces(const Topology& topology) {
  constexpr std::uint32_t most_nodes = 320;
  const std::uint32_t n = topology.node_count();
  constexpr std::uint32_t few_nodes = 64, most_links = 2200; // most_links: above few_nodes
  if (n > most_nodes ||
      (n > few_nodes && (topology.link_count() > most_links || is_tree(topology))))
    return std::nullopt;
  const Neighbours next(topology);
  Arrangement result = blank(topology, "forces");
  if (n > 1) {
    result.at = spring_places(next, order_by_structure(topology, next));
    double sum = 0, pairs = 0; // of linked nodes
    for (std::uint32_t a = 0; a < n; ++a)
      for (const Neighbour& neighbour : next.of(a)) {
        sum += distance(result.at[a], result.at[neighbour.node]);
        ++pairs;
      }
    const double wanted = std::clamp(560 / std::sqrt(static_cast<double>(n)), 40.0, 84.0);
    const double factor = pairs > 0 ? wanted * pairs / sum : 400;
    for (Position& place : result.at) place = place * factor;
    double longest = 0; // name
    for (const LabelWish& label : result.labels)
      longest = std::max(longest, label_width(label.text, 7));
    const double radius = n > 100 ? 7.3 : std::clamp(longest / 1.84, 9.0, 14.0);
    result.radius.assign(n, radius);
    push_apart(result.at, n > 100 ? 22 : 2 * radius + 10);
  }
  for (std::uint32_t node = topology.npu_count(); node < n; ++node)
    result.radius[node] = n > 100 ? 5 : 8;
  if (n > 60)
    for (LabelWish& label : result.labels) label.sides = {Side::inside};
  result.lane = n > 100 ? 2 : 3.2;
  result.font = n > 100 ? 7.5 : 8.5;
  return result;
}

} // namespace tutti::layouts
