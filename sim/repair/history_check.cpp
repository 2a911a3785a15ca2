// Chunk by chunk: what each node holds of it is a row of bits, one a contribution, and is
// changed by every segment's begin and every delivery. Rows of "what someone alive has" are only
// ever derived from those.

#include "sim/repair/history_check.hpp"

#include "sim/repair/earliest_arrival.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tutti {

namespace {

/// A set of contributions to one chunk, by their position among its holders.
class Contributions {
public:
  Contributions() = default;
  explicit Contributions(std::size_t size) : words_((size + 63) / 64) {}

  void insert(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  [[nodiscard]] bool contains(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void clear() { std::ranges::fill(words_, 0); }
  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
  }
  [[nodiscard]] bool includes(const Contributions& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((other.words_[w] & ~words_[w]) != 0) return false;
    return true;
  }
  [[nodiscard]] bool overlaps(const Contributions& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((other.words_[w] & words_[w]) != 0) return true;
    return false;
  }
  void add(const Contributions& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  void remove(const Contributions& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
  }
  bool operator==(const Contributions&) const = default;

private:
  std::vector<std::uint64_t> words_;
};

struct Delivered {
  std::uint32_t segment = 0, transfer = 0;
  bool waits = false; ///< it is there, but not delivered
};

/// Transfers of each chunk of the whole collective that have come to their receivers, in order.
class DeliveriesByChunk {
public:
  DeliveriesByChunk(std::size_t chunks, std::span<const Segment> segments) : begin_(chunks + 1) {
    each(segments, [&](ChunkId chunk, Delivered) { ++begin_[chunk.value + 1]; });
    for (std::size_t c = 0; c < chunks; ++c) begin_[c + 1] += begin_[c];
    deliveries_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    each(segments, [&](ChunkId chunk, Delivered one) { deliveries_[next[chunk.value]++] = one; });
  }
  [[nodiscard]] std::span<const Delivered> of(ChunkId chunk) const {
    return std::span(deliveries_)
        .subspan(begin_[chunk.value], begin_[chunk.value + 1] - begin_[chunk.value]);
  }

private:
  template <typename Visit>
  static void each(std::span<const Segment> segments, const Visit& visit) {
    for (std::uint32_t s = 0; s < segments.size(); ++s)
      for (std::uint32_t i = 0; i < segments[s].schedule.size(); ++i) {
        const bool waits = std::ranges::binary_search(segments[s].waiting, i);
        if (segments[s].delivered[i] || waits)
          visit(segments[s].chunk[segments[s].schedule[i].chunk.value], {s, i, waits});
      }
  }

  std::vector<std::size_t> begin_; // [chunk]
  std::vector<Delivered> deliveries_;
};

struct Waiting {
  Arrival arrival;
  Contributions value;
};

/// One node and the chunk that is looked at.
struct Holding {
  Contributions value;          ///< the working value
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
      : topology_(topology), collective_(collective), record_(record), claim_(claim),
        earliest_(topology, record.events), died_(topology.node_count()),
        is_dead_(topology.node_count()), nodes_(topology.node_count()) {
    for (std::size_t e = 0; e < record.events.size(); ++e) {
      const NetworkEvent& event = record.events[e];
      if (event.kind != NetworkEvent::Kind::npu_down) continue;
      died_[event.npu.value] = event.at;
      if (e < claim.events_counted) is_dead_[event.npu.value] = true;
    }
    for (const RouteChange& change : record.route_changes)
      for (const auto& [path, instead] : change.paths)
        if (path != instead) detours_.emplace_back(path, std::pair{instead, change.at});
    std::ranges::sort(detours_);
    number_.resize(record.segments.size());
    taken_in_.resize(record.segments.size());
  }

  std::optional<std::string> run() {
    check_segments();
    if (fault_) return fault_;
    const DeliveriesByChunk deliveries(collective_.chunks.size(), record_.segments);
    for (std::uint32_t c = 0; c < collective_.chunks.size() && !fault_; ++c)
      check_chunk(ChunkId{c}, deliveries.of(ChunkId{c}));
    for (std::size_t s = 0; s < record_.segments.size() && !fault_; ++s)
      if (taken_in_[s] < record_.segments[s].takes_in.size())
        fault(fmt::format("segment {} takes in what doesn't wait at its holders", s));
    if (!fault_) check_claims();
    return fault_;
  }

private:
  static constexpr std::uint32_t none = UINT32_MAX;

  void fault(std::string text) {
    if (!fault_) fault_ = std::move(text);
  }
  [[nodiscard]] const std::string& name(NodeId node) const { return topology_.node(node).name; }
  [[nodiscard]] bool is_npu(NodeId node) const { return node.value < topology_.npu_count(); }
  [[nodiscard]] bool was_dead(NodeId node, Time at) const {
    return died_[node.value] && *died_[node.value] <= at;
  }

  void check_segments() {
    for (std::size_t s = 0; s < record_.segments.size(); ++s) {
      const Segment& segment = record_.segments[s];
      number_[s].assign(collective_.chunks.size(), none);
      for (std::uint32_t c = 0; c < segment.chunk.size(); ++c) {
        const ChunkId chunk = segment.chunk[c];
        if (chunk.value >= collective_.chunks.size() || number_[s][chunk.value] != none)
          return fault(
              fmt::format("segment {} names chunk {} twice, or there is none", s, chunk.value));
        number_[s][chunk.value] = c;
      }
      if (s > 0 && segment.begin < record_.segments[s - 1].end)
        return fault(fmt::format("segment {} begins before segment {} ends", s, s - 1));
    }
  }

  void check_chunk(ChunkId chunk, std::span<const Delivered> deliveries) {
    chunk_ = chunk;
    reduces_ = collective_.chunks[chunk.value].reduces;
    contributors_ = collective_.held_by(chunk);
    all_ = nothing();
    for (std::size_t i = 0; i < (reduces_ ? contributors_.size() : 1); ++i) all_.insert(i);
    left_out_ = nothing();
    needed_ = all_;
    for (const ChunkAt& one : lost_claims(chunk)) {
      const auto i = contributor(one.npu);
      if (!i)
        return fault(fmt::format("chunk {}: {} has no contribution that could be lost", chunk.value,
                                 name(one.npu)));
      Contributions gone = nothing();
      gone.insert(*i);
      needed_.remove(gone);
    }
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      nodes_[n] = Holding{};
      nodes_[n].value = input(NodeId{n});
      note_completeness(NodeId{n});
    }
    std::size_t next = 0;
    for (std::uint32_t s = 0; s < record_.segments.size() && !fault_; ++s) {
      if (s > 0) begin_segment(s);
      for (Holding& each : nodes_) each.changed = each.heads = record_.segments[s].begin;
      while (next < deliveries.size() && deliveries[next].segment == s && !fault_)
        next = perform_block(deliveries, next);
    }
    if (!fault_) check_end();
  }

  [[nodiscard]] std::span<const ChunkAt> lost_claims(ChunkId chunk) const {
    return of_chunk(claim_.lost, chunk);
  }

  [[nodiscard]] Contributions nothing() const {
    return Contributions(reduces_ ? contributors_.size() : 1);
  }
  /// Its position among those that make the chunk's value; of one that is copied: 0.
  [[nodiscard]] std::optional<std::size_t> contributor(NodeId node) const {
    const auto found = std::ranges::lower_bound(contributors_, node);
    if (found == contributors_.end() || *found != node) return std::nullopt;
    return reduces_ ? static_cast<std::size_t>(found - contributors_.begin()) : std::size_t{0};
  }
  [[nodiscard]] NodeId one_of(const Contributions& some) const {
    for (std::size_t i = 0; i < contributors_.size(); ++i)
      if (some.contains(reduces_ ? i : 0)) return contributors_[i];
    return contributors_.front();
  }
  [[nodiscard]] Contributions input(NodeId node) const {
    Contributions own = nothing();
    if (const auto i = contributor(node)) own.insert(*i);
    return own;
  }

  /// What those whom `lives` names hold, each its input and whatever lies in its memory.
  template <typename Lives> [[nodiscard]] Contributions held_by(const Lives& lives) const {
    Contributions held = nothing();
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n)
      if (lives(NodeId{n})) {
        held.add(nodes_[n].value);
        for (const Waiting& one : nodes_[n].waiting) held.add(one.value);
      }
    for (const NodeId holder : contributors_)
      if (lives(holder)) held.add(input(holder));
    return held;
  }

