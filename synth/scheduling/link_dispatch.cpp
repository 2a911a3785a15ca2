// An event simulation of the engines' FIFO rules in which a sender chooses: whenever its link is
// free it takes the most urgent of the transfers that wait there to set out, of those over several
// links rather one that needn't wait further on (LinkOutlook) or, at a pace, the next one that
// is due. What has set out is served in order of entry at its further links, as an engine serves
// it. Shared groups and reductions at a rate wait as in the engines, so that a replay that keeps
// the resulting order takes as long, but for what a pace holds back.

#include "synth/scheduling/link_dispatch.hpp"

#include "sim/engines/event_queue.hpp"
#include "synth/scheduling/dispatch_links.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t transfers_between_polls = 4096;
constexpr std::size_t most_compared = 64; // paths of a link, the most urgent

class Dispatch {
public:
  Dispatch(const Topology& topology, const Collective& collective, const Schedule& schedule,
           const TimeModel& model, TransferPrecedence precedence, const std::optional<Pace>& pace,
           const WorkLimit& limit)
      : limit_(limit), pace_(pace), topology_(topology), collective_(collective),
        schedule_(schedule), model_(model), precedence_(std::move(precedence)),
        outlook_(topology, model.link_busy), links_(topology.link_count()),
        groups_(topology.groups().size()), reduction_free_(topology.node_count()) {
    for (std::uint32_t l = 0; l < links_.size(); ++l)
      links_[l].shared = !topology.groups_of(LinkId{l}).empty();
    const PathTable& paths = schedule.paths();
    waiting_.resize(std::max<std::size_t>(paths.size(), links_.size()));
    std::vector<bool> is_used(paths.size());
    for (std::uint32_t i = 0; i < precedence_.size(); ++i)
      is_used[precedence_.path(i).value] = true;
    std::vector<bool> begins_one(links_.size());
    for (std::uint32_t p = 0; p < paths.size(); ++p) {
      if (!is_used[p]) continue;
      const auto links = paths.links(PathId{p});
      LinkState& first = links_[links.front().value];
      first.sends_far |= links.size() > 1;
      first.begins_several |= begins_one[links.front().value];
      begins_one[links.front().value] = true;
      for (const LinkId link : links.subspan(1)) links_[link.value].passes_on = true;
    }
    for (LinkState& link : links_) is_order_seen_ |= link.shared || link.passes_on;
    if (is_order_seen_) ready_at_.resize(schedule.size());
    for (const Node& node : topology.nodes())
      reductions_take_time_ |= reduction_rate(node, model).bytes_per_second > 0;
    if (reductions_take_time_) position_of_.resize(schedule.size());
    for (const Chunk& chunk : collective.chunks)
      all_alike_ &= chunk.size == collective.chunks.front().size;
    for (std::uint32_t i = 0; i < precedence_.size(); ++i)
      if (!is_single_hop(i)) outlook_.expect(path_of(i), size_of(i));
    done_.order.reserve(schedule.size());
    for (std::vector<Time>* times : {&done_.starts, &done_.lefts, &done_.deliveries})
      times->resize(schedule.size());
  }

  Dispatched run() {
    precedence_.begin([this](std::uint32_t i) { enter(i); });
    serve();
    std::size_t polled = 0; // transfers
    for (now_ = events_.next_time(); now_ != EventQueue::never; now_ = events_.next_time()) {
      if (done_.order.size() >= polled + transfers_between_polls) {
        limit_.require();
        polled = done_.order.size();
      }
      while (events_.next_time() == now_) handle(events_.pop());
      serve();
    }
    assert(done_.order.size() == schedule_.size());
    done_.as_replayed = !precedence_.waited_for_receiver();
    return std::move(done_);
  }

private:
  enum Kind : std::uint32_t { link_free, group_free, left, hop, arrive, lands, reduced };

  struct LinkState {
    /// The first transfer that waits to set out over each of the paths that begin here; by urgency.
    /// Only where paths of several links do.
    std::vector<std::uint64_t> fronts;
    EntryQueue entered;      // those that have set out elsewhere
    std::size_t waiting = 0; // to set out here
    std::int64_t free_at = 0;
    std::int64_t last_entry = 0; // of those that set out here, when one may enter after it
    bool sends_far = false;      // paths of several links begin here
    bool begins_several = false; // paths, between which dependencies keep the order
    bool passes_on = false;      // they go on here
    bool shared = false, touched = false;
    [[nodiscard]] bool idle() const { return waiting == 0 && entered.empty(); }
  };
  struct GroupState {
    std::int64_t free_at = 0;
    bool awaited = false;
  };
  /// A transfer under way over several links.
  struct Flight {
    std::int64_t tail = 0; // this hop can't end before
    std::uint32_t transfer = 0, hop = 0, position = 0;
  };

