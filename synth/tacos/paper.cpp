// The algorithm of TACOS as its paper prints it, for those who read both side by side: Won et al.,
// "TACOS: Topology-Aware Collective Algorithm Synthesizer for Distributed Machine Learning" (MICRO
// 2024), sec. IV: the time-expanded network (B), greedy matching of links and chunks (E, Fig. 10;
// Algorithm 1), step by step until everyone has everything (Algorithm 2), the two rules for unequal
// links (F, Fig. 12), unwound switches (G), inverted schedules for reductions (H). What `tacos`
// does otherwise, and why, is said in matching.hpp.
//
// A postcondition is looked at only where it can be satisfied: each link knows what its source has
// and its end wants. That leaves the draws as they are printed: who can't be provided with a chunk
// is passed over there, and what one NPU gets decides nothing about what another one can get at the
// same time.
//
// Cost: O(chunks * NPUs * degree) on average, as the paper has it, but for replacements of chunks,
// which look at what their link can bring.

#include "sim/random.hpp"
#include "sim/transforms.hpp"
#include "sim/unwinding.hpp"
#include "sim/work_limit.hpp"
#include "synth/list.hpp"
#include "synth/tacos/multicasts.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr Time never{std::numeric_limits<std::int64_t>::max()};

/// Sec. IV.B: the NPUs once more for every time t, and an edge from u at t to v at t + cost for
/// every link u -> v, whose cost is alpha + beta n. It is unrolled as time goes on. An edge carries
/// one chunk, and while it does the link's later edges can't begin.
class TimeExpandedNetwork {
public:
  TimeExpandedNetwork(const Topology& network, Bytes chunk)
      : network_(network), idle_from_(network.link_count()) {
    for (std::uint32_t l = 0; l < network.link_count(); ++l)
      cost_.push_back(network.link(LinkId{l}).latency +
                      serialization(chunk, network.effective_bandwidth(LinkId{l})));
  }

  [[nodiscard]] NodeId source(LinkId link) const { return network_.link(link).from; }
  [[nodiscard]] Time cost(LinkId link) const { return cost_[link.value]; }

  [[nodiscard]] std::span<const LinkId> links_into(NodeId npu) const {
    return network_.in_links(npu);
  }
  /// Whether the link has an edge that begins at `t` and carries nothing yet.
  [[nodiscard]] bool is_free(LinkId link, Time t) const { return idle_from_[link.value] <= t; }

  /// Returns when a chunk arrives that enters the link at `t`.
  Time occupy(LinkId link, Time t) { return idle_from_[link.value] = t + cost(link); }

private:
  const Topology& network_;
  std::vector<Time> idle_from_, cost_;
};

/// A chunk on an edge of the time-expanded network.
struct Match {
  std::optional<ChunkId> chunk; ///< none: what it carried came by a faster link
  LinkId link;
  Time start, arrival;
};

/// One attempt for a collective that copies: everything that is drawn depends on the seed.
class Attempt {
public:
  /// The limit must outlive this.
  Attempt(const Topology& network, const Collective& copies, std::uint64_t seed,
          const WorkLimit& limit)
      : network_(network), limit_(limit), ten_(network, copies.largest_chunk()), random_(seed),
        wanted_(network.npu_count(), std::vector<bool>(copies.chunks.size())),
        arrival_(network.npu_count(), std::vector<Time>(copies.chunks.size(), never)),
        match_(network.npu_count(), std::vector<std::size_t>(copies.chunks.size())),
        offers_(network.link_count()), is_due_(network.npu_count()) {
    for (std::uint32_t c = 0; c < copies.chunks.size(); ++c) {
      for (const NodeId npu : copies.sources(ChunkId{c})) arrival(ChunkId{c}, npu) = Time{0};
      for (const NodeId npu : copies.destinations(ChunkId{c}))
        if (arrival(ChunkId{c}, npu) == never) {
          wanted_[npu.value][c] = true;
          ++unsatisfied_;
        }
    }
    total_ = unsatisfied_;
    for (std::uint32_t c = 0; c < copies.chunks.size(); ++c)
      for (const NodeId npu : copies.sources(ChunkId{c})) offer(ChunkId{c}, npu, Time{0});
  }

  /// Algorithm 2: matching, from time to time, until the postcondition holds. False where it never
  /// will. Errors: LimitReached.
  bool run() {
    for (Time t{0}; unsatisfied_ > 0; t = arrivals_.top().first) {
      limit_.require();
      limit_.report(total_ - unsatisfied_, total_, t);
      for (; !arrivals_.empty() && arrivals_.top().first <= t; arrivals_.pop())
        arrive(matches_[arrivals_.top().second], t);
      for (const NodeId npu : due_) {
        is_due_[npu.value] = false;
        match_links_and_chunks(npu, t);
      }
      due_.clear();
      if (arrivals_.empty()) return unsatisfied_ == 0;
    }
    return true;
  }

