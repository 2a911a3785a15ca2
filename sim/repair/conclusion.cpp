// Whatever policy was followed, the answer is derived here from the segments alone and then checked
// by check_history(), which shares no code with it. Events after the last delivery that anyone
// alive wants do not count; a time below a lower bound would be reported as a problem.
//
// What the deliveries were good for, and from when on: chunk by chunk, ChunkReplay performs what
// was delivered while DeliveryAccounts notes when each destination's value became complete. A
// second walk, backwards from what those alive hold in the end, tells which deliveries were needed;
// the rest were in vain.

#include "sim/repair/conclusion.hpp"

#include "sim/members.hpp"
#include "sim/repair/chunk_replay.hpp"
#include "sim/repair/history_check.hpp"
#include "sim/repair/residual.hpp"
#include "sim/sends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

using Word = ChunkReplay::Word;

/// What deliveries have achieved.
/// `deliveries`: per segment and transfer. `lost`: in order, what chunks are complete without.
/// `alive`: per NPU. `starts`: Reaction::starts; nothing is in place at an NPU before.
/// Pre: segments.front() is the whole collective's.
/// Cost: O(transfers + chunks * nodes), times contributors / 64 for chunks that reduce.
class DeliveryAccounts {
public:
  DeliveryAccounts(const Topology& topology, std::span<const Segment> segments,
                   std::span<const std::vector<Time>> deliveries, std::span<const ChunkAt> lost,
                   const std::vector<bool>& alive, std::span<const Time> starts)
      : topology_(topology), segments_(segments), whole_(segments.front().collective),
        deliveries_(deliveries), lost_(lost), alive_(alive), replay_(topology, segments),
        starts_(starts.begin(), starts.end()), wants_(topology.node_count()),
        place_(topology.node_count()), came_(topology.node_count()),
        needed_(topology.node_count()) {
    starts_.resize(topology.node_count());
    made_.last_came.resize(topology.npu_count());
    made_.finished.assign(topology.npu_count(), Time{});
    if (!starts.empty()) join_members();
  }

  Achievement run() {
    for (std::uint32_t c = 0; c < whole_.chunks.size(); ++c) account(ChunkId{c});
    std::ranges::sort(in_place_);
    for (const auto& [at, size] : in_place_) {
      const Bytes before = made_.progress.empty() ? Bytes{} : made_.progress.back().in_place;
      if (made_.progress.empty() || made_.progress.back().at != at)
        made_.progress.push_back({at, before});
      made_.progress.back().in_place += size;
    }
    if (!made_.missing.empty())
      made_.ending = Ending::incomplete;
    else if (!has_destination_)
      made_.ending = Ending::no_destination;
    else if (!brings_something_)
      made_.ending = Ending::nothing_left;
    return std::move(made_);
  }

private:
  enum class Taken : std::uint8_t { no, in_vain, needed };
  struct Begin {
    std::size_t before; // deliveries
    std::uint32_t segment;
    std::vector<std::size_t> takes_in; // into performed_: deliveries before
  };

  void join_members() {
    for (const NodeId npu : members_of(whole_)) {
      made_.finished[npu.value] = starts_[npu.value];
      if (alive_[npu.value]) made_.last_start = std::max(made_.last_start, starts_[npu.value]);
    }
  }

  void account(ChunkId chunk) {
    chunk_ = chunk;
    find_needed_bits(chunk);
    find_destinations(chunk);
    performed_.clear();
    waiting_.clear();
    begins_.clear();
    replay_.run(
        chunk, [&](std::uint32_t s) { begin(s); }, [&](const Delivery& one) { deliver(one); });
    close(chunk);
    sum_up_in_vain(chunk);
  }

  /// All contributions but the lost ones. `lost_` is walked along with the chunks.
  void find_needed_bits(ChunkId chunk) {
    const std::span<const NodeId> contributors = whole_.sources(chunk);
    const std::size_t bits = whole_.chunks[chunk.value].reduces ? contributors.size() : 1;
    complete_.assign((bits + 63) / 64, 0);
    for (std::size_t b = 0; b < bits; ++b) complete_[b / 64] |= Word{1} << (b % 64);
    for (; next_lost_ < lost_.size() && lost_[next_lost_].chunk == chunk; ++next_lost_) {
      const auto at = std::ranges::lower_bound(contributors, lost_[next_lost_].npu);
      const auto bit = whole_.chunks[chunk.value].reduces
                           ? static_cast<std::size_t>(at - contributors.begin())
                           : std::size_t{0};
      complete_[bit / 64] &= ~(Word{1} << (bit % 64));
    }
    survives_ = std::ranges::any_of(complete_, [](Word word) { return word != 0; });
  }

