// Judges chunk by chunk what recorded_history.hpp reads: what each node holds of it is a row of
// bits, one a contribution, and is changed by every segment's begin and every delivery. Rows of
// "what someone alive has" are only ever derived from those.

#include "sim/repair/history_check.hpp"

#include "sim/repair/recorded_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tutti {

namespace {

struct Waiting {
  Arrival arrival;
  ContributionSet value;
};

/// One node and the chunk that is looked at.
struct Holding {
  ContributionSet value;        ///< the working value
  std::vector<Waiting> waiting; ///< what has come beside it
  bool is_stale = false; ///< it lies there since an earlier segment; this one's overwrites it
  Time changed;          ///< when the last delivery of its value was in
  Time heads;            ///< the earliest instant at which their first bytes can have been
  Time complete_since;   ///< where it shows all that isn't lost: since when without a break
  bool is_complete = false;
};

class HistoryChecker {
public:
  HistoryChecker(const Topology& topology, const Collective& collective,
                 const HistoryRecord& record, const HistoryClaim& claim)
      : topology_(topology), collective_(collective), claim_(claim),
        record_(topology, collective.chunks.size(), record), is_dead_(topology.node_count()),
        taken_in_(record.segments.size()), nodes_(topology.node_count()) {
    for (std::size_t e = 0; e < std::min(record.events.size(), claim.events_counted); ++e)
      if (record.events[e].kind == NetworkEvent::Kind::npu_down)
        is_dead_[record.events[e].npu.value] = true;
  }

  std::optional<std::string> run() {
    if (record_.misfit()) return record_.misfit();
    for (std::uint32_t c = 0; c < collective_.chunks.size() && !fault_; ++c)
      check_chunk(ChunkId{c}, record_.deliveries(ChunkId{c}));
    for (std::size_t s = 0; s < record_.segments().size() && !fault_; ++s)
      if (taken_in_[s] < record_.segments()[s].takes_in.size())
        fault(fmt::format("segment {} takes in what doesn't wait at its holders", s));
    if (!fault_) check_claims();
    return fault_;
  }

private:
  void fault(std::string text) {
    if (!fault_) fault_ = std::move(text);
  }
  [[nodiscard]] const std::string& name(NodeId node) const { return topology_.node(node).name; }
  [[nodiscard]] bool is_npu(NodeId node) const { return node.value < topology_.npu_count(); }

  void check_chunk(ChunkId chunk, std::span<const RecordedDelivery> deliveries) {
    chunk_ = chunk;
    reduces_ = collective_.chunks[chunk.value].reduces;
    contributors_ = collective_.sources(chunk);
    all_ = nothing();
    for (std::size_t i = 0; i < (reduces_ ? contributors_.size() : 1); ++i) all_.insert(i);
    left_out_ = nothing();
    needed_ = all_;
    for (const ChunkAt& one : lost_claims(chunk)) {
      const auto i = contributor(one.npu);
      if (!i)
        return fault(fmt::format("chunk {}: {} has no contribution that could be lost", chunk.value,
                                 name(one.npu)));
      ContributionSet gone = nothing();
      gone.insert(*i);
      needed_.remove(gone);
    }
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      nodes_[n] = Holding{};
      nodes_[n].value = input(NodeId{n});
      nodes_[n].changed = record_.start(NodeId{n});
      note_completeness(NodeId{n});
    }
    std::size_t next = 0;
    for (std::uint32_t s = 0; s < record_.segments().size() && !fault_; ++s) {
      if (s > 0) begin_segment(s);
      for (std::uint32_t n = 0; n < nodes_.size(); ++n)
        nodes_[n].changed = nodes_[n].heads = begin_at(s, NodeId{n});
      while (next < deliveries.size() && deliveries[next].segment == s && !fault_)
        next = perform_block(deliveries, next);
    }
    if (!fault_) check_end();
  }

  [[nodiscard]] std::span<const ChunkAt> lost_claims(ChunkId chunk) const {
    return of_chunk(claim_.lost, chunk);
  }