  [[nodiscard]] Time makespan() const {
    Time last{0};
    for (const Match& match : matches_)
      if (match.chunk) last = std::max(last, match.arrival);
    return last;
  }

  [[nodiscard]] Schedule schedule() const {
    Schedule schedule(network_.link_count());
    for (const Match& match : matches_)
      if (match.chunk) schedule.push(*match.chunk, match.link, Op::copy);
    return schedule;
  }

private:
  Time& arrival(ChunkId chunk, NodeId npu) { return arrival_[npu.value][chunk.value]; }

  /// What a match brings is there, and its link is idle.
  void arrive(const Match& match, Time t) {
    const NodeId npu = network_.link(match.link).to;
    look_at(npu);
    if (!match.chunk) return;
    --unsatisfied_;
    offer(*match.chunk, npu, t);
  }

  /// An NPU has a chunk from `t` on: what its links can bring.
  void offer(ChunkId chunk, NodeId npu, Time t) {
    for (const LinkId link : network_.out_links(npu)) {
      const NodeId to = network_.link(link).to;
      if (!wanted_[to.value][chunk.value] || !is_earlier(chunk, link, t)) continue;
      offers_[link.value].push_back(chunk);
      look_at(to);
    }
  }

  void look_at(NodeId npu) {
    if (is_due_[npu.value]) return;
    is_due_[npu.value] = true;
    due_.push_back(npu);
  }

  /// Whether nothing brings the link's end the chunk as early as the link would. Once false, false.
  bool is_earlier(ChunkId chunk, LinkId link, Time t) {
    return t + ten_.cost(link) < arrival(chunk, network_.link(link).to);
  }

  /// Algorithm 1 for the postconditions of one NPU: takes one after the other of those that can be
  /// satisfied, at random (Fig. 10b), goes one step back through the time-expanded network to who
  /// can provide the chunk, and chooses one of them: of the least cost (Fig. 12a), else at random
  /// (Fig. 10c).
  void match_links_and_chunks(NodeId npu, Time t) {
    std::vector<LinkId> free, candidates;
    for (const LinkId link : ten_.links_into(npu))
      if (ten_.is_free(link, t)) free.push_back(link);
    while (const std::optional<ChunkId> chunk = drawn(free, candidates, t)) {
      random_.shuffle(candidates);
      const LinkId link = *std::ranges::min_element(
          candidates, {}, [this](LinkId candidate) { return ten_.cost(candidate); });
      match(*chunk, npu, link, t);
      std::erase(free, link);
    }
  }

  /// A chunk that one of the free links can bring, each as likely, and those that can; nothing
  /// where there is none. What several offer counts as an offer of the first.
  std::optional<ChunkId> drawn(const std::vector<LinkId>& free, std::vector<LinkId>& candidates,
                               Time t) {
    std::vector<std::size_t> ends; // of each link's offers, one after the other
    while (true) {
      if (++draws_ % draws_between_questions == 0) limit_.require();
      if (ends.empty())
        for (const LinkId link : free)
          ends.push_back((ends.empty() ? 0 : ends.back()) + offers_[link.value].size());
      if (ends.empty() || ends.back() == 0) return std::nullopt;
      const std::size_t i = random_.below(ends.back());
      const auto at = std::ranges::upper_bound(ends, i) - ends.begin();
      const auto link = free.begin() + at;
      std::vector<ChunkId>& of_link = offers_[link->value];
      const std::size_t place = i - (at == 0 ? 0 : ends[static_cast<std::size_t>(at) - 1]);
      if (place >= of_link.size()) { // some have gone
        ends.clear();
        continue;
      }
      const ChunkId chunk = of_link[place];
      if (!is_earlier(chunk, *link, t)) {
        of_link[place] = of_link.back();
        of_link.pop_back();
        continue;
      }
      const auto offers_it = [&](LinkId other) {
        return arrival(chunk, ten_.source(other)) <= t && is_earlier(chunk, other, t);
      };
      if (std::any_of(free.begin(), link, offers_it)) continue;
      candidates.clear();
      std::copy_if(link, free.end(), std::back_inserter(candidates), offers_it);
      return chunk;
    }
  }

  void match(ChunkId chunk, NodeId npu, LinkId link, Time t) {
    const bool is_on_its_way = arrival(chunk, npu) != never;
    const std::size_t slower = match_[npu.value][chunk.value];
    matches_.push_back({chunk, link, t, ten_.occupy(link, t)});
    arrivals_.emplace(matches_.back().arrival, matches_.size() - 1);
    expect(chunk, npu, matches_.size() - 1);
    if (is_on_its_way) replace_chunk(slower, npu);
  }

