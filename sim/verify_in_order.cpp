// Who contributes to a partial sum takes a bit a contributor to say, but where reductions go along
// trees a number does. If nobody reduces into a node that has given its sum away, and nobody gives
// it away twice, then the sums that are not given away are disjoint: they are at the beginning, and
// a reduction joins two of them, of which one is given away. So a sum of as many contributions as
// there are contributors is complete. Complete chunks are copied to nodes that lack them, and never
// reduced again. All of that is looked at in the order of the list; what is not so plain (blocks
// performed together, shared sends, dependencies, nodes that can't copy, partial sums that are
// copied) is left to others.
#include "sim/verify_in_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

namespace {

class InOrderProof {
public:
  InOrderProof(const Topology& topology, const Collective& collective, const Schedule& schedule)
      : topology_(topology), collective_(collective), schedule_(schedule),
        chunks_(collective.chunks.size()), complete_(chunks_ * topology.node_count()) {
    for (std::uint32_t c = 0; c < chunks_; ++c) reduces_ = reduces_ || collective.chunks[c].reduces;
    if (reduces_) sums_.resize(chunks_ * topology.node_count());
    for (std::uint32_t c = 0; c < chunks_; ++c)
      for (const NodeId source : collective.sources(ChunkId{c})) {
        if (contributors(ChunkId{c}) == 1)
          complete_[at(ChunkId{c}, source)] = true;
        else
          sums_[at(ChunkId{c}, source)] = 1;
      }
  }

  [[nodiscard]] static bool can_be_of(const Topology& topology, const Collective& collective,
                                      const Schedule& schedule) {
    constexpr std::size_t most_states = 16; // a transfer
    return !schedule.has_contiguous() && !schedule.has_dependencies() &&
           collective.chunks.size() <= most_states * schedule.size() / topology.node_count() &&
           topology.node_count() <= most_contributors &&
           std::ranges::all_of(topology.nodes(), [](const Node& node) { return node.can.copy; }) &&
           std::ranges::none_of(schedule.packed(), [](const Schedule::Packed& transfer) {
             return (transfer.path & Schedule::together_bit) != 0;
           });
  }

  [[nodiscard]] bool holds(const Watch& watch) {
    if (!find_ends()) return false;
    WatchedSteps steps(watch);
    for (std::size_t i = 0; i < schedule_.size(); ++i) {
      const Transfer transfer = schedule_[i];
      const Ends& ends = ends_[transfer.path.value];
      if (transfer.op == Op::copy ? !copy(transfer.chunk, ends) : !reduce(transfer.chunk, ends))
        return false;
      steps.take(1, [&] { return WorkProgress{i, schedule_.size()}; });
    }
    for (std::uint32_t c = 0; c < chunks_; ++c)
      for (const NodeId node : collective_.destinations(ChunkId{c}))
        if (!complete_[at(ChunkId{c}, node)]) return false;
    return true;
  }

private:
  static constexpr std::uint16_t given_away = 1 << 15, most_contributors = given_away - 1;
  struct Ends {
    NodeId from, to;
  };

  /// False if some path breaks.
  bool find_ends() {
    for (std::uint32_t p = 0; p < schedule_.paths().size(); ++p) {
      const std::span<const LinkId> links = schedule_.paths().links(PathId{p});
      for (std::size_t hop = 1; hop < links.size(); ++hop)
        if (topology_.link(links[hop - 1]).to != topology_.link(links[hop]).from) return false;
      ends_.push_back({topology_.link(links.front()).from, topology_.link(links.back()).to});
    }
    return true;
  }

  [[nodiscard]] std::size_t at(ChunkId chunk, NodeId node) const {
    return chunks_ * node.value + chunk.value;
  }
  [[nodiscard]] std::size_t contributors(ChunkId chunk) const {
    return collective_.chunks[chunk.value].reduces ? collective_.sources(chunk).size() : 1;
  }

  bool copy(ChunkId chunk, const Ends& ends) {
    const std::size_t to = at(chunk, ends.to);
    if (!complete_[at(chunk, ends.from)] || complete_[to]) return false;
    complete_[to] = true;
    return true;
  }

  bool reduce(ChunkId chunk, const Ends& ends) {
    const std::size_t from = at(chunk, ends.from), to = at(chunk, ends.to);
    if (!reduces_ || from == to || complete_[from] || complete_[to]) return false;
    std::uint16_t &sum = sums_[from], &into = sums_[to];
    if (sum == 0 || ((sum | into) & given_away) != 0) return false;
    if (into > 0 && !topology_.node(ends.to).can.reduce) return false;
    into = static_cast<std::uint16_t>(into + sum);
    sum |= given_away;
    if (into == contributors(chunk)) complete_[to] = true;
    return true;
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  std::size_t chunks_;
  bool reduces_ = false;            // some chunk
  std::vector<Ends> ends_;          // per path
  std::vector<bool> complete_;      // by node, then chunk
  std::vector<std::uint16_t> sums_; // likewise: contributions, and whether they are given away
};

} // namespace

bool is_proven_in_order(const Topology& topology, const Collective& collective,
                        const Schedule& schedule, const Watch& watch) {
  return InOrderProof::can_be_of(topology, collective, schedule) &&
         InOrderProof(topology, collective, schedule).holds(watch);
}

} // namespace tutti
