// A network as a layout sees it: who is next to whom, and by how much bandwidth, whatever the
// directions, numbers and order of the links.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::layouts {

struct Neighbour {
  std::uint32_t node = 0;
  double bandwidth = 0; ///< of all links both ways
};

class Neighbours {
public:
  explicit Neighbours(const Topology& topology);
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(begin_.size() - 1);
  }
  /// Ascending by node.
  [[nodiscard]] std::span<const Neighbour> of(std::uint32_t node) const {
    return std::span(all_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
  }
  [[nodiscard]] std::size_t degree(std::uint32_t node) const { return of(node).size(); }
  [[nodiscard]] bool are_linked(std::uint32_t a, std::uint32_t b) const;
  /// How many neighbours both have. Cost: O(degrees).
  [[nodiscard]] std::size_t common(std::uint32_t a, std::uint32_t b) const;
  /// What it costs to ask common() of all neighbours.
  [[nodiscard]] std::size_t pairs_of_neighbours() const;

private:
  std::vector<std::size_t> begin_;
  std::vector<Neighbour> all_;
};

inline constexpr std::size_t most_pairs = 100'000'000; ///< of neighbours: a second's work

/// Whether all groups have as many nodes, three or more, and any two of a group are linked.
[[nodiscard]] bool are_cliques(const Neighbours& next,
                               const std::vector<std::vector<std::uint32_t>>& groups);

/// [node]: hops from the nearest NPU; UINT32_MAX where none reaches it.
[[nodiscard]] std::vector<std::uint32_t> levels(const Topology& topology, const Neighbours& next);

/// [node]: the number of its part, counted in order of their first nodes. `joined(a, b)` says
/// which neighbours are of one part.
template <typename Joined>
[[nodiscard]] std::vector<std::uint32_t> parts_joined(const Neighbours& next, Joined joined) {
  std::vector<std::uint32_t> part(next.count(), UINT32_MAX), stack;
  std::uint32_t parts = 0;
  for (std::uint32_t first = 0; first < next.count(); ++first) {
    if (part[first] != UINT32_MAX) continue;
    part[first] = parts;
    for (stack.push_back(first); !stack.empty();) {
      const std::uint32_t node = stack.back();
      stack.pop_back();
      for (const Neighbour& neighbour : next.of(node))
        if (part[neighbour.node] == UINT32_MAX && joined(node, neighbour.node)) {
          part[neighbour.node] = parts;
          stack.push_back(neighbour.node);
        }
    }
    ++parts;
  }
  return part;
}

/// The order around a circle in which what is strongly linked stands close together: nodes 0 to
/// n - 1 of `bandwidth` (n rows of n). Cost: O(n^3) for each of some rounds; for up to 64 nodes.
[[nodiscard]] std::vector<std::uint32_t> circular_order(const std::vector<double>& bandwidth,
                                                        std::uint32_t n);

} // namespace tutti::layouts
