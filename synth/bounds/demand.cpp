// Work is done by set and by class, not by chunk and node: whole sets first, then corrections at
// the single nodes that are sources and destinations at once, which are found from the smaller set.

#include "synth/bounds/demand.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::bounds {

namespace {

using NodeSpan = std::span<const NodeId>;

/// Calls `visit` for every node of both sets (ascending). Cost: O(smaller * log larger).
template <typename Visit> void for_common(NodeSpan a, NodeSpan b, Visit visit) {
  if (a.size() > b.size()) std::swap(a, b);
  for (const NodeId node : a)
    if (std::binary_search(b.begin(), b.end(), node)) visit(node);
}

/// Is there a node in `set` other than `node`?
bool has_other_than(NodeSpan set, NodeId node) {
  return set.size() > 1 || (set.size() == 1 && set[0] != node);
}

/// How often the node is in the set.
std::int64_t count_of(NodeSpan set, NodeId node) {
  const auto [first, last] = std::equal_range(set.begin(), set.end(), node);
  return last - first;
}

/// Pairs of a node with another one.
std::int64_t pairs_apart(NodeSpan held, NodeSpan wanted) {
  std::int64_t pairs = 0;
  for (const NodeId node : held)
    pairs += static_cast<std::int64_t>(wanted.size()) - count_of(wanted, node);
  return pairs;
}

std::int64_t deliveries_of(const ChunkClass& c, NodeSpan held, NodeSpan wanted) {
  if (wanted.empty()) return 0;
  if (c.by_pairs) return pairs_apart(held, wanted);
  if (c.reduces && c.sources == c.destinations) // an All-Reduce: no need to compare
    return static_cast<std::int64_t>(held.size() + wanted.size()) - 2;
  std::int64_t common = 0;
  for_common(held, wanted, [&](NodeId) { ++common; });
  if (!c.reduces) return static_cast<std::int64_t>(wanted.size()) - common;
  return static_cast<std::int64_t>(held.size() + wanted.size()) - (common > 0 ? 2 : 1);
}

auto same_demand(const ChunkClass& c) {
  return std::tuple(c.reduces, c.sources, c.destinations, c.by_pairs);
}

/// Pre: the order of `before` decides between any two.
template <typename Before> void put_in_order(std::vector<ChunkClass>& classes, Before before) {
  if (!std::ranges::is_sorted(classes, before)) std::ranges::sort(classes, before);
}

bool is_listed_before(const ChunkClass& a, const ChunkClass& b) {
  return std::tuple(-a.size.count, same_demand(a), a.first) <
         std::tuple(-b.size.count, same_demand(b), b.first);
}

} // namespace

std::vector<ChunkClass> chunk_classes(const Collective& collective) {
  std::vector<ChunkClass> all;
  all.reserve(collective.chunks.size());
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const Chunk& chunk = collective.chunks[c];
    all.push_back({chunk.size, chunk.size, chunk.reduces, false, chunk.sources, chunk.destinations,
                   ChunkId{c}, 1});
  }
  put_in_order(all, is_listed_before);
  std::vector<ChunkClass> classes;
  for (const ChunkClass& c : all) {
    if (!classes.empty() && classes.back().size == c.size &&
        same_demand(classes.back()) == same_demand(c))
      ++classes.back().chunks;
    else
      classes.push_back(c);
  }
  return classes;
}

std::vector<ChunkClass> cut_at_will(std::vector<ChunkClass> classes) {
  for (ChunkClass& c : classes) {
    c.size.count *= c.chunks;
    c.smallest = Bytes{0};
    c.chunks = 1;
  }
  const auto by_demand = [](const ChunkClass& a, const ChunkClass& b) {
    return std::tuple(same_demand(a), a.first) < std::tuple(same_demand(b), b.first);
  };
  put_in_order(classes, by_demand);
  std::vector<ChunkClass> merged;
  for (const ChunkClass& c : classes) {
    if (!merged.empty() && same_demand(merged.back()) == same_demand(c))
      merged.back().size += c.size;
    else
      merged.push_back(c);
  }
  put_in_order(merged, is_listed_before);
  return merged;
}

