// Recursive halving and doubling: in each of log2(n) steps every rank exchanges with the rank whose
// number differs in one bit. Reduce-Scatter halves what is left to reduce, All-Gather doubles what
// one has, All-Reduce is both. The largest exchange is with the nearest number: Rabenseifner's
// vector halving with distance doubling, as MPICH's All-Reduce and ASTRA-sim have it (Thakur et al.
// let the Reduce-Scatter alone start with the farthest, to keep messages contiguous; chunks needn't
// be). Broadcast and Reduce are binomial trees, Scatter and Gather binomial trees that halve and
// double; ranks are renumbered by XOR with the root, which keeps partners partners. All-to-All
// sends, per bit, all chunks whose destination differs in it.
// Source: Thakur, Rabenseifner, Gropp 2005 (IJHPCA 19(1)).
// Cost: log2(n) steps; (n - 1)/n of the buffer sent by each rank per phase, n/2 * log2(n) shards of
// n in All-to-All. Needs a power of two of ranks.

#include "algorithms/list.hpp"
#include "algorithms/routed_schedule.hpp"

#include <fmt/format.h>

#include <bit>
#include <cassert>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

class HypercubeExchange {
public:
  explicit HypercubeExchange(RoutedSchedule& schedule)
      : schedule_(schedule), n_(schedule.size()), root_(schedule.part().root) {
    from_high_bit([&](Rank bit) {
      for (std::size_t k = 0, held = gathered_.size(); k < held; ++k)
        gathered_.push_back(gathered_[k] ^ bit);
    });
  }

  /// All-Gather backwards, so that what has farther to go is sent first.
  void reduce_scatter() {
    from_low_bit([&](Rank bit) {
      const std::span<const Rank> held = held_before(bit);
      for (Rank i = 0; i < n_; ++i)
        for (std::size_t k = held.size(); k-- > 0;)
          schedule_.send(i, i ^ bit, i ^ bit ^ held[k], Op::reduce);
    });
  }

  void all_gather() {
    from_high_bit([&](Rank bit) {
      for (Rank i = 0; i < n_; ++i)
        for (const Rank offset : held_before(bit)) schedule_.send(i, i ^ bit, i ^ offset, Op::copy);
    });
  }

  void broadcast() {
    from_high_bit([&](Rank bit) {
      for (Rank v = 0; v < n_; v += 2 * bit)
        schedule_.send(ranked(v), ranked(v + bit), 0, Op::copy);
    });
  }

  void reduce() {
    from_low_bit([&](Rank bit) {
      for (Rank v = bit; v < n_; v += 2 * bit)
        schedule_.send(ranked(v), ranked(v - bit), 0, Op::reduce);
    });
  }

  void scatter() {
    from_high_bit([&](Rank bit) {
      for (Rank v = 0; v < n_; v += 2 * bit)
        send_subcube(ranked(v), ranked(v + bit), ranked(v + bit), bit, Op::copy);
    });
  }

  void gather() {
    from_low_bit([&](Rank bit) {
      for (Rank v = bit; v < n_; v += 2 * bit)
        send_subcube(ranked(v), ranked(v - bit), ranked(v), bit, Op::copy);
    });
  }

  /// After the steps for the higher bits, rank i holds the chunks whose destination agrees with i
  /// in those bits and whose source agrees with i in the others.
  void all_to_all() {
    from_high_bit([&](Rank bit) {
      const Rank later = 2 * bit - 1; // this bit and those to come
      for (Rank i = 0; i < n_; ++i)
        for (Rank source_high = 0; source_high < n_; source_high += later + 1)
          for (Rank destination_low = 0; destination_low <= later; ++destination_low) {
            if (((destination_low ^ i) & bit) == 0) continue;
            const Rank source = source_high | (i & later);
            const Rank destination = (i & ~later) | destination_low;
            schedule_.send(i, i ^ bit, source * n_ + destination, Op::copy);
          }
    });
  }

private:
  template <typename Body> void from_high_bit(const Body& body) {
    for (Rank bit = n_ / 2; bit > 0; bit /= 2) body(bit);
  }
  template <typename Body> void from_low_bit(const Body& body) {
    for (Rank bit = 1; bit < n_; bit *= 2) body(bit);
  }

  /// The rank with number v when the root is number 0, and the reverse.
  [[nodiscard]] Rank ranked(Rank v) const { return v ^ root_; }

  /// The shards that rank i has in All-Gather before the step of this bit, as i ^ shard, in order
  /// of arrival.
  [[nodiscard]] std::span<const Rank> held_before(Rank bit) const {
    return std::span(gathered_).first(n_ / (2 * bit));
  }

  /// Sends the shards of all ranks that differ from `member` only below `bit`.
  void send_subcube(Rank from, Rank to, Rank member, Rank bit, Op op) {
    const Rank first = member & ~(bit - 1);
    for (Rank shard = first; shard < first + bit; ++shard) schedule_.send(from, to, shard, op);
  }

  RoutedSchedule& schedule_;
  Rank n_, root_;
  std::vector<Rank> gathered_{0};
};

} // namespace

Outcome recursive_halving_doubling(const Topology& topology, const Collective& collective,
                                   const SynthesisOptions& options) {
  RoutedSchedule schedule(topology, collective, options);
  if (!std::has_single_bit(schedule.size())) {
    return unsupported(fmt::format("rhd needs a power of two of NPUs, not {}", schedule.size()));
  }
  HypercubeExchange exchange(schedule);
  switch (schedule.part().kind) {
  case CollectiveKind::broadcast: exchange.broadcast(); break;
  case CollectiveKind::reduce: exchange.reduce(); break;
  case CollectiveKind::gather: exchange.gather(); break;
  case CollectiveKind::scatter: exchange.scatter(); break;
  case CollectiveKind::all_gather: exchange.all_gather(); break;
  case CollectiveKind::reduce_scatter: exchange.reduce_scatter(); break;
  case CollectiveKind::all_reduce:
    exchange.reduce_scatter();
    exchange.all_gather();
    break;
  case CollectiveKind::all_to_all: exchange.all_to_all(); break;
  default: assert(false && "synthesize() refuses what the row doesn't list");
  }
  return std::move(schedule).outcome();
}

} // namespace tutti
