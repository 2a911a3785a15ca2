// Components by Tarjan's algorithm ("Depth-first search and linear graph algorithms", SIAM J.
// Comput. 1972) with an explicit stack: they come out in reverse topological order.

#include "sim/repair/reach.hpp"

#include <algorithm>

namespace tutti {

namespace {

class Components {
public:
  Components(const Topology& topology, const NetworkState& network)
      : topology_(topology), network_(network), index_(topology.node_count(), unseen),
        low_(topology.node_count()), component_(topology.node_count(), unseen) {
    for (std::uint32_t n = 0; n < topology.node_count(); ++n)
      if (index_[n] == unseen) search(n);
  }
  std::vector<std::uint32_t> component() && { return std::move(component_); }
  [[nodiscard]] std::uint32_t count() const { return count_; }

private:
  static constexpr std::uint32_t unseen = UINT32_MAX;
  struct Visit {
    std::uint32_t node;
    std::size_t next_link = 0;
  };

  void enter(std::uint32_t node) {
    index_[node] = low_[node] = seen_++;
    open_.push_back(node);
    visits_.push_back({node});
  }

  void search(std::uint32_t root) {
    enter(root);
    while (!visits_.empty()) {
      const std::uint32_t node = visits_.back().node;
      const auto links = topology_.out_links(NodeId{node});
      if (visits_.back().next_link < links.size()) {
        const LinkId link = links[visits_.back().next_link++];
        if (!network_.is_up(link)) continue;
        const std::uint32_t to = topology_.link(link).to.value;
        if (index_[to] == unseen)
          enter(to);
        else if (component_[to] == unseen)
          low_[node] = std::min(low_[node], index_[to]);
        continue;
      }
      visits_.pop_back();
      if (!visits_.empty()) {
        std::uint32_t& low = low_[visits_.back().node];
        low = std::min(low, low_[node]);
      }
      if (low_[node] == index_[node]) close(node);
    }
  }

  void close(std::uint32_t first) {
    for (bool more = true; more; open_.pop_back()) {
      component_[open_.back()] = count_;
      more = open_.back() != first;
    }
    ++count_;
  }

  const Topology& topology_;
  const NetworkState& network_;
  std::vector<std::uint32_t> index_, low_, component_, open_;
  std::vector<Visit> visits_;
  std::uint32_t seen_ = 0, count_ = 0;
};

} // namespace

Reach::Reach(const Topology& topology, const NetworkState& network) {
  Components components(topology, network);
  const std::uint32_t count = components.count();
  component_ = std::move(components).component();
  std::uint32_t first_alive = UINT32_MAX;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) {
    if (!network.is_up(NodeId{n})) continue;
    if (first_alive == UINT32_MAX) first_alive = component_[n];
    connected_ = connected_ && component_[n] == first_alive;
  }
  reaches_.assign(count, std::vector<bool>(count));
  std::vector<std::vector<std::uint32_t>> next(count);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    if (!network.is_up(LinkId{l})) continue;
    const Link& link = topology.link(LinkId{l});
    const std::uint32_t from = component_[link.from.value], to = component_[link.to.value];
    if (from != to) next[from].push_back(to);
  }
  for (std::uint32_t c = 0; c < count; ++c)
    for (const std::uint32_t to : next[c]) {
      if (reaches_[c][to]) continue;
      reaches_[c][to] = true;
      for (std::uint32_t far = 0; far < to; ++far)
        if (reaches_[to][far]) reaches_[c][far] = true;
    }
}

} // namespace tutti