std::vector<NodeId> members(const Topology& topology, const Collective& collective,
                            std::span<const ChunkClass> classes) {
  std::vector<bool> set_used(collective.sets.size()), used(topology.node_count());
  for (const ChunkClass& c : classes) set_used[c.sources] = set_used[c.destinations] = true;
  for (std::size_t s = 0; s < collective.sets.size(); ++s)
    if (set_used[s])
      for (const NodeId node : collective.sets[s]) used[node.value] = true;
  std::vector<NodeId> result;
  for (std::uint32_t v = 0; v < topology.node_count(); ++v)
    if (used[v]) result.emplace_back(v);
  return result;
}

void Demand::add(const ChunkClass& c, std::int64_t times) {
  if (times == 0) return;
  chunks += times * c.chunks;
  bytes += static_cast<int128>(times) * c.chunks * c.size.count;
  smallest = std::min(smallest, c.smallest);
  largest = std::max(largest, c.size);
}

void Demand::add(const Demand& other) {
  chunks += other.chunks;
  bytes += other.bytes;
  smallest = std::min(smallest, other.smallest);
  largest = std::max(largest, other.largest);
}

void Demand::remove(const ChunkClass& c) {
  chunks -= c.chunks;
  bytes -= static_cast<int128>(c.chunks) * c.size.count;
}

NodeDemands node_demands(const Collective& collective, std::span<const ChunkClass> classes,
                         std::uint32_t node_count) {
  NodeDemands demands{std::vector<Demand>(node_count), std::vector<Demand>(node_count)};
  // Whole sets first, then take away at single nodes what needn't move there.
  std::vector<Demand> destinations(collective.sets.size()), contributed_by(collective.sets.size());
  for (const ChunkClass& c : classes) {
    if (c.by_pairs) continue;
    destinations[c.destinations].add(c);
    if (c.reduces && !collective.sets[c.destinations].empty()) contributed_by[c.sources].add(c);
  }
  for (std::size_t s = 0; s < collective.sets.size(); ++s)
    for (const NodeId node : collective.sets[s]) {
      demands.in[node.value].add(destinations[s]);
      demands.out[node.value].add(contributed_by[s]);
    }
  for (const ChunkClass& c : classes) {
    const NodeSpan held = collective.sets[c.sources], wanted = collective.sets[c.destinations];
    if (c.by_pairs) {
      const auto sources = static_cast<std::int64_t>(held.size()),
                 sinks = static_cast<std::int64_t>(wanted.size());
      for (const NodeId node : held) demands.out[node.value].add(c, sinks - count_of(wanted, node));
      for (const NodeId node : wanted)
        demands.in[node.value].add(c, sources - count_of(held, node));
      continue;
    }
    if (!c.reduces || held.size() == 1) // complete at its sources from the start
      for_common(held, wanted, [&](NodeId node) { demands.in[node.value].remove(c); });
    if (c.reduces && wanted.size() == 1) // the one who wants it keeps its own contribution
      for_common(held, wanted, [&](NodeId node) { demands.out[node.value].remove(c); });
    if (!c.reduces && held.size() == 1 && has_other_than(wanted, held[0]))
      demands.out[held[0].value].add(c);
  }
  return demands;
}

Demand demand_across(const Collective& collective, std::span<const ChunkClass> classes,
                     const std::vector<bool>& inside, bool leaves) {
  const std::size_t n = collective.sets.size();
  std::vector<std::int64_t> here(n), there(n); // how many of the set
  for (std::size_t s = 0; s < n; ++s)
    for (const NodeId node : collective.sets[s]) ++(inside[node.value] == leaves ? here : there)[s];
  Demand demand;
  for (const ChunkClass& c : classes) {
    if (c.by_pairs) {
      demand.add(c, here[c.sources] * there[c.destinations]);
      continue;
    }
    const bool needed_from_here = here[c.sources] > 0 && (c.reduces || there[c.sources] == 0);
    if (needed_from_here && there[c.destinations] > 0) demand.add(c);
  }
  return demand;
}

Demand deliveries(const Collective& collective, std::span<const ChunkClass> classes) {
  Demand demand;
  for (const ChunkClass& c : classes)
    demand.add(c, deliveries_of(c, collective.sets[c.sources], collective.sets[c.destinations]));
  return demand;
}

} // namespace tutti::bounds
