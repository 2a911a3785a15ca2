// Matching where links differ: a chunk takes longer on some than on others, or a link is free again
// before its chunk has arrived.
//
// A link has one event at a time: the arrival of what it is bringing. Only then is it decided which
// chunk that was, and when the next transfer begins, namely as soon as the link was free and its
// NPU held something that the other end still demands; that moment may lie in the past, by at most
// the link's cost. Where nothing is left to have been brought, the transfer never took place.

#include "synth/tacos/events.hpp"

#include "sim/engines/event_queue.hpp"
#include "synth/tacos/arrivals.hpp"
#include "synth/tacos/holdings.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tutti {

namespace {

template <typename Id> class Events {
public:
  Events(const MatchingProblem& problem, const MatchingNetwork& network, std::uint32_t candidates)
      : problem_(problem), network_(network), candidates_(candidates), arrivals_(problem, network),
        chunks_(arrivals_.chunks()), holdings_(problem, network), links_(network.channels.size()),
        out_begin_(network.size() + 1), pools_(network.channels.size() * std::size_t{candidates}),
        instant_of_(network.size() * chunks_), schedule_(problem.topology.link_count()) {
    instants_.push_back(0);
    for (const std::uint32_t chunks : network.demand) missing_ += chunks;
    total_ = missing_;
    listed_ = problem.is_listed(total_);
    if (listed_) schedule_.reserve(total_);
    index_out_channels();
  }

  std::optional<Matches> run() {
    for (std::uint32_t e = 0; e < links_.size(); ++e) start_next(e, 0);
    for (std::size_t i = 0; missing_ > 0; ++i) {
      const std::int64_t now = events_.next_time();
      assert(now != EventQueue::never);
      if (i % 256 == 0) {
        if (problem_.limit.reached()) return std::nullopt;
        problem_.limit.report(total_ - missing_, total_, Time{now});
      }
      do_instant(now);
    }
    Matches matches;
    matches.makespan = Time{instants_.back()};
    if (listed_)
      matches.schedule = std::move(schedule_);
    else
      matches.compact = std::move(arrivals_).compact(problem_.topology);
    return matches;
  }

private:
  struct LinkState {
    std::int64_t start = 0;    // of the transfer under way; while idle: when it can be
    std::uint32_t scanned = 0; // of the sender's arrivals: those before were looked at
    std::uint32_t pooled = 0;  // looked at, and not held by the receiver then
    bool idle = true;
  };
  struct Delivery {
    std::uint32_t to;
    Id chunk;
  };

  void index_out_channels() {
    for (const Channel& channel : network_.channels) ++out_begin_[channel.from + 1];
    for (std::uint32_t v = 0; v < network_.size(); ++v) out_begin_[v + 1] += out_begin_[v];
    out_.resize(network_.channels.size());
    std::vector<std::uint32_t> next(out_begin_.begin(), out_begin_.end() - 1);
    for (std::uint32_t e = 0; e < network_.channels.size(); ++e)
      out_[next[network_.channels[e].from]++] = e;
  }

  void do_instant(std::int64_t now) {
    instants_.push_back(now);
    arriving_.clear();
    delivered_.clear();
    while (events_.next_time() == now) arriving_.push_back(events_.pop().subject);
    std::ranges::sort(arriving_); // by receiver, its fastest link first
    for (const std::uint32_t e : arriving_)
      if (bind(e)) links_[e].start += network_.channels[e].occupied;
    for (const std::uint32_t e : arriving_) start_next(e, now);
    for (const Delivery& delivery : delivered_) wake(delivery, now);
  }

  /// Decides what arrives now; false where nothing did.
  bool bind(std::uint32_t e) {
    const Channel& channel = network_.channels[e];
    refill(e);
    const std::uint32_t* pool = pool_of(e);
    std::uint32_t usable = 0; // held by the sender when the transfer began
    while (usable < links_[e].pooled && held_since(channel.from, pool[usable]) <= links_[e].start)
      ++usable;
    if (usable == 0) return false;
    const std::uint32_t chosen = choose(e, usable);
    const Id chunk = arrivals_.of(channel.from)[pool[chosen]];
    holdings_.add(channel.to, chunk);
    instant_of_[channel.to * chunks_ + arrivals_.count(channel.to)] =
        static_cast<std::uint32_t>(instants_.size() - 1);
    arrivals_.add(channel.to, chunk, e - network_.in_begin[channel.to]);
    if (listed_) schedule_.push(ChunkId{chunk}, channel.link, Op::copy);
    delivered_.push_back({channel.to, chunk});
    --missing_;
    return true;
  }

  /// Chooses among the first `usable` in the pool: the chunk that the receiver's other links are
  /// least able to bring, of several the one that the sender got first.
  [[nodiscard]] std::uint32_t choose(std::uint32_t e, std::uint32_t usable) const {
    if (usable == 1) return 0;
    const Channel& channel = network_.channels[e];
    const Id* offered = arrivals_.of(channel.from);
    std::uint64_t least = UINT64_MAX;
    std::uint32_t chosen = 0;
    for (std::uint32_t i = 0; i < usable && least > 0; ++i) {
      const Id chunk = offered[pool_of(e)[i]];
      std::uint64_t supply = 0;
      for (const Channel& other : network_.into(channel.to))
        if (other.link != channel.link && holdings_.held(other.from, chunk)) supply += rate(other);
      if (supply >= least) continue;
      least = supply;
      chosen = i;
    }
    return chosen;
  }

  /// Chunks in a time that is the same for all; never 0.
  [[nodiscard]] static std::uint64_t rate(const Channel& channel) {
    return (std::uint64_t{1} << 50) / static_cast<std::uint64_t>(channel.occupied) + 1;
  }

  [[nodiscard]] std::uint32_t* pool_of(std::uint32_t e) {
    return pools_.data() + e * std::size_t{candidates_};
  }
  [[nodiscard]] const std::uint32_t* pool_of(std::uint32_t e) const {
    return pools_.data() + e * std::size_t{candidates_};
  }

  /// Brings the link's pool (positions in the sender's list) up to date; false if it stays empty.
  bool refill(std::uint32_t e) {
    const Channel& channel = network_.channels[e];
    LinkState& link = links_[e];
    const std::uint64_t* closed = holdings_.closed_row(channel.to);
    const Id* offered = arrivals_.of(channel.from);
    std::uint32_t* pool = pool_of(e);
    std::uint32_t pooled = 0;
    for (std::uint32_t i = 0; i < link.pooled; ++i)
      if (!ChunkBits::test(closed, offered[pool[i]])) pool[pooled++] = pool[i];
    const std::uint32_t count = arrivals_.count(channel.from);
    for (; pooled < candidates_ && link.scanned < count; ++link.scanned)
      if (!ChunkBits::test(closed, offered[link.scanned])) pool[pooled++] = link.scanned;
    link.pooled = pooled;
    return pooled > 0;
  }

  [[nodiscard]] std::int64_t held_since(std::uint32_t v, std::uint32_t position) const {
    return instants_[instant_of_[v * chunks_ + position]];
  }

  /// The link is free from links_[e].start on.
  void start_next(std::uint32_t e, std::int64_t now) {
    LinkState& link = links_[e];
    link.idle = !refill(e);
    if (link.idle) return;
    link.start = std::max(link.start, held_since(network_.channels[e].from, *pool_of(e)));
    push_arrival(e, now);
  }

  void push_arrival(std::uint32_t e, std::int64_t now) {
    const Channel& channel = network_.channels[e];
    require_representable(links_[e].start, Time{channel.cost});
    events_.push(now, {links_[e].start + channel.cost, e, 0});
  }

  /// Lets idle links take on what has just arrived.
  void wake(const Delivery& delivery, std::int64_t now) {
    for (std::uint32_t i = out_begin_[delivery.to]; i < out_begin_[delivery.to + 1]; ++i) {
      LinkState& link = links_[out_[i]];
      if (!link.idle || holdings_.closed(network_.channels[out_[i]].to, delivery.chunk)) continue;
      link.idle = false;
      link.start = std::max(link.start, now);
      push_arrival(out_[i], now);
    }
  }

  const MatchingProblem& problem_;
  const MatchingNetwork& network_;
  std::uint32_t candidates_;
  Arrivals<Id> arrivals_;
  std::size_t chunks_;
  Holdings holdings_;
  std::vector<LinkState> links_; // as network_.channels
  std::vector<std::uint32_t> out_begin_, out_;
  std::vector<std::uint32_t> pools_;      // `candidates` for each link
  std::vector<std::uint32_t> instant_of_; // of each arrival, into instants_
  std::vector<std::int64_t> instants_;
  std::vector<std::uint32_t> arriving_;
  std::vector<Delivery> delivered_;
  EventQueue events_;
  Schedule schedule_;
  std::uint64_t total_ = 0, missing_ = 0;
  bool listed_ = false;
};

} // namespace

std::optional<Matches> match_by_events(const MatchingProblem& problem,
                                       const MatchingNetwork& network, std::uint32_t candidates) {
  if (problem.collective.chunks.size() <= 1U << 16)
    return Events<std::uint16_t>(problem, network, candidates).run();
  return Events<std::uint32_t>(problem, network, candidates).run();
}

} // namespace tutti