  void find_destinations(ChunkId chunk) {
    const std::span<const NodeId> held = whole_.sources(chunk);
    const bool held_complete = !whole_.chunks[chunk.value].reduces || held.size() == 1;
    wants_.assign(wants_.size(), false);
    std::ranges::fill(place_, std::nullopt);
    came_ = starts_;
    for (const NodeId npu : whole_.destinations(chunk)) {
      if (held_complete && std::ranges::binary_search(held, npu)) continue;
      wants_[npu.value] = true;
      made_.wanted += whole_.chunks[chunk.value].size;
    }
  }

  [[nodiscard]] bool is_complete(NodeId node) const { return replay_.has_all(node, complete_); }
  void begin(std::uint32_t segment) {
    begins_.push_back({performed_.size(), segment, {}});
    const Time at = segments_[segment].begin;
    const std::optional<std::uint32_t> local = number_in(segment);
    if (!local) {
      for (std::uint32_t n = 0; n < came_.size(); ++n) came_[n] = there(NodeId{n}, at); // anew
      waiting_.clear();
    } else if (segment > 0) {
      const std::span<const NodeId> sources =
          segments_[segment].collective.sources(ChunkId{*local});
      for (std::size_t h = 0; h < sources.size(); ++h)
        if (start_of(segment, *local, h) != Start::present)
          came_[sources[h].value] = there(sources[h], at);
      take_in(segment);
    }
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n) note(NodeId{n});
  }

  /// When an NPU can have something that is there at this instant.
  [[nodiscard]] Time there(NodeId npu, Time at) const { return std::max(at, starts_[npu.value]); }

  /// What waited at the segment's sources is delivered to them when it begins, to those who join
  /// later when they do.
  void take_in(std::uint32_t segment) {
    const Segment& begun = segments_[segment];
    for (const std::size_t i : waiting_) {
      const Delivery& one = performed_[i];
      if (!std::ranges::binary_search(begun.takes_in, Arrival{one.segment, one.transfer})) continue;
      begins_.back().takes_in.push_back(i);
      const Time came = came_[one.to.value] = there(one.to, begun.begin);
      if (wants_[one.to.value])
        made_.last_came[one.to.value] = std::max(made_.last_came[one.to.value], came);
    }
    waiting_.clear();
  }

  [[nodiscard]] std::optional<std::uint32_t> number_in(std::uint32_t segment) const {
    const std::vector<ChunkId>& chunks = segments_[segment].chunk;
    const auto found = std::ranges::lower_bound(chunks, chunk_);
    if (found == chunks.end() || *found != chunk_) return std::nullopt;
    return static_cast<std::uint32_t>(found - chunks.begin());
  }
  [[nodiscard]] Start start_of(std::uint32_t segment, std::uint32_t local,
                               std::size_t source) const {
    return segments_[segment].starts.of(ChunkId{local}, source);
  }

  /// Since when a destination has what it wants, after its value has changed.
  void note(NodeId npu) {
    if (!wants_[npu.value]) return;
    std::optional<Time>& place = place_[npu.value];
    if (!is_complete(npu))
      place.reset();
    else if (!place)
      place = came_[npu.value];
  }

  void deliver(const Delivery& one) {
    performed_.push_back(one);
    if (one.waits) {
      waiting_.push_back(performed_.size() - 1);
      return;
    }
    const std::uint32_t to = one.to.value;
    const Time at = deliveries_[one.segment][one.transfer];
    came_[to] = std::max(came_[to], at);
    if (!topology_.node(one.from).can.copy) note(one.from);
    if (!wants_[to]) return;
    made_.last_came[to] = std::max(made_.last_came[to], at);
    note(one.to);
  }

  void close(ChunkId chunk) {
    for (const NodeId npu : whole_.destinations(chunk)) {
      if (!wants_[npu.value]) continue;
      const bool lives = alive_[npu.value];
      has_destination_ = has_destination_ || lives;
      if (!survives_) continue;
      brings_something_ = brings_something_ || (lives && !replay_.input_has_all(npu, complete_));
      std::optional<Time>& finished = made_.finished[npu.value];
      const std::optional<Time>& at = place_[npu.value];
      if (!at) {
        finished.reset();
        if (lives) made_.missing.push_back({chunk, npu});
        continue;
      }
      if (finished) finished = std::max(*finished, *at);
      if (lives) in_place_.emplace_back(*at, whole_.chunks[chunk.value].size);
    }
  }

  /// Backwards from what those alive hold in the end: a delivery is needed if what it made is.
  void sum_up_in_vain(ChunkId chunk) {
    for (std::uint32_t n = 0; n < needed_.size(); ++n)
      needed_[n] = n < topology_.npu_count() && alive_[n] && !replay_.is_stale(NodeId{n});
    taken_.assign(performed_.size(), Taken::no);
    for (std::size_t end = performed_.size(); !begins_.empty(); begins_.pop_back()) {
      const Begin& begun = begins_.back();
      while (end > begun.before) end = block_backwards(chunk, end);
      for (const std::size_t i : begun.takes_in)
        taken_[i] = needed_[performed_[i].to.value] ? Taken::needed : Taken::in_vain;
      undo_begin(begun.segment);
    }
  }

  /// The block that ends before performed_[end]; returns where it begins.
  std::size_t block_backwards(ChunkId chunk, std::size_t end) {
    std::size_t first = end - 1;
    while (first > 0 && performed_[first - 1].segment == performed_[end - 1].segment &&
           performed_[first - 1].block == performed_[end - 1].block)
      --first;
    const std::span<const Delivery> block(performed_.data() + first, end - first);
    const PathTable& paths = segments_[block[0].segment].schedule.paths();
    useful_.clear();
    for (std::size_t k = 0; k < block.size(); ++k)
      useful_.push_back(block[k].waits ? taken_[first + k] == Taken::needed
                                       : needed_[block[k].to.value]);
    for (const Delivery& one : block) {
      if (one.overwrites) needed_[one.to.value] = false;
      if (!topology_.node(one.from).can.copy) needed_[one.from.value] = false;
    }
    for (std::size_t k = 0; k < block.size(); ++k) {
      if (useful_[k]) {
        needed_[block[k].from.value] = true;
        continue;
      }
      if (block[k].waits && taken_[first + k] == Taken::no) continue; // it never was delivered
      const PathId path = segments_[block[k].segment].schedule.path_of(block[k].transfer);
      made_.in_vain += Bytes{whole_.chunks[chunk.value].size.count *
                             static_cast<std::int64_t>(paths.links(path).size())};
    }
    return first;
  }

  /// Before a segment: the values that its begin sets anew aren't needed.
  void undo_begin(std::uint32_t segment) {
    const std::optional<std::uint32_t> local = number_in(segment);
    if (segment == 0 || !local || segments_[segment].anew) {
      needed_.assign(needed_.size(), false);
      return;
    }
    const std::span<const NodeId> sources = segments_[segment].collective.sources(ChunkId{*local});
    for (std::size_t h = 0; h < sources.size(); ++h)
      if (!has_present(start_of(segment, *local, h))) needed_[sources[h].value] = false;
    for (std::uint32_t n = topology_.npu_count(); n < needed_.size(); ++n) needed_[n] = false;
  }

  const Topology& topology_;
  std::span<const Segment> segments_;
  const Collective& whole_;
  std::span<const std::vector<Time>> deliveries_;
  std::span<const ChunkAt> lost_;
  const std::vector<bool>& alive_;
  ChunkReplay replay_;
  std::vector<Time> starts_; // per node
  Achievement made_;
  std::size_t next_lost_ = 0;
  std::vector<std::pair<Time, Bytes>> in_place_;
  bool has_destination_ = false, brings_something_ = false;
  // The present chunk:
  ChunkId chunk_;
  bool survives_ = true;
  std::vector<Word> complete_;
  std::vector<bool> wants_;
  std::vector<std::optional<Time>> place_;
  std::vector<Time> came_;
  std::vector<Delivery> performed_;
  std::vector<std::size_t> waiting_; // into performed_, since the chunk was planned last
  std::vector<Begin> begins_;
  std::vector<Taken> taken_; // as performed_: what waited
  std::vector<bool> needed_, useful_;
};

