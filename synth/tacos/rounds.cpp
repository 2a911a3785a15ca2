// Matching where a chunk takes equally long on every link: all links start together, again and
// again. In a round each NPU takes at most one chunk from each in-link, of those that the sender
// held when the round began; so it needs nothing but its neighbours' state of the round before.
//
// Speed is a matter of memory here: 40,000 NPUs hold 3 GB of arrivals. An NPU's working state
// (which chunks it has, what each in-link offers) is a few KiB, so it pays to let each NPU do
// several rounds while that is in the cache. NPUs are numbered breadth-first, and links join only
// equal or adjacent levels. A sweep over the levels does a block of rounds, skewed: level l does
// round r after level l + 1 did round r - 1, and before level l - 1 does round r + 2.
//
// A sweep may follow the one before it at a distance, so threads take the blocks in turn. Who sees
// what of whom is the same for any number of them.

#include "synth/tacos/rounds.hpp"

#include "sim/side_by_side.hpp"
#include "synth/tacos/arrivals.hpp"
#include "synth/tacos/holdings.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

namespace tutti {

namespace {

constexpr std::uint32_t rounds_per_block = 16;

template <typename Id> class Rounds {
public:
  Rounds(const MatchingProblem& problem, const MatchingNetwork& network, std::uint32_t candidates)
      : problem_(problem), network_(network), candidates_(candidates), arrivals_(problem, network),
        holdings_(problem, network), npus_(network.size()), links_(network.channels.size()),
        pools_(network.channels.size() * std::size_t{candidates}) {
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i].from = network.channels[i].from;
    std::uint64_t missing = 0;
    for (std::uint32_t v = 0; v < network.size(); ++v) {
      const std::uint32_t held = arrivals_.held_at_start(v);
      npus_[v].held_after.fill(held);
      npus_[v].in_the_end = held + network.demand[v];
      missing += network.demand[v];
    }
    total_ = missing_ = missing;
    listed_ = problem.is_listed(total_);
  }

  std::optional<Matches> run() {
    const std::uint32_t useful = 1 + network_.levels() / (2 * rounds_per_block);
    const std::uint32_t threads = std::clamp(problem_.threads, 1U, useful);
    done_ = std::vector<std::atomic<std::uint64_t>>(threads);
    run_side_by_side(threads, [&](unsigned thread) {
      try {
        do_blocks(thread);
      } catch (...) {
        stopped_ = true; // the others wait for this one
        throw;
      }
    });
    if (missing_ > 0) return std::nullopt;
    Matches matches;
    matches.makespan = Time{static_cast<std::int64_t>(last_round_ + 1) * round_time()};
    if (listed_)
      matches.schedule = listed();
    else
      matches.compact = std::move(arrivals_).compact(problem_.topology);
    return matches;
  }

private:
  struct Npu {
    std::array<std::uint32_t, 2> held_after{}; // chunks held after the last even and odd round
    std::uint32_t in_the_end = 0;              // chunks held
  };
  using Counts = std::vector<std::uint16_t>;
  struct LinkState {
    std::uint32_t from = 0;
    std::uint32_t scanned = 0; // of the sender's arrivals: those before were looked at
    std::uint32_t pooled = 0;  // looked at, and not held by the receiver then
  };

  [[nodiscard]] std::int64_t round_time() const { return network_.channels.front().cost; }

  /// Every n-th block of n threads, from the `thread`th on.
  void do_blocks(std::uint32_t thread) {
    for (std::uint64_t block = thread; missing_ > 0 && !stopped_; block += done_.size()) {
      if (problem_.limit.reached()) {
        stopped_ = true;
        return;
      }
      sweep(block);
      if (thread == 0)
        problem_.limit.report(
            total_ - missing_, total_,
            Time{static_cast<std::int64_t>((block + 1) * rounds_per_block) * round_time()});
    }
  }

  void sweep(std::uint64_t block) {
    const std::uint64_t levels = network_.levels(), first_round = block * rounds_per_block;
    std::atomic<std::uint64_t>& done = done_[block % done_.size()];
    Counts& counts = start_counting(block);
    std::uint64_t delivered = 0, last = 0;
    for (std::uint64_t step = 0; step < levels + rounds_per_block - 1; ++step) {
      if (!wait_for_block_before(block, std::min(step + 2, levels))) return;
      const std::uint64_t begin = step < levels ? 0 : step - levels + 1;
      for (std::uint64_t r = begin; r <= step && r < rounds_per_block; ++r) {
        const std::uint64_t more =
            do_level(static_cast<std::uint32_t>(step - r), first_round + r, counts);
        delivered += more;
        if (more > 0) last = std::max(last, first_round + r);
      }
      if (step + 1 >= rounds_per_block)
        done.store(block * levels + step + 2 - rounds_per_block, std::memory_order_release);
    }
    for (std::uint64_t seen = last_round_; seen < last;)
      if (last_round_.compare_exchange_weak(seen, last)) break;
    missing_ -= delivered;
  }

  /// False if there is nothing left to do.
  bool wait_for_block_before(std::uint64_t block, std::uint64_t levels) const {
    if (block == 0) return true;
    const auto& done = done_[(block - 1) % done_.size()];
    while (done.load(std::memory_order_acquire) < (block - 1) * network_.levels() + levels) {
      if (missing_ == 0 || stopped_) return false;
      std::this_thread::yield();
    }
    return true;
  }

