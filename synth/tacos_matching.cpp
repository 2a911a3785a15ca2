// The event-driven form of the paper's time-expanded matching: whenever a link is idle and its NPU
// holds something that the other end still lacks, a match is made, so that links never wait without
// need. Where we differ from the paper:
//
// - A destination picks what to take from each idle in-link by rule, not at random: the chunk that
//   its other in-neighbours are least able to supply (weighed by how fast their links are), of
//   several the one that the sender got first. Random picks leave links idle at the end, since what
//   is missing then sits behind one of them only. The order among equal in-links is left to the
//   seed.
// - A match is a promise: nobody else sends that chunk there, and it is never replaced. The paper's
//   chunk replacement may send what the source didn't hold when the transfer began.
// - Instead, a slow link doesn't take one of the last chunks if the destination's faster links
//   would be done with all of them before it.

#include "synth/tacos_matching.hpp"

#include "sim/engines/event_queue.hpp"
#include "sim/random.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace tutti {

namespace {

/// A bit per (NPU, chunk).
class BitTable {
public:
  BitTable(std::size_t rows, std::size_t columns)
      : words_((columns + 63) / 64), bits_(rows * words_) {}
  [[nodiscard]] bool test(std::uint32_t row, std::uint32_t column) const {
    return (bits_[row * words_ + column / 64] >> (column % 64)) & 1;
  }
  void set(std::uint32_t row, std::uint32_t column) {
    bits_[row * words_ + column / 64] |= std::uint64_t{1} << (column % 64);
  }

private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

class Matching {
public:
  explicit Matching(const MatchingProblem& problem)
      : problem_(problem), topology_(problem.topology), schedule_(topology_.link_count()),
        held_(topology_.npu_count(), problem.holders.size()),
        promised_(topology_.npu_count(), problem.holders.size()), npus_(topology_.npu_count()),
        links_(topology_.link_count()), random_(problem.seed) {
    const auto chunks = static_cast<std::uint32_t>(problem.holders.size());
    schedule_.reserve(problem.participants.size() * chunks);
    for (const NodeId npu : problem.participants) npus_[npu.value].lacking = chunks;
    for (const NodeId npu : problem.participants) add_in_links(npu);
    for (std::uint32_t c = 0; c < chunks; ++c) {
      const std::uint32_t holder = problem.holders[c].value;
      promised_.set(holder, c);
      --npus_[holder].lacking;
      receive(holder, c);
    }
  }

  std::optional<Matches> run() {
    serve(0);
    std::size_t instants = 0;
    for (std::int64_t now = events_.next_time(); now != EventQueue::never;
         now = events_.next_time()) {
      if (++instants % 64 == 0 && problem_.limit.reached()) return std::nullopt;
      while (events_.next_time() == now) handle(events_.pop());
      serve(now);
    }
    return Matches{std::move(schedule_), makespan_};
  }

private:
  enum Kind : std::uint32_t { link_idle, chunk_arrives };

  struct LinkState {
    std::int64_t occupied = 0; // how long a chunk occupies it, ps
    std::int64_t cost = 0;     // until the chunk has arrived, ps
    double rate = 0;           // chunks per second that it can bring
    std::int64_t free_at = 0;
    std::size_t scanned = 0;              // of the sender's chunks: those before were looked at
    std::vector<std::uint32_t> pool;      // looked at, and still lacking at the other end
    std::vector<std::uint32_t> in_flight; // in order of arrival (a link keeps order)
    std::size_t landed = 0;
  };
  struct NpuState {
    std::vector<std::uint32_t> chunks; // held, in order of arrival
    std::vector<LinkId> in_links;      // from participants, fastest first
    std::vector<LinkId> out_links;
    std::uint32_t lacking = 0; // chunks not yet promised to it
    bool stirred = false;      // something changed that may let one of its in-links start
  };

  void add_in_links(NodeId npu) {
    NpuState& state = npus_[npu.value];
    for (const LinkId id : topology_.in_links(npu)) {
      const Link& link = topology_.link(id);
      if (link.from.value >= npus_.size() || !takes_part(link.from)) continue;
      const std::int64_t sent =
          serialization(problem_.chunk_size, topology_.effective_bandwidth(id)).ps;
      links_[id.value].cost = sent + link.latency.ps;
      links_[id.value].occupied =
          problem_.link_busy == LinkBusy::serialization ? sent : links_[id.value].cost;
      links_[id.value].rate = 1e12 / static_cast<double>(links_[id.value].occupied);
      state.in_links.push_back(id);
      npus_[link.from.value].out_links.push_back(id);
    }
    if (problem_.seed != 0) random_.shuffle(state.in_links);
    std::ranges::stable_sort(state.in_links, {}, [&](LinkId id) { return links_[id.value].cost; });
  }

  [[nodiscard]] bool takes_part(NodeId npu) const { return npus_[npu.value].lacking > 0; }

  void stir(std::uint32_t npu) {
    if (npus_[npu].stirred) return;
    npus_[npu].stirred = true;
    stirred_.push_back(npu);
  }

