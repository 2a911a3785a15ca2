// A ring is one lane or two; a lane has its ranks in the direction of travel and a share of each
// block's pieces. All collectives are written for the forward direction of a lane:
// - All-Gather: in step s position p + s passes on the shard of p. Reduce-Scatter: the shard of p
//   travels from p + 1 once around to p and collects. All-Reduce: both. Broadcast and Reduce: the
//   same with the one block of the root, pipelined by pieces.
// - Gather, Scatter, All-to-All: hop by hop, in both_directions each the shorter way (the exactly
//   opposite rank: half of the pieces each way).
// Source: Patarasuk, Yuan 2009 (JPDC 69(2)) for All-Reduce in two phases; Thakur, Rabenseifner,
// Gropp 2005 (IJHPCA 19(1)) for the ring All-Gather.
// Cost, n ranks: n (n - 1) shards sent per phase; All-to-All n * (sum of all ways' hops).

#include "algorithms/ring_collectives.hpp"

#include <algorithm>
#include <cassert>

namespace tutti {

namespace {

struct Lane {
  std::vector<Rank> ranks; // in the direction of travel
  std::uint32_t first_chunk, stride;

  [[nodiscard]] Rank at(std::size_t position) const { return ranks[position % ranks.size()]; }
  [[nodiscard]] std::size_t position_of(Rank rank) const {
    return static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
  }
};

std::vector<Lane> make_lanes(const std::vector<Rank>& order, RingUse use) {
  if (use == RingUse::forward_only) return {{order, 0, 1}};
  return {{order, 0, 2}, {{order.rbegin(), order.rend()}, 1, 2}};
}

class RingCollectives {
public:
  RingCollectives(RoutedSchedule& schedule, const std::vector<Rank>& order, RingUse use)
      : schedule_(schedule), lanes_(make_lanes(order, use)), n_(order.size()),
        farthest_(use == RingUse::forward_only ? n_ - 1 : n_ / 2) {}

  void all_gather() {
    for (std::size_t step = 0; step + 1 < n_; ++step)
      for (std::size_t p = 0; p < n_; ++p)
        for (const Lane& lane : lanes_) pass_on(lane, p + step, lane.at(p), Op::copy);
  }

  void reduce_scatter() {
    for (std::size_t step = 1; step < n_; ++step)
      for (std::size_t p = 0; p < n_; ++p)
        for (const Lane& lane : lanes_) pass_on(lane, p + step, lane.at(p), Op::reduce);
  }

  void broadcast() {
    for (std::size_t step = 0; step + 1 < n_; ++step)
      for (const Lane& lane : lanes_) pass_on(lane, root_in(lane) + step, 0, Op::copy);
  }

  void reduce() {
    for (std::size_t step = 1; step < n_; ++step)
      for (const Lane& lane : lanes_) pass_on(lane, root_in(lane) + step, 0, Op::reduce);
  }

  /// All start at once; each step takes everything that hasn't arrived one hop further.
  void gather() {
    for (std::size_t hop = 0; hop < farthest_; ++hop)
      for (std::size_t distance = hop + 1; distance <= farthest_; ++distance)
        for (const Lane& lane : lanes_) {
          const std::size_t start = root_in(lane) + n_ - distance;
          pass_on_shorter_way(lane, start + hop, distance, lane.at(start));
        }
  }

  /// The root sends the farthest first, one distance a step.
  void scatter() {
    for (std::size_t step = 0; step < farthest_; ++step)
      for (std::size_t hop = 0; hop <= step; ++hop)
        for (const Lane& lane : lanes_) {
          const std::size_t distance = farthest_ - (step - hop);
          const std::size_t root = root_in(lane);
          if (hop < distance)
            pass_on_shorter_way(lane, root + hop, distance, lane.at(root + distance));
        }
  }

  void all_to_all() {
    for (std::size_t hop = 0; hop < farthest_; ++hop)
      for (std::size_t p = 0; p < n_; ++p)
        for (std::size_t distance = farthest_; distance > hop; --distance)
          for (const Lane& lane : lanes_)
            pass_on_shorter_way(lane, p + hop, distance,
                                lane.at(p) * static_cast<Rank>(n_) + lane.at(p + distance));
  }

private:
  [[nodiscard]] std::size_t root_in(const Lane& lane) const {
    return lane.position_of(schedule_.part().root);
  }

  /// The lane's pieces of a block, from a position to the next.
  void pass_on(const Lane& lane, std::size_t position, std::uint32_t block, Op op) {
    schedule_.send(lane.at(position), lane.at(position + 1), block, op, lane.first_chunk,
                   lane.stride);
  }

  /// One hop of a block that travels `distance` positions, if this lane is its shorter way.
  void pass_on_shorter_way(const Lane& lane, std::size_t position, std::size_t distance,
                           std::uint32_t block) {
    if (lanes_.size() == 1 || 2 * distance == n_)
      pass_on(lane, position, block, Op::copy);
    else if (2 * distance < n_)
      schedule_.send(lane.at(position), lane.at(position + 1), block, Op::copy);
  }

  RoutedSchedule& schedule_;
  std::vector<Lane> lanes_;
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
  case CollectiveKind::custom: assert(false && "synthesize() refuses what the row doesn't list");
  }
}

} // namespace tutti