std::vector<ChunkAt> united(std::vector<ChunkAt> a, std::span<const ChunkAt> b) {
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a);
  a.erase(std::unique(a.begin(), a.end()), a.end());
  return a;
}

/// Events that happened while something was to be done still: until all NPUs that were alive had
/// joined and had what they want, as far as it survived.
std::size_t effective_events(const RecoveryCase& asked, const History& history) {
  std::vector<std::optional<Time>> finished;
  std::vector<bool> alive(asked.topology.npu_count(), true);
  for (std::size_t k = 0; k < asked.events.size(); ++k) {
    if (finished.empty()) finished = account_of(asked, history, k).achievement.finished;
    bool done = true;
    for (std::size_t n = 0; n < alive.size(); ++n)
      done = done && (!alive[n] || (finished[n] && *finished[n] < asked.events[k].at));
    if (done) return k;
    if (asked.events[k].kind != NetworkEvent::Kind::npu_down) continue;
    alive[asked.events[k].npu.value] = false;
    finished.clear();
  }
  return asked.events.size();
}

/// Whether events can only have made things slower, for the same NPUs.
bool only_worse(const RecoveryCase& asked, std::size_t events) {
  return std::all_of(asked.events.begin(),
                     asked.events.begin() + static_cast<std::ptrdiff_t>(events),
                     [&](const NetworkEvent& event) {
                       return event.kind != NetworkEvent::Kind::npu_down &&
                              (event.kind != NetworkEvent::Kind::link_latency ||
                               event.latency >= asked.topology.link(event.link).latency);
                     });
}

} // namespace