  void expect(ChunkId chunk, NodeId npu, std::size_t match) {
    arrival(chunk, npu) = matches_[match].arrival;
    match_[npu.value][chunk.value] = match;
  }

  /// Fig. 12b: what a match was to bring comes earlier by another. Instead it brings something else
  /// that is wanted and that its source held when it began, chosen at random; or nothing.
  void replace_chunk(std::size_t match, NodeId npu) {
    Match& slower = matches_[match];
    std::vector<ChunkId> others;
    for (const ChunkId other : offers_[slower.link.value])
      if (arrival(other, npu) == never && arrival(other, ten_.source(slower.link)) <= slower.start)
        others.push_back(other);
    slower.chunk.reset();
    if (others.empty()) return;
    slower.chunk = others[random_.below(others.size())];
    expect(*slower.chunk, npu, match);
  }

  static constexpr std::uint64_t draws_between_questions = 4096;

  const Topology& network_;
  const WorkLimit& limit_;
  TimeExpandedNetwork ten_;
  Random random_;
  std::vector<std::vector<bool>> wanted_;       ///< [npu][chunk]: by its postcondition
  std::vector<Match> matches_;                  ///< in order of start
  std::vector<std::vector<Time>> arrival_;      ///< [npu][chunk]; 0 where it is from the beginning
  std::vector<std::vector<std::size_t>> match_; ///< [npu][chunk]: index of what brings it
  /// [link]: chunks that its source has and its end wants, and some that it no longer does.
  std::vector<std::vector<ChunkId>> offers_;
  std::size_t unsatisfied_ = 0, total_ = 0; ///< postconditions
  /// When matches arrive, the earliest first.
  std::priority_queue<std::pair<Time, std::size_t>, std::vector<std::pair<Time, std::size_t>>,
                      std::greater<>>
      arrivals_;
  std::vector<NodeId> due_; ///< NPUs to which something may have become possible
  std::vector<bool> is_due_;
  std::uint64_t draws_ = 0;
};

/// The best of several attempts, on the network with its switches unwound.
Outcome best_attempt(const Topology& topology, const Collective& copies,
                     std::span<const NodeId> group, const SynthesisOptions& options,
                     const WorkLimit& limit) {
  constexpr std::uint32_t most = 1'000'000;
  const std::uint32_t starts = find_count(options, "starts", 1, most).value_or(10);
  const Unwound network =
      unwound(topology, group, {find_count(options, "degree", 1, most).value_or(1)},
              copies.largest_chunk(), limit);
  Outcome best;
  best.status = Status::feasible;
  for (std::uint32_t i = 0; i < starts; ++i) {
    Attempt attempt(network.network, copies, options.seed + i, limit);
    try {
      if (!attempt.run()) return unsupported("links, and switches unwound, don't connect all");
    } catch (const LimitReached&) {
      best.status = Status::timed_out;
      if (!best.schedule) best.note = "no schedule within the limit";
      break;
    }
    best.attempts.push_back(attempt.makespan());
    if (best.planned && *best.planned <= attempt.makespan()) continue;
    best.planned = attempt.makespan();
    best.schedule = through_switches(attempt.schedule(), network, topology);
  }
  best.planned_on = "a time-expanded network";
  return best;
}

} // namespace

Outcome tacos_paper(const Topology& topology, const Collective& collective,
                    const SynthesisOptions& options) {
  const WorkLimit limit(options);
  const std::span<const NodeId> group = collective.parts.front().group;
  const Multicasts multicasts = as_multicasts(topology, collective).value();
  if (!multicasts.reductions)
    return best_attempt(topology, *multicasts.copies, group, options, limit);
  // Sec. IV.H: what reduces is a copying schedule of the reversed network, inverted; All-Reduce is
  // a Reduce-Scatter, then an All-Gather.
  Outcome outcome = best_attempt(reversed(topology), *multicasts.reductions, group, options, limit);
  if (!outcome.schedule) return outcome;
  outcome.schedule = inverted(topology, *outcome.schedule, Op::reduce);
  if (!multicasts.copies) return outcome;
  Outcome copies = best_attempt(topology, *multicasts.copies, group, options, limit);
  if (!copies.schedule) return copies;
  outcome.schedule = concatenated(*outcome.schedule, *copies.schedule);
  outcome.planned = *outcome.planned + *copies.planned;
  outcome.attempts.clear(); // of two phases, each with a best of its own
  if (copies.status == Status::timed_out) outcome.status = copies.status;
  return outcome;
}

} // namespace tutti