  void enter(std::uint32_t i) {
    const LinkId id = first_link(i);
    LinkState& link = links_[id.value];
    std::vector<std::uint64_t>& heap = waiting_[precedence_.path(i).value];
    change(link, heap, [&] {
      heap.push_back(std::uint64_t{precedence_.key(i)} << 32 | i);
      std::ranges::push_heap(heap, std::greater{});
    });
    ++link.waiting;
    if (is_order_seen_) ready_at_[i] = now_;
    touch(id.value);
  }

  /// Changes what waits for one path of the link.
  template <typename Change>
  static void change(LinkState& link, std::vector<std::uint64_t>& heap, const Change& make) {
    if (!link.sends_far) return make();
    const auto front = [&heap] {
      return heap.empty() ? std::nullopt : std::optional(heap.front());
    };
    const std::optional<std::uint64_t> before = front();
    make();
    const std::optional<std::uint64_t> after = front();
    if (after == before) return;
    if (before) link.fronts.erase(std::ranges::lower_bound(link.fronts, *before));
    if (after) link.fronts.insert(std::ranges::lower_bound(link.fronts, *after), *after);
  }

  void touch(std::uint32_t link) {
    if (links_[link].touched) return;
    links_[link].touched = true;
    touched_.push_back(link);
  }

  void handle(const Event& event) {
    const auto ready = [this](std::uint32_t i) { enter(i); };
    const auto delivered = [this](std::uint32_t i) { deliver(i); };
    switch (static_cast<Kind>(event.kind)) {
    case link_free:
      if (!links_[event.subject].idle()) touch(event.subject);
      break;
    case group_free:
      groups_[event.subject].awaited = false;
      for (const LinkId link : topology_.groups()[event.subject].links)
        if (!links_[link.value].idle()) touch(link.value);
      break;
    case left: precedence_.left(event.subject, ready, delivered); break;
    case hop: queue_hop(event.subject); break;
    case arrive: arrived(event.subject); break;
    case lands:
      free_flights_.push_back(event.subject);
      arrived(flights_[event.subject].transfer);
      break;
    case reduced: precedence_.arrived(event.subject, ready, delivered); break;
    }
  }

  void arrived(std::uint32_t i) {
    if (reductions_take_time_ && occupies_reduction_unit(i))
      reducing_.push_back({position_of_[i], i});
    else
      precedence_.arrived(
          i, [this](std::uint32_t j) { enter(j); }, [this](std::uint32_t j) { deliver(j); });
  }
  void deliver(std::uint32_t i) { done_.makespan = done_.deliveries[i] = Time{now_}; }

  /// Starts whatever can start.
  void serve() {
    start_reductions();
    for (std::size_t k = 0; k < touched_.size(); ++k) { // a start may touch further links
      const std::uint32_t l = touched_[k];
      LinkState& link = links_[l];
      link.touched = false;
      if (link.idle() || link.free_at > now_) continue;
      const auto first = head(LinkId{l});
      if (!first) continue;
      if (link.shared)
        candidates_.push_back({*first, LinkId{l}});
      else
        start(LinkId{l}, *first);
    }
    touched_.clear();
    std::ranges::sort(candidates_);
    for (const auto& [waiting, id] : candidates_)
      if (groups_are_free(id)) start(id, waiting);
    candidates_.clear();
  }

  /// What the link takes next; nothing where all that wait here are to wait for their turn.
  [[nodiscard]] std::optional<Waiting> head(LinkId id) {
    LinkState& link = links_[id.value];
    std::optional<Waiting> first;
    if (link.waiting > 0) {
      if (const auto best = best_of(id)) {
        const auto i = static_cast<std::uint32_t>(*best);
        const std::int64_t since = is_order_seen_ ? std::max(ready_at_[i], link.last_entry) : 0;
        first = {since, Waiting::none, precedence_.key(i), i, Waiting::none};
      }
    }
    if (!link.entered.empty())
      first = first ? std::min(*first, link.entered.front()) : link.entered.front();
    return first;
  }

