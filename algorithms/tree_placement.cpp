// Places are filled in the order in which a breadth-first walk over both trees meets them, so that
// each but the first is next to one that is filled, and the links to all filled ones are checked.

#include "algorithms/tree_placement.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tutti {

namespace {

using Matrix = std::vector<std::vector<std::uint32_t>>;

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
  [[nodiscard]] std::uint32_t lanes(std::uint32_t from, std::uint32_t to) const {
    std::int64_t lanes = 0;
    for (const LinkId link : links_[from][to]) lanes += width(link) / narrowest_;
    return static_cast<std::uint32_t>(std::min<std::int64_t>(lanes, 2));
  }

  /// The link of the pair's k-th lane. Pre: k < lanes.
  [[nodiscard]] LinkId lane(std::uint32_t from, std::uint32_t to, std::int64_t k) const {
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

/// [place][place]: in how many trees they are joined.
Matrix joints(const std::array<RankTree, 2>& trees) {
  const std::size_t n = trees[0].parent.size();
  Matrix count(n, std::vector<std::uint32_t>(n));
  for (const RankTree& tree : trees)
    for (std::uint32_t v = 0; v < n; ++v)
      if (v != tree.root) {
        ++count[v][tree.parent[v]];
        ++count[tree.parent[v]][v];
      }
  return count;
}

/// How many pairs have two.
std::ptrdiff_t doubles(const Matrix& matrix) {
  std::ptrdiff_t count = 0;
  for (const std::vector<std::uint32_t>& row : matrix) count += std::ranges::count(row, 2U);
  return count;
}

std::vector<std::uint32_t> breadth_first(const Matrix& joined, std::uint32_t start) {
  std::vector<std::uint32_t> order{start};
  std::vector<bool> met(joined.size());
  met[start] = true;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::uint32_t v = 0; v < joined.size(); ++v)
      if (joined[order[i]][v] > 0 && !met[v]) {
        met[v] = true;
        order.push_back(v);
      }
  return order;
}

class PlaceSearch {
public:
  PlaceSearch(const Matrix& joined, const Matrix& lanes, std::uint32_t start,
              std::uint64_t work_limit)
      : joined_(joined), lanes_(lanes), order_(breadth_first(joined, start)), at_(joined.size()),
        taken_(joined.size()), work_left_(work_limit) {}

  /// Empty where none was found. `root_stays`: the start's place is its own number.
  std::vector<std::uint32_t> run(bool root_stays) {
    if (doubles(joined_) > doubles(lanes_)) return {};
    if (!root_stays) return fill(0) ? at_ : std::vector<std::uint32_t>{};
    put(0, order_[0]);
    return fill(1) ? at_ : std::vector<std::uint32_t>{};
  }

private:
  void put(std::size_t i, std::uint32_t who) {
    at_[order_[i]] = who;
    taken_[who] = true;
  }

  [[nodiscard]] bool fits(std::size_t i, std::uint32_t who) const {
    for (std::size_t j = 0; j < i; ++j)
      if (joined_[order_[i]][order_[j]] > lanes_[who][at_[order_[j]]]) return false;
    return true;
  }

  bool fill(std::size_t i) {
    if (i == order_.size()) return true;
    for (std::uint32_t who = 0; who < taken_.size() && work_left_ > 0; ++who) {
      if (taken_[who]) continue;
      --work_left_;
      if (!fits(i, who)) continue;
      put(i, who);
      if (fill(i + 1)) return true;
      taken_[who] = false;
    }
    return false;
  }

  const Matrix& joined_;
  const Matrix& lanes_;
  std::vector<std::uint32_t> order_, at_;
  std::vector<bool> taken_;
  std::uint64_t work_left_;
};

} // namespace

TreePlacement place_trees(const Topology& topology, std::span<const NodeId> group,
                          const std::array<RankTree, 2>& trees, bool root_stays,
                          std::uint64_t work_limit) {
  const auto n = static_cast<std::uint32_t>(group.size());
  const DirectLinks links(topology, group);
  Matrix lanes(n, std::vector<std::uint32_t>(n));
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j)
      lanes[i][j] = std::min(links.lanes(i, j), links.lanes(j, i));
  TreePlacement placement;
  placement.at = PlaceSearch(joints(trees), lanes, trees[0].root, work_limit).run(root_stays);
  if (placement.at.empty()) return placement;
  Matrix used(n, std::vector<std::uint32_t>(n));
  for (std::size_t t = 0; t < trees.size(); ++t) {
    placement.up[t].resize(n);
    placement.down[t].resize(n);
    for (std::uint32_t v = 0; v < n; ++v) {
      if (v == trees[t].root) continue;
      const std::uint32_t child = placement.at[v], parent = placement.at[trees[t].parent[v]];
      placement.up[t][child] = links.lane(child, parent, used[child][parent]++);
      placement.down[t][child] = links.lane(parent, child, used[parent][child]++);
    }
  }
  return placement;
}

} // namespace tutti
