#include "synth/bounds/demand.hpp"

#include <algorithm>
#include <functional>
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

std::int64_t deliveries_of(const ChunkClass& c, NodeSpan held, NodeSpan wanted) {
  if (wanted.empty()) return 0;
  if (c.reduces && c.held_by == c.wanted_by) // an All-Reduce: no need to compare
    return static_cast<std::int64_t>(held.size() + wanted.size()) - 2;
  std::int64_t common = 0;
  for_common(held, wanted, [&](NodeId) { ++common; });
  if (!c.reduces) return static_cast<std::int64_t>(wanted.size()) - common;
  return static_cast<std::int64_t>(held.size() + wanted.size()) - (common > 0 ? 2 : 1);
}

} // namespace

std::vector<ChunkClass> chunk_classes(const Collective& collective, Chunking chunking) {
  const bool any = chunking == Chunking::any;
  std::vector<ChunkClass> all;
  all.reserve(collective.chunks.size());
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const Chunk& chunk = collective.chunks[c];
    all.push_back({chunk.size, any ? Bytes{0} : chunk.size, chunk.reduces, chunk.held_by,
                   chunk.wanted_by, ChunkId{c}, 1});
  }
  const auto key = [any](const ChunkClass& c) {
    return std::tuple(any ? 0 : -c.size.count, c.reduces, c.held_by, c.wanted_by);
  };
  std::sort(all.begin(), all.end(), [&](const ChunkClass& a, const ChunkClass& b) {
    return std::pair(key(a), a.first) < std::pair(key(b), b.first);
  });
  std::vector<ChunkClass> classes;
  for (const ChunkClass& c : all) {
    if (classes.empty() || key(classes.back()) != key(c))
      classes.push_back(c);
    else if (any)
      classes.back().size += c.size;
    else
      ++classes.back().chunks;
  }
  if (any)
    std::ranges::stable_sort(classes, std::greater<>(), [](const ChunkClass& c) { return c.size; });
  return classes;
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
  std::vector<Demand> wanted_by(collective.sets.size()), contributed_by(collective.sets.size());
  for (const ChunkClass& c : classes) {
    wanted_by[c.wanted_by].add(c);
    if (c.reduces && !collective.sets[c.wanted_by].empty()) contributed_by[c.held_by].add(c);
  }
  for (std::size_t s = 0; s < collective.sets.size(); ++s)
    for (const NodeId node : collective.sets[s]) {
      demands.in[node.value].add(wanted_by[s]);
      demands.out[node.value].add(contributed_by[s]);
    }
  for (const ChunkClass& c : classes) {
    const NodeSpan held = collective.sets[c.held_by], wanted = collective.sets[c.wanted_by];
    if (!c.reduces || held.size() == 1) // complete at its holders from the start
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
  std::vector<bool> some_here(n), some_there(n);
  for (std::size_t s = 0; s < n; ++s)
    for (const NodeId node : collective.sets[s])
      (inside[node.value] == leaves ? some_here : some_there)[s] = true;
  Demand demand;
  for (const ChunkClass& c : classes) {
    const bool needed_from_here = some_here[c.held_by] && (c.reduces || !some_there[c.held_by]);
    if (needed_from_here && some_there[c.wanted_by]) demand.add(c);
  }
  return demand;
}

Demand deliveries(const Collective& collective, std::span<const ChunkClass> classes) {
  Demand demand;
  for (const ChunkClass& c : classes)
    demand.add(c, deliveries_of(c, collective.sets[c.held_by], collective.sets[c.wanted_by]));
  return demand;
}

} // namespace tutti::bounds
