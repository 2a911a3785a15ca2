// A graph of moves: edges say which must come before which, some strictly. Strongly connected
// components are moves that are performed together; components are then sorted topologically, by
// the moves' own order where they are free.

#include "runtime/formats/msccl/foreign_order.hpp"

#include "sim/error.hpp"
#include "sim/graphs/components.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace tutti::runtime {

namespace {

struct MoveEdge {
  std::uint32_t to = 0;
  bool strict = false; ///< can't be together
  bool waits = false;  ///< by the program's order alone, of which a list needn't keep all
};
using MoveEdges = std::vector<std::vector<MoveEdge>>;

/// Moves sorted by (unit, rank) at one of their ends: those of a pair are next to each other.
std::vector<std::uint32_t> sorted_by_end(std::span<const ForeignMove> moves,
                                         std::uint32_t ForeignMove::*end) {
  std::vector<std::uint32_t> made(moves.size());
  for (std::uint32_t m = 0; m < made.size(); ++m) made[m] = m;
  std::ranges::stable_sort(
      made, {}, [&](std::uint32_t m) { return std::pair(moves[m].unit, moves[m].*end); });
  return made;
}

void add_edges_at(std::span<const ForeignMove> moves, std::span<const std::uint32_t> sent,
                  std::span<const std::uint32_t> arrived, MoveEdges& edges) {
  for (const std::uint32_t s : sent) {
    for (const std::uint32_t a : arrived) {
      if (std::ranges::binary_search(moves[s].made_from, a)) continue;
      if (!is_within(moves[a].holds, moves[s].holds)) edges[s].push_back({a, false});
    }
  }
  for (const std::uint32_t part : arrived)
    for (const std::uint32_t whole : arrived)
      if (moves[part].holds != moves[whole].holds &&
          is_within(moves[part].holds, moves[whole].holds))
        edges[part].push_back({whole, true});
}

MoveEdges edges_of(std::span<const ForeignMove> moves) {
  MoveEdges edges(moves.size());
  for (std::uint32_t m = 0; m < moves.size(); ++m)
    for (const std::uint32_t before : moves[m].made_from) edges[before].push_back({m, true});
  const std::vector<std::uint32_t> sent = sorted_by_end(moves, &ForeignMove::from);
  const std::vector<std::uint32_t> arrived = sorted_by_end(moves, &ForeignMove::to);
  for (std::size_t a = 0, s = 0; a < arrived.size();) {
    const std::pair key(moves[arrived[a]].unit, moves[arrived[a]].to);
    std::size_t a_end = a;
    while (a_end < arrived.size() &&
           std::pair(moves[arrived[a_end]].unit, moves[arrived[a_end]].to) == key)
      ++a_end;
    while (s < sent.size() && std::pair(moves[sent[s]].unit, moves[sent[s]].from) < key) ++s;
    std::size_t s_end = s;
    while (s_end < sent.size() &&
           std::pair(moves[sent[s_end]].unit, moves[sent[s_end]].from) == key)
      ++s_end;
    add_edges_at(moves, std::span(sent).subspan(s, s_end - s),
                 std::span(arrived).subspan(a, a_end - a), edges);
    a = a_end;
    s = s_end;
  }
  for (std::uint32_t m = 0; m < moves.size(); ++m)
    for (const AwaitedMove& awaited : moves[m].after)
      edges[awaited.move].push_back({m, false, true});
  return edges;
}

/// Groups of moves that all come before each other.
Components groups_of(const MoveEdges& edges) {
  return strong_components(
      static_cast<std::uint32_t>(edges.size()),
      [&](std::uint32_t move) { return edges[move].size(); },
      [&](std::uint32_t move, std::size_t i) { return std::optional(edges[move][i].to); });
}

/// Without waits within a group. Whether there were any.
bool drop_waits_within(MoveEdges& edges, const Components& groups) {
  std::size_t dropped = 0;
  for (std::uint32_t m = 0; m < edges.size(); ++m)
    dropped += std::erase_if(edges[m], [&](const MoveEdge& edge) {
      return edge.waits && groups.of[edge.to] == groups.of[m];
    });
  return dropped > 0;
}

} // namespace

ForeignOrder foreign_order(std::span<const ForeignMove> moves) {
  MoveEdges edges = edges_of(moves);
  Components groups = groups_of(edges);
  if (drop_waits_within(edges, groups)) groups = groups_of(edges);
  std::vector<std::vector<std::uint32_t>> members(groups.count);
  std::vector<std::uint32_t> missing(groups.count, 0);
  for (std::uint32_t m = 0; m < moves.size(); ++m) {
    members[groups.of[m]].push_back(m);
    for (const MoveEdge& edge : edges[m]) {
      if (groups.of[edge.to] != groups.of[m])
        ++missing[groups.of[edge.to]];
      else if (edge.strict)
        throw InputError(fmt::format("rank {} keeps partial sums apart in a way that a schedule, "
                                     "with one state of a chunk at an NPU, can't express",
                                     moves[m].to));
    }
  }
  using Entry = std::pair<std::uint32_t, std::uint32_t>; // first member, group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (std::uint32_t g = 0; g < groups.count; ++g)
    if (missing[g] == 0) ready.emplace(members[g].front(), g);
  ForeignOrder order;
  while (!ready.empty()) {
    const std::uint32_t g = ready.top().second;
    ready.pop();
    for (const std::uint32_t m : members[g]) {
      order.moves.push_back(m);
      order.together.push_back(m != members[g].front());
      for (const MoveEdge& edge : edges[m]) {
        const std::uint32_t next = groups.of[edge.to];
        if (next != g && --missing[next] == 0) ready.emplace(members[next].front(), next);
      }
    }
  }
  return order;
}

} // namespace tutti::runtime
