// Places are filled from the root down, first in one tree, then in the other, each with someone who
// has links left to and from who stands above.

#include "algorithms/tree_placement.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

using Matrix = std::vector<std::vector<int>>;

class DirectLinks {
public:
  DirectLinks(const Topology& topology, std::span<const NodeId> group)
      : topology_(topology), links_(group.size()) {
    std::vector<std::uint32_t> index(topology.node_count(), UINT32_MAX);
    for (std::uint32_t i = 0; i < group.size(); ++i) index[group[i].value] = i;
    for (std::uint32_t i = 0; i < group.size(); ++i) {
      links_[i].resize(group.size());
      for (const LinkId link : topology.out_links(group[i])) {
        const std::uint32_t to = index[topology.link(link).to.value];
        if (to == UINT32_MAX) continue;
        links_[i][to].push_back(link);
        narrowest_ = std::min(narrowest_, width(link));
      }
    }
  }

  /// How many trees may use this pair.
  [[nodiscard]] int uses(std::uint32_t from, std::uint32_t to) const {
    std::int64_t uses = 0;
    for (const LinkId link : links_[from][to]) uses += width(link) / narrowest_;
    return static_cast<int>(std::min<std::int64_t>(uses, 2));
  }

  /// The link of the pair's k-th use. Pre: k < uses(from, to).
  [[nodiscard]] LinkId link_of_use(std::uint32_t from, std::uint32_t to, std::int64_t k) const {
    const std::vector<LinkId>& links = links_[from][to];
    std::size_t at = 0;
    for (; k >= width(links[at]) / narrowest_; ++at) k -= width(links[at]) / narrowest_;
    return links[at];
  }

private:
  [[nodiscard]] std::int64_t width(LinkId link) const {
    return topology_.effective_bandwidth(link).bytes_per_second;
  }

  const Topology& topology_;
  std::vector<std::vector<std::vector<LinkId>>> links_; // [from][to]
  std::int64_t narrowest_ = INT64_MAX;
};

constexpr std::uint32_t most_neighbours = 4;

class PlaceSearch {
public:
  PlaceSearch(const std::array<RankTree, 2>& trees, Matrix uses, std::uint64_t work_limit)
      : trees_(trees), uses_(std::move(uses)), neighbours_left_(uses_.size(), most_neighbours),
        work_left_(work_limit) {
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const RankTree& tree = trees[t];
      std::vector<std::uint32_t> order(tree.parent.size());
      std::iota(order.begin(), order.end(), 0U);
      std::ranges::stable_sort(order, {}, [&](std::uint32_t v) { return tree.depth[v]; });
      for (const std::uint32_t v : order) places_.push_back({t, v});
      at_[t].resize(order.size());
      taken_[t].resize(order.size());
      neighbours_[t].resize(order.size());
      for (const std::uint32_t v : order)
        if (v != tree.root) {
          ++neighbours_[t][v];
          ++neighbours_[t][tree.parent[v]];
        }
    }
  }

  bool run(bool roots_stay) {
    roots_stay_ = roots_stay;
    return fill(0);
  }
  /// [tree][place], after a successful run.
  [[nodiscard]] const std::array<std::vector<std::uint32_t>, 2>& places() const { return at_; }

private:
  struct Place {
    std::size_t tree;
    std::uint32_t number;
  };

  [[nodiscard]] bool fits(const Place& place, std::uint32_t who) const {
    const RankTree& tree = trees_[place.tree];
    if (taken_[place.tree][who] || neighbours_[place.tree][place.number] > neighbours_left_[who])
      return false;
    if (place.number == tree.root) return !roots_stay_ || who == place.number;
    return uses_[who][at_[place.tree][tree.parent[place.number]]] > 0;
  }

  void put(const Place& place, std::uint32_t who) {
    at_[place.tree][place.number] = who;
    taken_[place.tree][who] = true;
    neighbours_left_[who] -= neighbours_[place.tree][place.number];
    count_use(place, who, 1);
  }

  void remove(const Place& place, std::uint32_t who) {
    taken_[place.tree][who] = false;
    neighbours_left_[who] += neighbours_[place.tree][place.number];
    count_use(place, who, -1);
  }

  void count_use(const Place& place, std::uint32_t who, int count) {
    const RankTree& tree = trees_[place.tree];
    if (place.number == tree.root) return;
    const std::uint32_t above = at_[place.tree][tree.parent[place.number]];
    uses_[who][above] -= count;
    uses_[above][who] -= count;
  }

  bool fill(std::size_t i) {
    if (i == places_.size()) return true;
    for (std::uint32_t who = 0; who < uses_.size() && work_left_ > 0; ++who) {
      --work_left_;
      if (!fits(places_[i], who)) continue;
      put(places_[i], who);
      if (fill(i + 1)) return true;
      remove(places_[i], who);
    }
    return false;
  }

  const std::array<RankTree, 2>& trees_;
  Matrix uses_; // left, in both directions
  std::vector<std::uint32_t> neighbours_left_;
  std::vector<Place> places_; // in the order of filling
  std::array<std::vector<std::uint32_t>, 2> at_, neighbours_;
  std::array<std::vector<bool>, 2> taken_;
  bool roots_stay_ = false;
  std::uint64_t work_left_;
};

} // namespace

TreePlacement place_trees(const Topology& topology, std::span<const NodeId> group,
                          const std::array<RankTree, 2>& trees, bool roots_stay,
                          std::uint64_t work_limit) {
  const auto n = static_cast<std::uint32_t>(group.size());
  const DirectLinks links(topology, group);
  Matrix uses(n, std::vector<int>(n));
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j) uses[i][j] = std::min(links.uses(i, j), links.uses(j, i));
  TreePlacement placement;
  PlaceSearch search(trees, std::move(uses), work_limit);
  placement.found = search.run(roots_stay);
  if (!placement.found) return placement;
  placement.at = search.places();
  Matrix used(n, std::vector<int>(n));
  for (std::size_t t = 0; t < trees.size(); ++t) {
    placement.up[t].resize(n);
    placement.down[t].resize(n);
    for (std::uint32_t v = 0; v < n; ++v) {
      if (v == trees[t].root) continue;
      const std::uint32_t child = placement.at[t][v], parent = placement.at[t][trees[t].parent[v]];
      placement.up[t][child] = links.link_of_use(child, parent, used[child][parent]++);
      placement.down[t][child] = links.link_of_use(parent, child, used[parent][child]++);
    }
  }
  return placement;
}

} // namespace tutti
