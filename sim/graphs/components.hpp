// Strongly connected components by Tarjan's algorithm ("Depth-first search and linear graph
// algorithms", SIAM J. Comput. 1972), with an explicit stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti {

struct Components {
  std::vector<std::uint32_t> of; ///< [node]; in reverse topological order: edges lead to lower ones
  std::uint32_t count = 0;
};

/// `edge(node, i)`: where the node's i-th edge leads, as an std::optional<std::uint32_t>; nothing
/// for one that doesn't count. `degree(node)`: how many there are. Cost: O(nodes + edges).
template <typename Degree, typename Edge>
[[nodiscard]] Components strong_components(std::uint32_t nodes, Degree&& degree, Edge&& edge) {
  constexpr std::uint32_t none = UINT32_MAX;
  struct Visit {
    std::uint32_t node = 0;
    std::size_t next = 0; // edge
  };
  Components components{std::vector<std::uint32_t>(nodes, none), 0};
  std::vector<std::uint32_t> index(nodes, none), low(nodes), open;
  std::vector<Visit> visits;
  std::uint32_t entered = 0;
  const auto enter = [&](std::uint32_t node) {
    index[node] = low[node] = entered++;
    open.push_back(node);
    visits.push_back({node, 0});
  };
  const auto close = [&](std::uint32_t first) {
    for (bool more = true; more; open.pop_back()) {
      components.of[open.back()] = components.count;
      more = open.back() != first;
    }
    ++components.count;
  };
  for (std::uint32_t root = 0; root < nodes; ++root) {
    if (index[root] == none) enter(root);
    while (!visits.empty()) {
      const std::uint32_t node = visits.back().node;
      if (visits.back().next < degree(node)) {
        const std::optional<std::uint32_t> to = edge(node, visits.back().next++);
        if (!to) continue;
        if (index[*to] == none)
          enter(*to);
        else if (components.of[*to] == none)
          low[node] = std::min(low[node], index[*to]);
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low[visits.back().node] = std::min(low[visits.back().node], low[node]);
      if (low[node] == index[node]) close(node);
    }
  }
  return components;
}

} // namespace tutti