  /// Takes head().
  void take(LinkState& link, const Waiting& first) {
    if (first.flight != Waiting::none) {
      link.entered.pop();
      return;
    }
    std::vector<std::uint64_t>& heap = waiting_[precedence_.path(first.transfer).value];
    change(link, heap, [&] {
      if (static_cast<std::uint32_t>(heap.front()) == first.transfer) {
        std::ranges::pop_heap(heap, std::greater{});
        heap.pop_back();
      } else { // a more urgent one has entered since, at this instant
        std::erase_if(heap, [&](std::uint64_t one) {
          return static_cast<std::uint32_t>(one) == first.transfer;
        });
        std::ranges::make_heap(heap, std::greater{});
      }
    });
    --link.waiting;
    link.last_entry = first.since;
  }

  /// Key and transfer of the one that sets out next; nothing where all are to wait for their turn.
  /// Pre: some wait.
  [[nodiscard]] std::optional<std::uint64_t> best_of(LinkId id) {
    const LinkState& link = links_[id.value];
    const std::uint64_t first = // the path that is the link alone has its number
        link.sends_far ? link.fronts.front() : waiting_[id.value].front();
    if (pace_ && (link.sends_far || link.shared)) return if_due(id, first);
    return link.sends_far ? most_promising(link) : first;
  }

  [[nodiscard]] std::uint64_t most_promising(const LinkState& link) const {
    std::optional<std::pair<LinkOutlook::Prospect, std::uint32_t>> least;
    std::uint64_t best = 0;
    std::size_t compared = 0;
    for (const std::uint64_t front : link.fronts) {
      if (least && least->first.wait == 0 && front >> 32 > least->first.key) break; // none better
      if (compared++ == most_compared) break;
      const auto i = static_cast<std::uint32_t>(front);
      const std::pair prospect(
          outlook_.prospect(path_of(i), static_cast<std::uint32_t>(front >> 32), now_), i);
      if (least && prospect >= *least) continue;
      least = prospect;
      best = front;
    }
    return best;
  }

  [[nodiscard]] std::optional<std::uint64_t> if_due(LinkId id, std::uint64_t first) {
    const std::int64_t due = pace_->due(static_cast<std::uint32_t>(first), schedule_.size());
    if (due <= now_) return first;
    events_.push(now_, {due, id.value, link_free});
    return std::nullopt;
  }

  bool groups_are_free(LinkId id) {
    bool free = true;
    for (const std::uint32_t g : topology_.groups_of(id)) {
      GroupState& group = groups_[g];
      if (group.free_at <= now_) continue;
      free = false;
      if (group.awaited) continue;
      group.awaited = true;
      events_.push(now_, {group.free_at, g, group_free});
    }
    return free;
  }

  void start(LinkId id, const Waiting& waiting) {
    const std::uint32_t i = waiting.transfer;
    const bool first_hop = waiting.flight == Waiting::none;
    LinkState& link = links_[id.value];
    take(link, waiting);
    const Bytes size = size_of(i);
    const std::int64_t sent = now_ + outlook_.sending(id, size);
    require_representable(sent, Time{outlook_.latency(id)});
    link.free_at = now_ + outlook_.occupied(id, size);
    for (const std::uint32_t g : topology_.groups_of(id))
      groups_[g].free_at = now_ + serialization(size, topology_.groups()[g].bandwidth).ps;
    events_.push(now_, {link.free_at, id.value, link_free});

    const auto position = static_cast<std::uint32_t>(done_.order.size());
    const bool single = is_single_hop(i);
    std::int64_t end = sent;
    if (single) {
      events_.push(now_, {sent + outlook_.latency(id), i, arrive});
    } else {
      const std::uint32_t flight = first_hop ? take_flight({0, i, 0, position}) : waiting.flight;
      end = std::max(sent, flights_[flight].tail);
      move_on(id, flight, end);
    }
    if (!first_hop) return;
    if (link.begins_several) link.last_entry = sent;
    if (!single) outlook_.start(path_of(i), size, now_);
    done_.order.push_back(i);
    done_.starts[i] = Time{now_};
    done_.lefts[i] = Time{end};
    if (reductions_take_time_) position_of_[i] = position;
    if (!precedence_.followed(i)) return;
    events_.push(now_, {end, i, left});
    precedence_.started(i, [this](std::uint32_t j) { enter(j); });
  }