  void begin_segment(std::uint32_t s) {
    const Segment& segment = record_.segments[s];
    const std::uint32_t local = number_[s][chunk_.value];
    if (local == none && !segment.anew) return;
    const auto lives = [&](NodeId npu) { return !was_dead(npu, segment.begin); };
    Contributions left = held_by(lives);
    left.remove(left_out_);
    const std::vector<Holding> before = nodes_;
    if (local == none)
      for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
        nodes_[n].value = input(NodeId{n});
        nodes_[n].is_stale = false;
        nodes_[n].waiting.clear();
      }
    else
      set_values(s, ChunkId{local}, left);
    if (fault_) return;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].value != before[n].value) nodes_[n].changed = segment.begin;
      note_completeness(NodeId{n});
    }
    if (local == none) left.remove(held_by(lives));
    check_left_out(s, left, before);
    left_out_.add(left);
  }

  /// Takes what is in use from here on out of `left`.
  void set_values(std::uint32_t s, ChunkId local, Contributions& left) {
    const Segment& segment = record_.segments[s];
    const bool sums = segment.collective.chunks[local.value].reduces;
    const std::span<const NodeId> holders = segment.collective.held_by(local);
    Contributions used = nothing(), common = all_;
    std::vector<bool> holds(nodes_.size());
    used_.clear();
    for (std::size_t h = 0; h < holders.size(); ++h) {
      const NodeId npu = holders[h];
      holds[npu.value] = true;
      Contributions value = start_value(s, npu, segment.starts.of(local, h));
      take_in(s, npu, value);
      if (fault_) return;
      if (value.empty())
        return fault(fmt::format("segment {}: {} doesn't hold chunk {}, which counts from there", s,
                                 name(npu), chunk_.value));
      if (sums && used.overlaps(value))
        return fault(fmt::format("segment {}: values of chunk {} overlap at {}", s, chunk_.value,
                                 name(npu)));
      used.add(value);
      Contributions lacking = common;
      lacking.remove(value);
      common.remove(lacking);
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

  Contributions start_value(std::uint32_t s, NodeId npu, Start start) {
    const Contributions own = input(npu);
    const Contributions& present = nodes_[npu.value].value;
    if (!is_npu(npu))
      fault(fmt::format("segment {}: {} is no NPU and keeps nothing", s, name(npu)));
    if (has_input(start) && own.empty())
      fault(fmt::format("segment {}: {} has no input to chunk {}", s, name(npu), chunk_.value));
    if (start == Start::both && own.overlaps(present))
      fault(fmt::format("segment {}: {} would count its input to chunk {} twice", s, name(npu),
                        chunk_.value));
    Contributions value = nothing();
    if (has_present(start)) value.add(present);
    if (has_input(start) || (has_present(start) && !reduces_)) value.add(own); // a copy is a copy
    return value;
  }

  /// Adds what the segment takes in at this holder.
  void take_in(std::uint32_t s, NodeId npu, Contributions& value) {
    for (const Waiting& one : nodes_[npu.value].waiting) {
      if (!std::ranges::binary_search(record_.segments[s].takes_in, one.arrival)) continue;
      ++taken_in_[s];
      if (reduces_ && value.overlaps(one.value))
        fault(fmt::format("segment {}: {} would count what it takes in of chunk {} twice", s,
                          name(npu), chunk_.value));
      value.add(one.value);
    }
  }

  /// What a plan leaves out it must: what the dead gave, and only where nobody alive could add it.
  void check_left_out(std::uint32_t s, const Contributions& left,
                      const std::vector<Holding>& before) {
    if (left.empty()) return;
    const Segment& segment = record_.segments[s];
    for (const NodeId npu : contributors_)
      if (!was_dead(npu, segment.begin) && left.contains(*contributor(npu)))
        return fault(fmt::format("segment {}: the contribution of {}, which lives, to chunk {} is "
                                 "left out",
                                 s, name(npu), chunk_.value));
    if (segment.anew) return;
    const auto could_add = [&](const Contributions& value) {
      // In place of those that it has within it.
      const auto leaves_room = [&](const Contributions& used) {
        return value.includes(used) || !value.overlaps(used);
      };
      return value.overlaps(left) && !value.overlaps(left_out_) &&
             std::ranges::all_of(used_, leaves_room);
    };
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n)
      if (!was_dead(NodeId{n}, segment.begin) &&
          (could_add(before[n].value) ||
           std::ranges::any_of(before[n].waiting, could_add, &Waiting::value)))
        return fault(
            fmt::format("segment {}: the contribution of {} to chunk {} is left out, which "
                        "{} has and could add",
                        s, name(one_of(left)), chunk_.value, name(NodeId{n})));
  }

  struct Sent {
    Contributions value;
    Time ready; ///< the earliest instant at which it can have been on its way
  };

  /// The block of transfers performed together that begins at deliveries[first]; returns the first
  /// after it.
  std::size_t perform_block(std::span<const Delivered> deliveries, std::size_t first) {
    const Schedule& schedule = record_.segments[deliveries[first].segment].schedule;
    std::size_t end = first + 1;
    while (end < deliveries.size() && deliveries[end].segment == deliveries[first].segment &&
           is_one_block(schedule, deliveries[first].transfer, deliveries[end].transfer))
      ++end;
    std::vector<Sent> sent;
    for (std::size_t k = first; k < end; ++k) {
      const NodeId from = ends(deliveries[k]).first;
      const Holding& sender = nodes_[from.value];
      if (sender.is_stale || sender.value.empty()) {
        fault(told(deliveries[k], fmt::format("{} doesn't hold what it sent", name(from))));
        return end;
      }
      sent.push_back(
          {sender.value, topology_.node(from).can.store ? sender.changed : sender.heads});
    }
    for (std::size_t k = first; k < end; ++k)
      if (const NodeId from = ends(deliveries[k]).first; !topology_.node(from).can.copy) {
        nodes_[from.value].value.clear();
        note_completeness(from);
      }
    for (std::size_t k = first; k < end && !fault_; ++k) receive(deliveries[k], sent[k - first]);
    return end;
  }

  [[nodiscard]] static bool is_one_block(const Schedule& schedule, std::uint32_t a,
                                         std::uint32_t b) {
    for (std::uint32_t i = a + 1; i <= b; ++i)
      if (!schedule[i].together) return false;
    return true;
  }
  [[nodiscard]] std::pair<NodeId, NodeId> ends(Delivered one) const {
    const Schedule& schedule = record_.segments[one.segment].schedule;
    const PathId path = schedule.path_of(one.transfer);
    return {topology_.link(schedule.paths().first(path)).from,
            topology_.link(schedule.paths().last(path)).to};
  }
  [[nodiscard]] static std::string told(Delivered one, const std::string& what) {
    return fmt::format("segment {}, transfer {}: {}", one.segment, one.transfer, what);
  }

  void receive(Delivered one, const Sent& sent) {
    const NodeId to = ends(one).second;
    Holding& have = nodes_[to.value];
    if (one.waits) {
      // It has come by the end, where its receiver had not died before.
      const Time end = record_.segments[one.segment].end;
      if (check_time(one, to, end, sent.ready))
        have.waiting.push_back({{one.segment, one.transfer}, sent.value});
      return;
    }
    const Time at = record_.deliveries[one.segment][one.transfer];
    const std::optional<Time> heads = check_time(one, to, at, sent.ready);
    if (!fault_ && was_dead(to, at))
      fault(told(one, fmt::format("{} was dead when it was delivered there", name(to))));
    if (fault_) return;
    const bool reduces = record_.segments[one.segment].schedule[one.transfer].op == Op::reduce;
    if (have.is_stale || have.value.empty()) {
      have.value = sent.value;
    } else if (reduces) {
      if (have.value.overlaps(sent.value))
        return fault(told(one, fmt::format("a contribution is counted twice at {}", name(to))));
      have.value.add(sent.value);
    } else {
      if (!sent.value.includes(have.value))
        return fault(told(one, fmt::format("the copy loses contributions at {}", name(to))));
      have.value = sent.value;
    }
    have.is_stale = false;
    have.changed = std::max(have.changed, at);
    have.heads = std::max(have.heads, *heads);
    note_completeness(to);
  }

  /// When its first byte can have come at the earliest; nothing where it is a fault.
  std::optional<Time> check_time(Delivered one, NodeId to, Time at, Time ready) {
    const Segment& segment = record_.segments[one.segment];
    const Bytes size = collective_.chunks[chunk_.value].size;
    const PathTable& paths = segment.schedule.paths();
    const PathId path = segment.schedule.path_of(one.transfer);
    std::optional<EarliestArrival::Arrival> best = earliest_.over(paths.links(path), ready, size);
    for (auto detour = std::ranges::lower_bound(detours_, path, {}, &Detour::first);
         detour != detours_.end() && detour->first == path; ++detour) {
      const auto& [instead, since] = detour->second;
      const auto around = earliest_.over(paths.links(instead), std::max(ready, since), size);
      if (!around) continue;
      if (!best) best = around;
      best = {std::min(best->head, around->head), std::min(best->tail, around->tail)};
    }
    if (!best)
      fault(told(one, fmt::format("it was delivered to {} though links before it are down for "
                                  "good",
                                  name(to))));
    else if (at < best->tail)
      fault(told(one, fmt::format("it was delivered to {} at {}, which nothing can reach before {}",
                                  name(to), to_text(at), to_text(best->tail))));
    else if (at < segment.begin || at > segment.end)
      fault(told(one, "it was delivered outside its segment"));
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
    Contributions gone = all_;
    gone.remove(held_by(lives));
    gone.add(left_out_);
    Contributions claimed = all_;
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
    for (const NodeId npu : collective_.wanted_by(chunk_)) check_destination(npu);
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
    if (claim_.completion != completion_)
      return fault(fmt::format("the last delivery is said to be at {}, and was at {}",
                               to_text(claim_.completion), to_text(completion_)));
    if (claim_.events_counted < record_.events.size() &&
        (!missing_.empty() || completion_ >= record_.events[claim_.events_counted].at))
      return fault(fmt::format("{} doesn't count, though not everyone had all by then",
                               to_text(record_.events[claim_.events_counted], topology_)));
  }

  using Detour = std::pair<PathId, std::pair<PathId, Time>>; // what is replaced by what, since when

  const Topology& topology_;
  const Collective& collective_;
  const HistoryRecord& record_;
  const HistoryClaim& claim_;
  EarliestArrival earliest_;
  std::vector<std::optional<Time>> died_;          // [node]
  std::vector<bool> is_dead_;                      // [node]: by an event that counts
  std::vector<Detour> detours_;                    // in order
  std::vector<std::vector<std::uint32_t>> number_; // [segment][chunk]: the segment's number of it
  std::vector<std::size_t> taken_in_; // [segment]: of what it takes in, what waited at its holders
  std::optional<std::string> fault_;
  std::vector<ChunkAt> missing_;
  bool has_destination_ = false, has_something_to_get_ = false;
  Time completion_;
  // Of the chunk that is checked:
  ChunkId chunk_;
  bool reduces_ = false;
  std::span<const NodeId> contributors_;
  Contributions all_, needed_, left_out_;
  std::vector<Contributions> used_; // what the holders of the present segment began with
  std::vector<Holding> nodes_;
};

} // namespace

std::optional<std::string> check_history(const Topology& topology, const Collective& collective,
                                         const HistoryRecord& record, const HistoryClaim& claim) {
  return HistoryChecker(topology, collective, record, claim).run();
}

} // namespace tutti
