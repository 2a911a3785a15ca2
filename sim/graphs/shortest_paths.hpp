// Dijkstra's algorithm ("A note on two problems in connexion with graphs", Numer. Math. 1959) for
// whatever has nodes and edges: what a distance is, and in which direction edges are followed, its
// caller says.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// Lowers `distances`, [node], to those from the sources, where these are 0; a node that none
/// reaches keeps what it has. Nodes are settled by distance, ties by the lower index.
/// `edges(node, distance, relax)`: calls `relax(next, there)` for each edge out of the node, which
/// says whether that is nearer than all before; of equally near ones the first stays.
/// Pre: no edge is shorter than nothing. Cost: O(edges log edges).
template <typename Distance, typename Edges>
void search_shortest_paths(std::vector<Distance>& distances, std::span<const std::uint32_t> sources,
                           Edges&& edges) {
  using Entry = std::pair<Distance, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto relax = [&](std::uint32_t node, const Distance& there) {
    if (!(there < distances[node])) return false;
    distances[node] = there;
    queue.emplace(there, node);
    return true;
  };
  for (const std::uint32_t source : sources) relax(source, Distance{});
  while (!queue.empty()) {
    const auto [distance, node] = queue.top();
    queue.pop();
    if (!(distances[node] < distance)) edges(node, distance, relax);
  }
}

} // namespace tutti