void History::add(Segment segment, const Report& report) {
  links.resize(report.links.size());
  for (std::size_t l = 0; l < links.size(); ++l) {
    links[l].bytes += report.links[l].bytes;
    links[l].busy += report.links[l].busy;
    links[l].transfers += report.links[l].transfers;
  }
  segments.push_back(std::move(segment));
  deliveries.push_back(report.deliveries);
  hops.push_back(report.hops);
}

void History::give_up(std::span<const ChunkAt> contributions) {
  lost = united(std::move(lost), contributions);
}

Account account_of(const RecoveryCase& asked, const History& history, std::size_t events) {
  const NetworkState network = asked.network(events);
  std::vector<bool> alive(asked.topology.npu_count());
  for (std::uint32_t n = 0; n < alive.size(); ++n) alive[n] = network.is_up(NodeId{n});
  Account made{history.lost, {}};
  if (std::ranges::find(alive, false) != alive.end())
    made.lost =
        united(std::move(made.lost), held_by_nobody(asked.topology, history.segments, network));
  made.achievement = DeliveryAccounts(asked.topology, history.segments, history.deliveries,
                                      made.lost, alive, asked.reaction.starts)
                         .run();
  return made;
}

Recovery concluded(const RecoveryCase& asked, History history, const Report& last,
                   std::string problem) {
  const std::size_t events = effective_events(asked, history);
  Account end = account_of(asked, history, events);
  Recovery made;
  made.lost = std::move(end.lost);
  made.missing = std::move(end.achievement.missing);
  made.ending = end.achievement.ending;
  made.progress = std::move(end.achievement.progress);
  made.last_came = std::move(end.achievement.last_came);
  made.in_vain = end.achievement.in_vain;
  made.wanted = end.achievement.wanted;
  made.completion = made.progress.empty() ? Time{} : made.progress.back().at;
  made.last_start = end.achievement.last_start;
  if (made.complete()) made.completion = std::max(made.completion, made.last_start);
  made.stuck = last.stuck;
  made.links = std::move(history.links);
  made.problem = std::move(problem);
  if (made.problem.empty())
    made.problem =
        check_history(asked.topology, asked.collective,
                      {history.segments, history.deliveries, asked.events, history.route_changes,
                       asked.reaction.starts, asked.engine.name != "simgrid"},
                      {made.ending, made.completion, made.lost, made.missing, events})
            .value_or("");
  if (made.problem.empty() && made.complete() && only_worse(asked, events)) {
    auto bounded = std::ranges::find_if(
        history.segments, [](const Segment& one) { return one.schedule.has_contiguous(); });
    if (bounded == history.segments.end()) bounded = history.segments.begin();
    made.problem =
        beaten_bound(asked, asked.topology, asked.collective, bounded->schedule, made.completion);
  }
  made.segments = std::move(history.segments);
  made.deliveries = std::move(history.deliveries);
  made.hops = std::move(history.hops);
  made.route_changes = std::move(history.route_changes);
  made.events_counted = events;
  return made;
}

std::string beaten_bound(const RecoveryCase& asked, const Topology& topology,
                         const Collective& collective, const Schedule& schedule, Time time) {
  constexpr std::size_t most_transfers = 200'000;
  if (schedule.size() > most_transfers || !asked.reaction.beaten_bound) return {};
  return asked.reaction.beaten_bound(topology, collective, bounding_model(asked.model, schedule),
                                     time);
}

} // namespace tutti
