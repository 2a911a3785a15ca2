// A ring is traversed in one direction or in both; a traversal has the ranks in its direction of
// travel and a share of each block's chunks. All collectives are written for the forward direction
// of a traversal:
// - All-Gather: in step s position p + s passes on the shard of p. Reduce-Scatter: the shard of p
//   travels from p + 1 once around to p and collects. All-Reduce: both. Broadcast and Reduce: the
//   same with the one block of the root, pipelined by chunks.
// - Gather, Scatter, All-to-All: hop by hop, in both_directions each in the shorter direction (to
//   the exactly opposite rank half of the chunks in each).
// Source: Patarasuk, Yuan 2009 (JPDC 69(2)) for All-Reduce in two phases; Thakur, Rabenseifner,
// Gropp 2005 (IJHPCA 19(1)) for the ring All-Gather.
// Cost, n ranks: n (n - 1) shards sent per phase; All-to-All n * (sum of all paths' hops).

#include "algorithms/ring_collectives.hpp"

#include <algorithm>
#include <cassert>

namespace tutti {

namespace {

struct Traversal {
  std::vector<Rank> ranks; // in the direction of travel
  std::uint32_t first_chunk, stride;

  [[nodiscard]] Rank at(std::size_t position) const { return ranks[position % ranks.size()]; }
  [[nodiscard]] std::size_t position_of(Rank rank) const {
    return static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
  }
};

std::vector<Traversal> traversals_of(const std::vector<Rank>& order, RingUse use) {
  if (use == RingUse::forward_only) return {{order, 0, 1}};
  return {{order, 0, 2}, {{order.rbegin(), order.rend()}, 1, 2}};
}

class RingCollectives {
public:
  RingCollectives(RoutedSchedule& schedule, const std::vector<Rank>& order, RingUse use)
      : schedule_(schedule), traversals_(traversals_of(order, use)), n_(order.size()),
        farthest_(use == RingUse::forward_only ? n_ - 1 : n_ / 2) {}

  void all_gather() {
    for (std::size_t step = 0; step + 1 < n_; ++step)
      for (std::size_t p = 0; p < n_; ++p)
        for (const Traversal& traversal : traversals_)
          pass_on(traversal, p + step, traversal.at(p), Op::copy);
  }

  void reduce_scatter() {
    for (std::size_t step = 1; step < n_; ++step)
      for (std::size_t p = 0; p < n_; ++p)
        for (const Traversal& traversal : traversals_)
          pass_on(traversal, p + step, traversal.at(p), Op::reduce);
  }

  void broadcast() {
    for (std::size_t step = 0; step + 1 < n_; ++step)
      for (const Traversal& traversal : traversals_)
        pass_on(traversal, root_in(traversal) + step, 0, Op::copy);
  }

  void reduce() {
    for (std::size_t step = 1; step < n_; ++step)
      for (const Traversal& traversal : traversals_)
        pass_on(traversal, root_in(traversal) + step, 0, Op::reduce);
  }

  /// All start at once; each step takes everything that hasn't arrived one hop further.
  void gather() {
    for (std::size_t hop = 0; hop < farthest_; ++hop)
      for (std::size_t distance = hop + 1; distance <= farthest_; ++distance)
        for (const Traversal& traversal : traversals_) {
          const std::size_t start = root_in(traversal) + n_ - distance;
          pass_on_if_shorter(traversal, start + hop, distance, traversal.at(start));
        }
  }

  /// The root sends the farthest first, one distance a step.
  void scatter() {
    for (std::size_t step = 0; step < farthest_; ++step)
      for (std::size_t hop = 0; hop <= step; ++hop)
        for (const Traversal& traversal : traversals_) {
          const std::size_t distance = farthest_ - (step - hop);
          const std::size_t root = root_in(traversal);
          if (hop < distance)
            pass_on_if_shorter(traversal, root + hop, distance, traversal.at(root + distance));
        }
  }

  void all_to_all() {
    for (std::size_t hop = 0; hop < farthest_; ++hop)
      for (std::size_t p = 0; p < n_; ++p)
        for (std::size_t distance = farthest_; distance > hop; --distance)
          for (const Traversal& traversal : traversals_)
            pass_on_if_shorter(traversal, p + hop, distance,
                               traversal.at(p) * static_cast<Rank>(n_) +
                                   traversal.at(p + distance));
  }

private:
  [[nodiscard]] std::size_t root_in(const Traversal& traversal) const {
    return traversal.position_of(schedule_.part().root);
  }

  /// The traversal's chunks of a block, from a position to the next.
  void pass_on(const Traversal& traversal, std::size_t position, std::uint32_t block, Op op) {
    schedule_.send(traversal.at(position), traversal.at(position + 1), block, op,
                   traversal.first_chunk, traversal.stride);
  }

  /// One hop of a block that travels `distance` positions, if this traversal is the shorter one to
  /// its destination.
  void pass_on_if_shorter(const Traversal& traversal, std::size_t position, std::size_t distance,
                          std::uint32_t block) {
    if (traversals_.size() == 1 || 2 * distance == n_)
      pass_on(traversal, position, block, Op::copy);
    else if (2 * distance < n_)
      schedule_.send(traversal.at(position), traversal.at(position + 1), block, Op::copy);
  }

  RoutedSchedule& schedule_;
  std::vector<Traversal> traversals_;
  std::size_t n_;
  std::size_t farthest_; // most hops that Gather, Scatter and All-to-All take
};

} // namespace

void send_around_ring(RoutedSchedule& schedule, const std::vector<Rank>& order, RingUse use) {
  assert(order.size() == schedule.size());
  RingCollectives ring(schedule, order, use);
  switch (schedule.part().kind) {
  case CollectiveKind::broadcast: ring.broadcast(); break;
  case CollectiveKind::reduce: ring.reduce(); break;
  case CollectiveKind::gather: ring.gather(); break;
  case CollectiveKind::scatter: ring.scatter(); break;
  case CollectiveKind::all_gather: ring.all_gather(); break;
  case CollectiveKind::reduce_scatter: ring.reduce_scatter(); break;
  case CollectiveKind::all_reduce:
    ring.reduce_scatter();
    ring.all_gather();
    break;
  case CollectiveKind::all_to_all: ring.all_to_all(); break;
  default: assert(false && "synthesize() refuses what the row doesn't list");
  }
}

} // namespace tutti