  void receive(std::uint32_t npu, std::uint32_t chunk) {
    held_.set(npu, chunk);
    npus_[npu].chunks.push_back(chunk);
    for (const LinkId out : npus_[npu].out_links) stir(topology_.link(out).to.value);
  }

  void handle(const Event& event) {
    LinkState& link = links_[event.subject];
    const std::uint32_t to = topology_.link(LinkId{event.subject}).to.value;
    if (event.kind == link_idle) {
      stir(to);
      return;
    }
    receive(to, link.in_flight[link.landed++]);
    if (link.landed == link.in_flight.size()) {
      link.in_flight.clear();
      link.landed = 0;
    }
  }

  void serve(std::int64_t now) {
    std::ranges::sort(stirred_);
    for (const std::uint32_t npu : stirred_) {
      npus_[npu].stirred = false;
      match(npu, now, false);
    }
    stirred_.clear();
    if (events_.next_time() != EventQueue::never) return;
    // Everything is at rest: what slow links left to faster ones that can't have it.
    for (const NodeId npu : problem_.participants) match(npu.value, now, true);
  }

  /// Lets the NPU's idle in-links start, fastest first.
  void match(std::uint32_t npu, std::int64_t now, bool slow_ones_too) {
    NpuState& state = npus_[npu];
    for (const LinkId id : state.in_links) {
      if (state.lacking == 0) return;
      LinkState& link = links_[id.value];
      if (link.free_at > now || !refill(id)) continue;
      if (!slow_ones_too && others_finish_first(npu, id, now)) continue;
      start(id, choose(id), now);
    }
  }

  /// Brings the link's pool up to date; false if it has nothing to send.
  bool refill(LinkId id) {
    LinkState& link = links_[id.value];
    const std::uint32_t to = topology_.link(id).to.value;
    const std::vector<std::uint32_t>& source = npus_[topology_.link(id).from.value].chunks;
    std::erase_if(link.pool, [&](std::uint32_t c) { return promised_.test(to, c); });
    for (; link.scanned < source.size() && link.pool.size() < problem_.candidates; ++link.scanned)
      if (!promised_.test(to, source[link.scanned])) link.pool.push_back(source[link.scanned]);
    return !link.pool.empty();
  }

  /// Whether the NPU's other in-links could bring all that it lacks before this one brings one.
  [[nodiscard]] bool others_finish_first(std::uint32_t npu, LinkId id, std::int64_t now) const {
    const LinkState& link = links_[id.value];
    const NpuState& state = npus_[npu];
    if (link.cost <= links_[state.in_links.front().value].cost) return false;
    const std::int64_t deadline = now + link.cost;
    std::int64_t deliveries = 0;
    for (const LinkId other : state.in_links) {
      if (other == id) continue;
      const LinkState& rival = links_[other.value];
      const std::int64_t first = std::max(now, rival.free_at) + rival.cost;
      if (first <= deadline) deliveries += 1 + (deadline - first) / rival.occupied;
      if (deliveries >= state.lacking) return true;
    }
    return false;
  }

  /// The pooled chunk that the other in-neighbours can supply least, of several the sender's first.
  [[nodiscard]] std::uint32_t choose(LinkId id) const {
    const LinkState& link = links_[id.value];
    const std::uint32_t to = topology_.link(id).to.value;
    double least = std::numeric_limits<double>::infinity();
    std::uint32_t chosen = 0;
    for (const std::uint32_t chunk : link.pool) { // in the order in which the sender got them
      double supply = 0;
      for (const LinkId other : npus_[to].in_links)
        if (other != id && held_.test(topology_.link(other).from.value, chunk))
          supply += links_[other.value].rate;
      if (supply >= least) continue;
      least = supply;
      chosen = chunk;
    }
    return chosen;
  }

  void start(LinkId id, std::uint32_t chunk, std::int64_t now) {
    LinkState& link = links_[id.value];
    const std::uint32_t to = topology_.link(id).to.value;
    promised_.set(to, chunk);
    --npus_[to].lacking;
    require_representable(now + link.occupied, Time{link.cost - link.occupied});
    link.free_at = now + link.occupied;
    link.in_flight.push_back(chunk);
    schedule_.push(ChunkId{chunk}, id, Op::copy);
    events_.push(now, {link.free_at, id.value, link_idle});
    events_.push(now, {now + link.cost, id.value, chunk_arrives});
    makespan_ = std::max(makespan_, Time{now + link.cost});
  }

  const MatchingProblem& problem_;
  const Topology& topology_;
  Schedule schedule_;
  BitTable held_, promised_; // by NPU and chunk; promised includes held
  std::vector<NpuState> npus_;
  std::vector<LinkState> links_;
  Random random_;
  std::vector<std::uint32_t> stirred_;
  EventQueue events_;
  Time makespan_;
};

} // namespace

std::optional<Matches> match_links_and_chunks(const MatchingProblem& problem) {
  std::optional<Matches> matches = Matching(problem).run();
  assert(!matches ||
         matches->schedule.size() == (problem.participants.size() - 1) * problem.holders.size());
  return matches;
}

} // namespace tutti
