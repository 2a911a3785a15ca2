// The undirected view that all arrangements share, and the order of nodes on a circle: cables are
// shortest when strongly linked nodes are close, which is found by exchanging two nodes at a time
// from the order of ids for as long as that helps (a local search on minimum linear arrangement's
// circular form, NP-hard in general).
#include "experiments/driver/figures/layout/neighbours.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

namespace tutti::layouts {

Neighbours::Neighbours(const Topology& topology) : begin_{0} {
  std::vector<std::map<std::uint32_t, std::int64_t>> sums(topology.node_count());
  for (const Link& link : topology.links()) {
    sums[link.from.value][link.to.value] += link.bandwidth.bytes_per_second;
    sums[link.to.value][link.from.value] += link.bandwidth.bytes_per_second;
  }
  for (const auto& neighbours : sums) {
    for (const auto& [node, sum] : neighbours) all_.push_back({node, static_cast<double>(sum)});
    begin_.push_back(all_.size());
  }
}

bool Neighbours::are_linked(std::uint32_t a, std::uint32_t b) const {
  const auto neighbours = of(a);
  return std::ranges::binary_search(neighbours, b, {}, &Neighbour::node);
}

std::size_t Neighbours::common(std::uint32_t a, std::uint32_t b) const {
  std::size_t count = 0;
  const auto others = of(b);
  auto other = others.begin();
  for (const Neighbour& neighbour : of(a)) {
    while (other != others.end() && other->node < neighbour.node) ++other;
    count += other != others.end() && other->node == neighbour.node ? 1U : 0U;
  }
  return count;
}

std::size_t Neighbours::pairs_of_neighbours() const {
  std::size_t sum = 0;
  for (std::uint32_t node = 0; node < count(); ++node) sum += degree(node) * degree(node);
  return sum;
}

bool are_cliques(const Neighbours& next, const std::vector<std::vector<std::uint32_t>>& groups) {
  return groups[0].size() >= 3 && std::ranges::all_of(groups, [&](const auto& nodes) {
           return nodes.size() == groups[0].size() &&
                  std::ranges::all_of(nodes, [&](std::uint32_t a) {
                    return std::ranges::all_of(
                        nodes, [&](std::uint32_t b) { return a == b || next.are_linked(a, b); });
                  });
         });
}

std::vector<std::uint32_t> levels(const Topology& topology, const Neighbours& next) {
  std::vector<std::uint32_t> level(topology.node_count(), UINT32_MAX);
  std::queue<std::uint32_t> queue;
  for (std::uint32_t npu = 0; npu < topology.npu_count(); ++npu) {
    level[npu] = 0;
    queue.push(npu);
  }
  for (; !queue.empty(); queue.pop())
    for (const Neighbour& neighbour : next.of(queue.front()))
      if (level[neighbour.node] == UINT32_MAX) {
        level[neighbour.node] = level[queue.front()] + 1;
        queue.push(neighbour.node);
      }
  return level;
}

namespace {

/// What a node at place `at` adds to the sum of bandwidth x distance along the circle.
double cost_at(const std::vector<double>& bandwidth, const std::vector<std::uint32_t>& order,
               std::uint32_t node, std::size_t at) {
  const std::size_t n = order.size();
  double cost = 0;
  for (std::size_t other = 0; other < n; ++other) {
    const std::size_t steps = other > at ? other - at : at - other;
    cost += bandwidth[node * n + order[other]] * static_cast<double>(std::min(steps, n - steps));
  }
  return cost;
}

double total_cost(const std::vector<double>& bandwidth, const std::vector<std::uint32_t>& order) {
  double cost = 0;
  for (std::size_t at = 0; at < order.size(); ++at)
    cost += cost_at(bandwidth, order, order[at], at);
  return cost;
}

/// Exchanges and reversals, as long as they help.
double improve(const std::vector<double>& bandwidth, std::vector<std::uint32_t>& order) {
  double best = total_cost(bandwidth, order);
  const std::size_t n = order.size();
  for (bool better = true; better;) {
    better = false;
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = a + 1; b < n; ++b)
        for (const bool reversal : {false, true}) {
          std::vector<std::uint32_t> changed = order;
          const auto at = [&](std::size_t i) {
            return changed.begin() + static_cast<std::ptrdiff_t>(i);
          };
          if (reversal)
            std::reverse(at(a), at(b + 1));
          else
            std::swap(changed[a], changed[b]);
          const double cost = total_cost(bandwidth, changed);
          if (cost >= best * (1 - 1e-9)) continue;
          best = cost;
          order = std::move(changed);
          better = true;
        }
  }
  return best;
}

/// From a node on always the unplaced one with the most bandwidth to the last.
std::vector<std::uint32_t> chain_from(const std::vector<double>& bandwidth, std::uint32_t first,
                                      std::uint32_t n) {
  std::vector<std::uint32_t> order{first};
  std::vector<bool> placed(n);
  placed[first] = true;
  while (order.size() < n) {
    std::uint32_t best = UINT32_MAX;
    const std::size_t row = std::size_t{order.back()} * n;
    for (std::uint32_t node = 0; node < n; ++node)
      if (!placed[node] && (best == UINT32_MAX || bandwidth[row + node] > bandwidth[row + best]))
        best = node;
    order.push_back(best);
    placed[best] = true;
  }
  return order;
}

} // namespace

std::vector<std::uint32_t> circular_order(const std::vector<double>& bandwidth, std::uint32_t n) {
  std::vector<std::uint32_t> best(n);
  std::iota(best.begin(), best.end(), 0U);
  if (n < 4) return best;
  const bool affordable = n <= 20; // to improve an order costs n^4 and more
  double least = affordable ? improve(bandwidth, best) : total_cost(bandwidth, best);
  for (std::uint32_t first = 0; first < std::min(n, 8U); ++first) {
    std::vector<std::uint32_t> order = chain_from(bandwidth, first, n);
    const double cost = affordable ? improve(bandwidth, order) : total_cost(bandwidth, order);
    if (cost < least * (1 - 1e-9)) {
      least = cost;
      best = std::move(order);
    }
  }
  // Begin with node 0, and go on to the lower of its two neighbours.
  std::rotate(best.begin(), std::ranges::find(best, 0U), best.end());
  if (best[1] > best.back()) std::reverse(best.begin() + 1, best.end());
  return best;
}

} // namespace tutti::layouts