  /// Where the flight, which ends its hop over link `id` at `end`, goes from there.
  void move_on(LinkId id, std::uint32_t flight_id, std::int64_t end) {
    Flight& flight = flights_[flight_id];
    const std::int64_t latency = outlook_.latency(id);
    const auto path = path_of(flight.transfer);
    if (flight.hop + 1 == path.size()) {
      events_.push(now_, {end + latency, flight_id, lands});
      return;
    }
    ++flight.hop;
    if (cuts_through(topology_.node(topology_.link(id).to), model_)) {
      flight.tail = end + latency;
      events_.push(now_, {now_ + latency, flight_id, hop});
    } else {
      flight.tail = 0;
      events_.push(now_, {end + latency, flight_id, hop});
    }
  }

  void queue_hop(std::uint32_t flight_id) {
    const Flight& flight = flights_[flight_id];
    const LinkId id = path_of(flight.transfer)[flight.hop];
    links_[id.value].entered.push({now_, flight.position, 0, flight.transfer, flight_id});
    touch(id.value);
  }

  std::uint32_t take_flight(const Flight& flight) {
    if (free_flights_.empty()) {
      flights_.push_back(flight);
      return static_cast<std::uint32_t>(flights_.size() - 1);
    }
    const std::uint32_t id = free_flights_.back();
    free_flights_.pop_back();
    flights_[id] = flight;
    return id;
  }

  [[nodiscard]] bool is_single_hop(std::uint32_t i) const {
    return precedence_.path(i).value < topology_.link_count();
  }
  [[nodiscard]] LinkId first_link(std::uint32_t i) const {
    const PathId path = precedence_.path(i);
    return is_single_hop(i) ? LinkId{path.value} : schedule_.paths().first(path);
  }
  [[nodiscard]] std::span<const LinkId> path_of(std::uint32_t i) const {
    return schedule_.paths().links(precedence_.path(i));
  }
  [[nodiscard]] Bytes size_of(std::uint32_t i) const {
    return all_alike_ ? collective_.chunks.front().size
                      : collective_.chunks[precedence_.chunk(i).value].size;
  }

  [[nodiscard]] NodeId receiver(std::uint32_t i) const {
    return topology_.link(schedule_.paths().last(precedence_.path(i))).to;
  }
  [[nodiscard]] bool occupies_reduction_unit(std::uint32_t i) const {
    return schedule_[i].op == Op::reduce &&
           reduction_rate(topology_.node(receiver(i)), model_).bytes_per_second > 0;
  }

  /// Those that arrived at this instant take their node's unit in order of start.
  void start_reductions() {
    std::ranges::sort(reducing_);
    for (const auto& [position, i] : reducing_) {
      const Bytes size = size_of(i);
      std::int64_t& free_at = reduction_free_[receiver(i).value];
      free_at = std::max(free_at, now_) +
                serialization(size, reduction_rate(topology_.node(receiver(i)), model_)).ps;
      events_.push(now_, {free_at, i, reduced});
    }
    reducing_.clear();
  }

  const WorkLimit& limit_;
  const std::optional<Pace> pace_;
  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const TimeModel model_;
  TransferPrecedence precedence_;
  LinkOutlook outlook_;
  std::int64_t now_ = 0;
  EventQueue events_;
  std::vector<LinkState> links_;
  std::vector<std::vector<std::uint64_t>> waiting_; // [path]: heap of key and transfer, least first
  std::vector<GroupState> groups_;
  std::vector<std::int64_t> ready_at_;       // per transfer, where is_order_seen_
  std::vector<std::int64_t> reduction_free_; // per node
  bool is_order_seen_ = false; // whether it matters when transfers enter their first links
  bool reductions_take_time_ = false, all_alike_ = true; // all_alike_: all chunks of one size
  std::vector<std::uint32_t> position_of_;               // per transfer, where reductions take time
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reducing_; // position and transfer
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_, touched_;
  std::vector<std::pair<Waiting, LinkId>> candidates_;
  Dispatched done_;
};

} // namespace

Dispatched dispatched(const Topology& topology, const Collective& collective,
                      const Schedule& schedule, const TimeModel& model,
                      TransferPrecedence precedence, const std::optional<Pace>& pace,
                      const WorkLimit& limit) {
  return Dispatch(topology, collective, schedule, model, std::move(precedence), pace, limit).run();
}

} // namespace tutti