  /// Where a block notes how many chunks arrive in each round and NPU, if somebody asks for that.
  Counts& start_counting(std::uint64_t block) {
    const std::lock_guard lock(counts_mutex_);
    while (counts_.size() <= block) counts_.emplace_back();
    if (listed_) counts_[block].resize(rounds_per_block * std::size_t{network_.size()});
    return counts_[block];
  }

  /// Returns how many chunks arrived.
  std::uint64_t do_level(std::uint32_t level, std::uint64_t round, Counts& counts) {
    std::uint64_t delivered = 0;
    for (std::uint32_t v = network_.level[level]; v < network_.level[level + 1]; ++v) {
      const std::uint32_t more = do_npu(v, round);
      if (listed_)
        counts[round % rounds_per_block * network_.size() + v] = static_cast<std::uint16_t>(more);
      delivered += more;
    }
    return delivered;
  }

  std::uint32_t do_npu(std::uint32_t v, std::uint64_t round) {
    const std::uint32_t before = arrivals_.count(v);
    if (before < npus_[v].in_the_end) {
      const std::uint32_t first = network_.in_begin[v], last = network_.in_begin[v + 1];
      for (std::uint32_t e = first; e < last; ++e)
        if (const std::optional<Id> chunk = take(v, e, (round + 1) % 2)) {
          holdings_.add(v, *chunk);
          arrivals_.add(v, *chunk, e - first);
        }
    }
    npus_[v].held_after[round % 2] = arrivals_.count(v);
    return arrivals_.count(v) - before;
  }

  /// The chunk to take from the link; nothing where the sender has none that is in demand.
  std::optional<Id> take(std::uint32_t v, std::uint32_t e, std::size_t parity_before) {
    LinkState& link = links_[e];
    const std::uint64_t* closed = holdings_.closed_row(v);
    const Id* offered = arrivals_.of(link.from);
    const std::uint32_t visible = npus_[link.from].held_after[parity_before];
    if (candidates_ == 1) { // the sender's first, which needs no pool
      std::uint32_t at = link.scanned;
      while (at < visible && ChunkBits::test(closed, offered[at])) ++at;
      link.scanned = std::min(at + 1, visible);
      return at < visible ? std::optional(offered[at]) : std::nullopt;
    }
    Id* pool = pools_.data() + e * std::size_t{candidates_};
    std::uint32_t pooled = 0;
    for (std::uint32_t i = 0; i < link.pooled; ++i) { // without branches, which are hard to predict
      const Id chunk = pool[pooled] = pool[i];
      pooled += !ChunkBits::test(closed, chunk);
    }
    for (; pooled < candidates_ && link.scanned < visible; ++link.scanned) {
      const Id chunk = pool[pooled] = offered[link.scanned];
      pooled += !ChunkBits::test(closed, chunk);
    }
    link.pooled = pooled;
    if (pooled == 0) return std::nullopt;
    const std::uint32_t chosen = choose(v, e, std::span<const Id>(pool, pooled));
    const Id chunk = pool[chosen];
    std::copy(pool + chosen + 1, pool + pooled, pool + chosen);
    --link.pooled;
    return chunk;
  }

  /// The candidate that the fewest other in-neighbours can supply, of several the sender's first.
  std::uint32_t choose(std::uint32_t v, std::uint32_t e, std::span<const Id> candidates) const {
    if (candidates.size() == 1) return 0;
    std::uint32_t chosen = 0, least = UINT32_MAX;
    for (std::uint32_t i = 0; i < candidates.size() && least > 0; ++i) {
      std::uint32_t supply = 0;
      for (std::uint32_t other = network_.in_begin[v]; other < network_.in_begin[v + 1]; ++other)
        supply += other != e && holdings_.held(links_[other].from, candidates[i]);
      if (supply >= least) continue;
      least = supply;
      chosen = i;
    }
    return chosen;
  }

  /// Round by round.
  Schedule listed() const {
    Schedule schedule(problem_.topology.link_count());
    schedule.reserve(total_);
    std::vector<std::uint32_t> next(network_.size());
    for (std::uint32_t v = 0; v < network_.size(); ++v) next[v] = arrivals_.held_at_start(v);
    for (const Counts& counts : counts_)
      for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto v = static_cast<std::uint32_t>(i % network_.size());
        for (std::uint32_t more = counts[i]; more > 0; --more, ++next[v])
          schedule.push(ChunkId{arrivals_.of(v)[next[v]]}, arrivals_.link(v, next[v]), Op::copy);
      }
    return schedule;
  }

  const MatchingProblem& problem_;
  const MatchingNetwork& network_;
  std::uint32_t candidates_;
  Arrivals<Id> arrivals_;
  Holdings holdings_; // with what arrives in the round that is being done
  std::vector<Npu> npus_;
  std::vector<LinkState> links_; // as network_.channels
  std::vector<Id> pools_;        // `candidates` for each link
  bool listed_ = false;          // the result is a list
  std::deque<Counts> counts_;    // per block; see start_counting
  std::mutex counts_mutex_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> missing_{0}, last_round_{0};
  std::atomic<bool> stopped_{false};
  std::vector<std::atomic<std::uint64_t>> done_; // per thread: block * levels + levels done
};

} // namespace

std::optional<Matches> match_in_rounds(const MatchingProblem& problem,
                                       const MatchingNetwork& network, std::uint32_t candidates) {
  if (problem.collective.chunks.size() <= 1U << 16)
    return Rounds<std::uint16_t>(problem, network, candidates).run();
  return Rounds<std::uint32_t>(problem, network, candidates).run();
}

} // namespace tutti
