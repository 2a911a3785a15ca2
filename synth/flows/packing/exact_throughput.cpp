// Newton's method on a ratio (Dinkelbach's): at the time of the slowest cut so far, a maximum flow
// to each terminal either carries everything, or its minimum cut is slower still and gives the next
// time. Times are fractions of integers, scaled to integer capacities, so the answer is exact.

#include "synth/flows/packing/exact_throughput.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

class CutSearch {
public:
  CutSearch(const ArcGraph& graph, std::span<const std::int64_t> bandwidth,
            std::span<const std::int64_t> weight)
      : graph_(graph), bandwidth_(bandwidth), weight_(weight),
        total_(std::reduce(weight.begin(), weight.end(), std::int64_t{0})), flows_(graph) {}

  [[nodiscard]] std::vector<bool> all_but(std::uint32_t node) const {
    std::vector<bool> inside(graph_.node_count(), true);
    inside[node] = false;
    return inside;
  }

  /// False: no arc leads out of a set that something must leave.
  bool consider(std::vector<bool> inside) {
    std::int64_t weight = 0, bandwidth = 0;
    for (std::uint32_t v = 0; v < graph_.node_count(); ++v)
      if (inside[v]) weight += weight_[v];
    for (std::size_t a = 0; a < bandwidth_.size(); ++a)
      if (inside[graph_.arcs[a].from] && !inside[graph_.arcs[a].to]) bandwidth += bandwidth_[a];
    if (weight == 0) return true;
    if (bandwidth == 0) return false;
    if (const Ratio time(weight, bandwidth); time > best_.time) best_ = {time, std::move(inside)};
    return true;
  }

  /// The inside of a cut that is slower than the slowest so far, for data to this node.
  [[nodiscard]] std::optional<std::vector<bool>> slower_to(std::uint32_t node) {
    const std::int64_t p = best_.time.numerator(), q = best_.time.denominator();
    capacity_.assign(bandwidth_.begin(), bandwidth_.end());
    for (std::int64_t& capacity : capacity_) capacity = std::min(capacity * p, total_ * q);
    supply_.assign(weight_.begin(), weight_.end());
    for (std::int64_t& supply : supply_) supply *= q;
    flow_.assign(capacity_.size(), 0);
    if (flows_.send(capacity_, flow_, supply_, node, total_ * q) == total_ * q) return std::nullopt;
    std::vector<bool> inside = flows_.sink_side();
    inside.flip();
    return inside;
  }

  [[nodiscard]] SlowestCut&& best() && { return std::move(best_); }

private:
  const ArcGraph& graph_;
  std::span<const std::int64_t> bandwidth_, weight_;
  std::int64_t total_;
  SupplyFlow flows_;
  std::vector<std::int64_t> capacity_, flow_, supply_;
  SlowestCut best_;
};

} // namespace

std::optional<SlowestCut> slowest_cut(const ArcGraph& graph,
                                      std::span<const std::int64_t> bandwidth,
                                      std::span<const std::int64_t> weight,
                                      std::span<const std::uint32_t> terminals) {
  CutSearch search(graph, bandwidth, weight);
  for (const std::uint32_t terminal : terminals) // mostly the slowest: a good start
    if (!search.consider(search.all_but(terminal))) return std::nullopt;
  for (const std::uint32_t terminal : terminals)
    while (auto inside = search.slower_to(terminal))
      if (!search.consider(std::move(*inside))) return std::nullopt;
  return std::move(search).best();
}

} // namespace tutti