  [[nodiscard]] ContributionSet nothing() const {
    return ContributionSet(reduces_ ? contributors_.size() : 1);
  }
  /// Its position among those that make the chunk's value; of one that is copied: 0.
  [[nodiscard]] std::optional<std::size_t> contributor(NodeId node) const {
    const auto found = std::ranges::lower_bound(contributors_, node);
    if (found == contributors_.end() || *found != node) return std::nullopt;
    return reduces_ ? static_cast<std::size_t>(found - contributors_.begin()) : std::size_t{0};
  }
  [[nodiscard]] NodeId one_of(const ContributionSet& some) const {
    for (std::size_t i = 0; i < contributors_.size(); ++i)
      if (some.contains(reduces_ ? i : 0)) return contributors_[i];
    return contributors_.front();
  }
  [[nodiscard]] ContributionSet input(NodeId node) const {
    ContributionSet own = nothing();
    if (const auto i = contributor(node)) own.insert(*i);
    return own;
  }

  /// What those whom `lives` names hold, each its input and whatever lies in its memory.
  template <typename Lives> [[nodiscard]] ContributionSet sources(const Lives& lives) const {
    ContributionSet held = nothing();
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n)
      if (lives(NodeId{n})) {
        held.add(nodes_[n].value);
        for (const Waiting& one : nodes_[n].waiting) held.add(one.value);
      }
    for (const NodeId source : contributors_)
      if (lives(source)) held.add(input(source));
    return held;
  }

  /// When a node can have what a segment begins with.
  [[nodiscard]] Time begin_at(std::uint32_t s, NodeId node) const {
    return std::max(record_.segments()[s].begin, record_.start(node));
  }

  void begin_segment(std::uint32_t s) {
    const Segment& segment = record_.segments()[s];
    const std::uint32_t local = record_.number(s, chunk_);
    if (local == RecordedHistory::none && !segment.anew) return;
    const auto lives = [&](NodeId npu) { return !record_.was_dead(npu, segment.begin); };
    ContributionSet left = sources(lives);
    left.remove(left_out_);
    const std::vector<Holding> before = nodes_;
    if (local == RecordedHistory::none)
      for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
        nodes_[n].value = input(NodeId{n});
        nodes_[n].is_stale = false;
        nodes_[n].waiting.clear();
      }
    else
      set_values(s, ChunkId{local}, left);
    if (fault_) return;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].value != before[n].value) nodes_[n].changed = begin_at(s, NodeId{n});
      note_completeness(NodeId{n});
    }
    if (local == RecordedHistory::none) left.remove(sources(lives));
    check_left_out(s, left, before);
    left_out_.add(left);
  }

  /// Takes what is in use from here on out of `left`.
  void set_values(std::uint32_t s, ChunkId local, ContributionSet& left) {
    const Segment& segment = record_.segments()[s];
    const bool sums = segment.collective.chunks[local.value].reduces;
    const std::span<const NodeId> sources = segment.collective.sources(local);
    ContributionSet used = nothing(), common = all_;
    std::vector<bool> holds(nodes_.size());
    used_.clear();
    for (std::size_t h = 0; h < sources.size(); ++h) {
      const NodeId npu = sources[h];
      holds[npu.value] = true;
      ContributionSet value = start_value(s, npu, segment.starts.of(local, h));
      take_in(s, npu, value);
      if (fault_) return;
      if (value.empty())
        return fault(fmt::format("segment {}: {} doesn't hold chunk {}, which counts from there", s,
                                 name(npu), chunk_.value));
      if (sums && used.overlaps(value))
        return fault(fmt::format("segment {}: values of chunk {} overlap at {}", s, chunk_.value,
                                 name(npu)));
      used.add(value);
      ContributionSet absent = common;
      absent.remove(value);
      common.remove(absent);
      used_.push_back(value);
      nodes_[npu.value].value = std::move(value);
    }
    left.remove(sums ? used : common);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (!is_npu(NodeId{n})) nodes_[n].value.clear();
      nodes_[n].is_stale = !holds[n];
      nodes_[n].waiting.clear();
      if (!holds[n] && segment.anew) nodes_[n].value.clear();
    }
  }

  ContributionSet start_value(std::uint32_t s, NodeId npu, Start start) {
    const ContributionSet own = input(npu);
    const ContributionSet& present = nodes_[npu.value].value;
    if (!is_npu(npu))
      fault(fmt::format("segment {}: {} is no NPU and keeps nothing", s, name(npu)));
    if (has_input(start) && own.empty())
      fault(fmt::format("segment {}: {} has no input to chunk {}", s, name(npu), chunk_.value));
    if (start == Start::both && own.overlaps(present))
      fault(fmt::format("segment {}: {} would count its input to chunk {} twice", s, name(npu),
                        chunk_.value));
    ContributionSet value = nothing();
    if (has_present(start)) value.add(present);
    if (has_input(start) || (has_present(start) && !reduces_)) value.add(own); // a copy is a copy
    return value;
  }

  /// Adds what the segment takes in at this source.
  void take_in(std::uint32_t s, NodeId npu, ContributionSet& value) {
    for (const Waiting& one : nodes_[npu.value].waiting) {
      if (!std::ranges::binary_search(record_.segments()[s].takes_in, one.arrival)) continue;
      ++taken_in_[s];
      if (reduces_ && value.overlaps(one.value))
        fault(fmt::format("segment {}: {} would count what it takes in of chunk {} twice", s,
                          name(npu), chunk_.value));
      value.add(one.value);
    }
  }

  /// What a plan leaves out it must: what the dead gave, and only where nobody alive could add it.
  void check_left_out(std::uint32_t s, const ContributionSet& left,
                      const std::vector<Holding>& before) {
    if (left.empty()) return;
    const Segment& segment = record_.segments()[s];
    for (const NodeId npu : contributors_)
      if (!record_.was_dead(npu, segment.begin) && left.contains(*contributor(npu)))
        return fault(fmt::format("segment {}: the contribution of {}, which lives, to chunk {} is "
                                 "left out",
                                 s, name(npu), chunk_.value));
    if (segment.anew) return;
    const auto could_add = [&](const ContributionSet& value) {
      // In place of those that it has within it.
      const auto leaves_those = [&](const ContributionSet& used) {
        return value.includes(used) || !value.overlaps(used);
      };
      return value.overlaps(left) && !value.overlaps(left_out_) &&
             std::ranges::all_of(used_, leaves_those);
    };
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n)
      if (!record_.was_dead(NodeId{n}, segment.begin) &&
          (could_add(before[n].value) ||
           std::ranges::any_of(before[n].waiting, could_add, &Waiting::value)))
        return fault(
            fmt::format("segment {}: the contribution of {} to chunk {} is left out, which "
                        "{} has and could add",
                        s, name(one_of(left)), chunk_.value, name(NodeId{n})));
  }

  struct Sent {
    ContributionSet value;
    Time ready; ///< the earliest instant at which it can have been on its way
  };

  /// The block of transfers performed together that begins at deliveries[first]; returns the first
  /// after it.
  std::size_t perform_block(std::span<const RecordedDelivery> deliveries, std::size_t first) {
    std::size_t end = first + 1;
    while (end < deliveries.size() && record_.are_together(deliveries[first], deliveries[end]))
      ++end;
    std::vector<Sent> sent;
    for (std::size_t k = first; k < end; ++k) {
      const NodeId from = record_.ends(deliveries[k]).first;
      const Holding& sender = nodes_[from.value];
      if (sender.is_stale || sender.value.empty()) {
        fault(described(deliveries[k], fmt::format("{} doesn't hold what it sent", name(from))));
        return end;
      }
      sent.push_back(
          {sender.value, topology_.node(from).can.store ? sender.changed : sender.heads});
    }
    for (std::size_t k = first; k < end; ++k)
      if (const NodeId from = record_.ends(deliveries[k]).first; !topology_.node(from).can.copy) {
        nodes_[from.value].value.clear();
        note_completeness(from);
      }
    for (std::size_t k = first; k < end && !fault_; ++k) receive(deliveries[k], sent[k - first]);
    return end;
  }

  [[nodiscard]] static std::string described(RecordedDelivery one, const std::string& what) {
    return fmt::format("segment {}, transfer {}: {}", one.segment, one.transfer, what);
  }

  void receive(RecordedDelivery one, const Sent& sent) {
    const NodeId to = record_.ends(one).second;
    Holding& have = nodes_[to.value];
    if (one.waits) {
      // It has come by the end, where its receiver had not died before.
      const Time end = record_.segments()[one.segment].end;
      if (check_time(one, to, end, sent.ready))
        have.waiting.push_back({{one.segment, one.transfer}, sent.value});
      return;
    }
    const Time at = record_.at(one);
    const std::optional<Time> heads = check_time(one, to, at, sent.ready);
    if (!fault_ && record_.was_dead(to, at))
      fault(described(one, fmt::format("{} was dead when it was delivered there", name(to))));
    if (at < record_.start(to))
      fault(described(one, fmt::format("it was delivered to {} at {}, which joins at {}", name(to),
                                       to_text(at), to_text(record_.start(to)))));
    if (fault_) return;
    const bool reduces = record_.schedule(one)[one.transfer].op == Op::reduce;
    if (have.is_stale || have.value.empty()) {
      have.value = sent.value;
    } else if (reduces) {
      if (have.value.overlaps(sent.value))
        return fault(
            described(one, fmt::format("a contribution is counted twice at {}", name(to))));
      have.value.add(sent.value);
    } else {
      if (!sent.value.includes(have.value))
        return fault(described(one, fmt::format("the copy loses contributions at {}", name(to))));
      have.value = sent.value;
    }
    have.is_stale = false;
    have.changed = std::max(have.changed, at);
    have.heads = std::max(have.heads, *heads);
    note_completeness(to);
  }

  /// When its first byte can have come at the earliest; nothing where it is a fault.
  std::optional<Time> check_time(RecordedDelivery one, NodeId to, Time at, Time ready) {
    const Segment& segment = record_.segments()[one.segment];
    const Bytes size = collective_.chunks[chunk_.value].size;
    const std::optional<EarliestArrival::Arrival> best = record_.earliest(one, ready, size);
    if (!best)
      fault(described(one, fmt::format("it was delivered to {} though links before it are down for "
                                       "good",
                                       name(to))));
    else if (at + record_.rounding(one) < best->tail)
      fault(described(one,
                      fmt::format("it was delivered to {} at {}, which nothing can reach before {}",
                                  name(to), to_text(at), to_text(best->tail))));
    else if (at < segment.begin || at > segment.end)
      fault(described(one, "it was delivered outside its segment"));
    if (fault_) return std::nullopt;
    return best->head;
  }

  /// Whether a node shows all that isn't lost: its working value does, or its input alone.
  [[nodiscard]] bool shows_all(NodeId node) const {
    return nodes_[node.value].value.includes(needed_) || input(node).includes(needed_);
  }
  void note_completeness(NodeId node) {
    Holding& at = nodes_[node.value];
    const bool shows = shows_all(node);
    if (shows && !at.is_complete) at.complete_since = at.changed;
    at.is_complete = shows;
  }

  void check_end() {
    const auto lives = [&](NodeId npu) { return !is_dead_[npu.value]; };
    ContributionSet gone = all_;
    gone.remove(sources(lives));
    gone.add(left_out_);
    ContributionSet claimed = all_;
    claimed.remove(needed_);
    if (!gone.includes(claimed)) {
      claimed.remove(gone);
      return fault(fmt::format("chunk {}: the contribution of {} is said to be lost, but someone "
                               "alive has it",
                               chunk_.value, name(one_of(claimed))));
    }
    if (!claimed.includes(gone)) {
      gone.remove(claimed);
      return fault(fmt::format("chunk {}: the contribution of {} is lost, and nobody says so",
                               chunk_.value, name(one_of(gone))));
    }
    for (const NodeId npu : collective_.destinations(chunk_)) check_destination(npu);
  }

  void check_destination(NodeId npu) {
    const bool from_the_start = input(npu) == all_;
    if (is_dead_[npu.value]) return;
    if (!from_the_start) has_destination_ = true;
    if (needed_.empty()) return;
    if (!from_the_start && !input(npu).includes(needed_)) has_something_to_get_ = true;
    const Holding& at = nodes_[npu.value];
    if (!shows_all(npu)) {
      missing_.push_back({chunk_, npu});
      return;
    }
    if (!at.is_stale && at.value.includes(needed_) && at.value != needed_)
      return fault(fmt::format("chunk {}: {} counts a contribution that others go without",
                               chunk_.value, name(npu)));
    if (!from_the_start) completion_ = std::max(completion_, at.complete_since);
  }

  void check_claims() {
    if (!std::ranges::equal(claim_.missing, missing_))
      return fault(fmt::format("{} chunks are said to be missing, and {} are",
                               claim_.missing.size(), missing_.size()));
    Ending ending = Ending::complete;
    if (!missing_.empty())
      ending = Ending::incomplete;
    else if (!has_destination_)
      ending = Ending::no_destination;
    else if (!has_something_to_get_)
      ending = Ending::nothing_left;
    if (claim_.ending != ending)
      return fault(fmt::format("the end is said to be {}, and is {}", to_text(claim_.ending),
                               to_text(ending)));
    const Time joined = last_start();
    if (ending == Ending::complete) completion_ = std::max(completion_, joined);
    if (claim_.completion != completion_)
      return fault(fmt::format("the last delivery is said to be at {}, and was at {}",
                               to_text(claim_.completion), to_text(completion_)));
    if (claim_.events_counted < record_.events().size() &&
        (!missing_.empty() ||
         std::max(completion_, joined) >= record_.events()[claim_.events_counted].at))
      return fault(fmt::format("{} doesn't count, though not everyone had all by then",
                               to_text(record_.events()[claim_.events_counted], topology_)));
  }

  /// The last start of those alive who hold or want something.
  [[nodiscard]] Time last_start() const {
    Time last;
    std::vector<bool> is_seen(collective_.sets.size());
    for (const Chunk& chunk : collective_.chunks)
      for (const SetId set : {chunk.sources, chunk.destinations}) {
        if (is_seen[set]) continue;
        is_seen[set] = true;
        for (const NodeId npu : collective_.sets[set])
          if (!is_dead_[npu.value]) last = std::max(last, record_.start(npu));
      }
    return last;
  }

  const Topology& topology_;
  const Collective& collective_;
  const HistoryClaim& claim_;
  RecordedHistory record_;
  std::vector<bool> is_dead_;         // [node]: by an event that counts
  std::vector<std::size_t> taken_in_; // [segment]: of what it takes in, what waited at its sources
  std::optional<std::string> fault_;
  std::vector<ChunkAt> missing_;
  bool has_destination_ = false, has_something_to_get_ = false;
  Time completion_;
  // The chunk that is checked:
  ChunkId chunk_;
  bool reduces_ = false;
  std::span<const NodeId> contributors_;
  ContributionSet all_, needed_, left_out_;
  std::vector<ContributionSet> used_; // what the sources of the present segment began with
  std::vector<Holding> nodes_;
};

} // namespace

std::optional<std::string> check_history(const Topology& topology, const Collective& collective,
                                         const HistoryRecord& record, const HistoryClaim& claim) {
  return HistoryChecker(topology, collective, record, claim).run();
}

} // namespace tutti
