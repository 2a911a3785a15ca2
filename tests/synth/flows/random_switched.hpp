// Random networks of terminals and switches, small enough to look at every cut.
#pragma once

#include "sim/random.hpp"
#include "synth/flows/packing/supply_flow.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti::samples {

struct SwitchedNetwork {
  ArcGraph graph;                       ///< terminals first
  std::vector<std::int64_t> capacity;   ///< [arc]
  std::vector<std::uint32_t> terminals; ///< 0, 1, ...
};

/// Closed walks over all nodes, so that into and out of every node goes the same; then arcs between
/// terminals, which may be out of balance. Strongly connected.
inline SwitchedNetwork random_switched(Random& random) {
  SwitchedNetwork network;
  const auto terminals = static_cast<std::uint32_t>(2 + random.below(5));
  const auto nodes = terminals + static_cast<std::uint32_t>(random.below(4));
  network.graph = ArcGraph(nodes);
  for (std::uint32_t t = 0; t < terminals; ++t) network.terminals.push_back(t);
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
    network.graph.add_arc(from, to);
    network.capacity.push_back(capacity);
  };
  std::vector<std::uint32_t> walk;
  for (std::uint32_t node = 0; node < nodes; ++node) walk.push_back(node);
  for (std::uint64_t walks = 1 + random.below(4); walks > 0; --walks) {
    random.shuffle(walk);
    const auto capacity = static_cast<std::int64_t>(1 + random.below(9));
    const std::size_t length = // the first round visits everyone
        network.capacity.empty() ? walk.size() : 2 + random.below(walk.size() - 1);
    for (std::size_t i = 0; i < length; ++i) add(walk[i], walk[(i + 1) % length], capacity);
  }
  for (std::uint64_t more = random.below(4); more > 0; --more) {
    const auto from = static_cast<std::uint32_t>(random.below(terminals));
    const auto to =
        (from + 1 + static_cast<std::uint32_t>(random.below(terminals - 1))) % terminals;
    add(from, to, static_cast<std::int64_t>(1 + random.below(9)));
  }
  return network;
}

/// Of the arcs out of a set of nodes, given by its bits.
inline std::int64_t capacity_out(const ArcGraph& graph, std::span<const std::int64_t> capacity,
                                 std::uint32_t set) {
  std::int64_t out = 0;
  for (std::size_t a = 0; a < capacity.size(); ++a) {
    const auto [from, to] = graph.arcs[a];
    if ((set >> from & 1) != 0 && (set >> to & 1) == 0) out += capacity[a];
  }
  return out;
}

inline std::int64_t sum_in(std::span<const std::int64_t> values, std::uint32_t set) {
  std::int64_t sum = 0;
  for (std::size_t node = 0; node < values.size(); ++node)
    if ((set >> node & 1) != 0) sum += values[node];
  return sum;
}

} // namespace tutti::samples
