// The algorithm of TACOS as its paper prints it, for those who read both side by side: Won et al.,
// "TACOS: Topology-Aware Collective Algorithm Synthesizer for Distributed Machine Learning" (MICRO
// 2024), sec. IV: the time-expanded network (B), greedy matching of links and chunks (E, Fig. 10;
// Algorithm 1), step by step until everyone has everything (Algorithm 2), the two rules for unequal
// links (F, Fig. 12), unwound switches (G), inverted schedules for reductions (H). What `tacos`
// does otherwise, and why, is said in matching.hpp.
//
// Cost: at every time at which a link becomes idle an attempt looks at unsatisfied postconditions
// until no link is idle: at all of them, O(chunks * NPUs * in-degree), where one can't be used.
// Each replacement of a chunk looks at all of them, too.

#include "sim/random.hpp"
#include "sim/text.hpp"
#include "sim/transforms.hpp"
#include "sim/unwinding.hpp"
#include "sim/work_limit.hpp"
#include "synth/list.hpp"
#include "synth/tacos/multicasts.hpp"

#include <algorithm>
#include <limits>
#include <optional>
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

  [[nodiscard]] std::size_t free_edges(Time t) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(idle_from_, [t](Time idle) { return idle <= t; }));
  }

  /// Returns when a chunk arrives that enters the link at `t`.
  Time occupy(LinkId link, Time t) { return idle_from_[link.value] = t + cost(link); }

  /// The next time at which a link becomes idle; `never` where all are.
  [[nodiscard]] Time after(Time t) const {
    Time next = never;
    for (const Time idle : idle_from_)
      if (idle > t) next = std::min(next, idle);
    return next;
  }

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
  Attempt(const Topology& network, const Collective& copies, std::uint64_t seed)
      : network_(network), ten_(network, copies.largest_chunk()), random_(seed) {
    arrival_.assign(copies.chunks.size(), std::vector<Time>(network.npu_count(), never));
    match_.assign(copies.chunks.size(), std::vector<std::size_t>(network.npu_count()));
    for (std::uint32_t c = 0; c < copies.chunks.size(); ++c) {
      for (const NodeId npu : copies.sources(ChunkId{c})) arrival_[c][npu.value] = Time{0};
      for (const NodeId npu : copies.destinations(ChunkId{c}))
        if (arrival_[c][npu.value] == never) unsatisfied_.push_back({ChunkId{c}, npu});
    }
  }

  /// Algorithm 2: matching, from time to time, until the postcondition holds. False where it never
  /// will. Errors: LimitReached.
  bool run(const WorkLimit& limit) {
    const std::size_t total = unsatisfied_.size();
    for (Time t{0}; !unsatisfied_.empty(); t = ten_.after(t)) {
      if (t == never) return false;
      limit.require();
      limit.report(total - unsatisfied_.size(), total, t);
      match_links_and_chunks(t);
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
  struct Postcondition {
    ChunkId chunk;
    NodeId npu;
  };

  Time& arrival(ChunkId chunk, NodeId npu) { return arrival_[chunk.value][npu.value]; }

  /// Algorithm 1: takes one unsatisfied postcondition after the other, at random (Fig. 10b), goes
  /// one step back through the time-expanded network to who can provide the chunk, and chooses one
  /// of them: of the least cost (Fig. 12a), else at random (Fig. 10c).
  void match_links_and_chunks(Time t) {
    std::size_t free = ten_.free_edges(t);
    std::vector<LinkId> candidates;
    const auto cost = [this](LinkId link) { return ten_.cost(link); };
    for (std::size_t i = 0; i < unsatisfied_.size() && free > 0;) {
      std::swap(unsatisfied_[i], unsatisfied_[i + random_.below(unsatisfied_.size() - i)]);
      const auto [chunk, npu] = unsatisfied_[i];
      if (arrival(chunk, npu) <= t) { // satisfied by now
        unsatisfied_[i] = unsatisfied_.back();
        unsatisfied_.pop_back();
        continue;
      }
      ++i;
      candidates.clear();
      for (const LinkId link : ten_.links_into(npu))
        if (ten_.is_free(link, t) && arrival(chunk, ten_.source(link)) <= t &&
            t + cost(link) < arrival(chunk, npu)) // nothing brings it as early
          candidates.push_back(link);
      if (candidates.empty()) continue;
      random_.shuffle(candidates);
      match(chunk, npu, *std::ranges::min_element(candidates, {}, cost), t);
      --free;
    }
  }

  void match(ChunkId chunk, NodeId npu, LinkId link, Time t) {
    const bool is_on_its_way = arrival(chunk, npu) != never;
    const std::size_t slower = match_[chunk.value][npu.value];
    matches_.push_back({chunk, link, t, ten_.occupy(link, t)});
    expect(chunk, npu, matches_.size() - 1);
    if (is_on_its_way) replace_chunk(slower, npu);
  }

  void expect(ChunkId chunk, NodeId npu, std::size_t match) {
    arrival(chunk, npu) = matches_[match].arrival;
    match_[chunk.value][npu.value] = match;
  }

  /// Fig. 12b: what a match was to bring comes earlier by another. Instead it brings something else
  /// that is wanted and that its source held when it began, chosen at random; or nothing.
  void replace_chunk(std::size_t match, NodeId npu) {
    Match& slower = matches_[match];
    std::vector<ChunkId> others;
    for (const Postcondition& p : unsatisfied_)
      if (p.npu == npu && arrival(p.chunk, npu) == never &&
          arrival(p.chunk, ten_.source(slower.link)) <= slower.start)
        others.push_back(p.chunk);
    slower.chunk.reset();
    if (others.empty()) return;
    slower.chunk = others[random_.below(others.size())];
    expect(*slower.chunk, npu, match);
  }

  const Topology& network_;
  TimeExpandedNetwork ten_;
  Random random_;
  std::vector<Postcondition> unsatisfied_;      ///< and some that no longer are
  std::vector<Match> matches_;                  ///< in order of start
  std::vector<std::vector<Time>> arrival_;      ///< [chunk][npu]; 0 where it is from the beginning
  std::vector<std::vector<std::size_t>> match_; ///< [chunk][npu]: index of what brings it
};

std::uint32_t number(const SynthesisOptions& options, const char* key, std::uint32_t otherwise) {
  const auto setting = options.settings.find(key);
  if (setting == options.settings.end()) return otherwise;
  return static_cast<std::uint32_t>(parse_integer(setting->second, key, 1, 1'000'000));
}

/// The best of several attempts, on the network with its switches unwound.
Outcome best_attempt(const Topology& topology, const Collective& copies,
                     std::span<const NodeId> group, const SynthesisOptions& options,
                     const WorkLimit& limit) {
  const Unwound network =
      unwound(topology, group, {number(options, "degree", 1)}, copies.largest_chunk(), limit);
  Outcome best;
  best.status = Status::feasible;
  for (std::uint32_t i = 0; i < number(options, "starts", 10); ++i) {
    Attempt attempt(network.network, copies, options.seed + i);
    try {
      if (!attempt.run(limit)) return unsupported("links, and switches unwound, don't connect all");
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
