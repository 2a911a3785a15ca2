// The native engine on a compact schedule: what a link sends next is the next entry of its own
// list, and it may go when its node holds the chunk. Memory beside the schedule: one bit per
// (chunk, node) and what is in flight; nothing per transfer. Expanding the schedule and replaying
// the list takes 3.4 times as long (native_ring_all_gather_compact against ..._expanded, 516,096
// transfers: 15.5 and 53 ms, medians of CPU time) and 25 bytes a transfer more at the peak (4.1
// million transfers), which is why the recurrence stands here once more, for single hops only.

#include "sim/engines/engine.hpp"
#include "sim/engines/event_queue.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tutti {

namespace {

/// What an event looks at lies close together: links are numbered by sender here (OutLink), so that
/// those which may send on what has arrived are neighbours, and held chunks lie by node.
template <typename ChunkNumber> class CompactRun {
public:
  CompactRun(const Topology& topology, const Collective& collective,
             const CompactSchedule& schedule, const std::vector<ChunkNumber>& chunks,
             const TimeModel& model, const Watch& watch)
      : topology_(topology), schedule_(schedule), chunks_(chunks),
        latency_occupies_(model.link_busy == LinkBusy::latency_and_serialization), steps_(watch),
        row_(collective.chunks.size()), held_(row_ * topology.node_count()) {
    report_.engine = "native";
    report_.model = model;
    report_.links.resize(topology.link_count());
    report_.chunk_done.resize(collective.chunks.size());
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
      sizes_.push_back(collective.chunks[c].size);
      for (const NodeId source : collective.sources(ChunkId{c})) held_[bit(c, source)] = true;
    }
    for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
      first_out_link_.push_back(static_cast<std::uint32_t>(out_links_.size()));
      for (const LinkId id : topology.out_links(NodeId{n})) {
        const Link& link = topology.link(id);
        out_links_.push_back({.next = schedule.begin[id.value],
                              .end = schedule.end[id.value],
                              .latency = link.latency,
                              .from = link.from,
                              .to = link.to,
                              .link = id});
      }
    }
    first_out_link_.push_back(static_cast<std::uint32_t>(out_links_.size()));
    awaited_chunk_.assign(out_links_.size(), none);
  }

  Report run() {
    for (std::uint32_t l = 0; l < out_links_.size(); ++l) prepare_next(l, 0);
    while (events_.next_time() != EventQueue::never) {
      const Event event = events_.pop();
      if (event.kind == arrival)
        arrive(event.subject, event.at);
      else
        start(event.subject, event.at);
      steps_.take(1, [this] { return WorkProgress{arrived_, chunks_.size()}; });
    }
    require_all_sent();
    sum_up_use();
    return std::move(report_);
  }

private:
  enum Kind : std::uint32_t { arrival, link_free };
  static constexpr std::uint32_t none = UINT32_MAX;

  struct OutLink {
    std::size_t next = 0, end = 0; // positions in the schedule: to send, one past the last
    std::int64_t free_at = 0;
    Bytes last_size{};
    std::int64_t last_duration = 0;
    Time latency{};
    NodeId from, to;
    LinkId link;
    std::uint32_t in_flight = 0; // sent and not there yet: those before `next`
  };
  static_assert(sizeof(OutLink) == 64);

  void require_all_sent() const {
    const OutLink* stuck = nullptr; // the one of the lowest link
    for (const OutLink& out : out_links_)
      if (out.next < out.end && (!stuck || out.link < stuck->link)) stuck = &out;
    if (stuck)
      throw InputError(fmt::format("chunk {} never reaches {}, which has to send it to {}",
                                   chunks_[stuck->next], topology_.node(stuck->from).name,
                                   topology_.node(stuck->to).name));
  }

  [[nodiscard]] std::size_t bit(std::size_t chunk, NodeId node) const {
    return row_ * node.value + chunk;
  }

  /// The link waits until it is free, or for the chunk that it sends next.
  void prepare_next(std::uint32_t id, std::int64_t now) {
    const OutLink& out = out_links_[id];
    if (out.next == out.end) return;
    const ChunkNumber chunk = chunks_[out.next];
    if (held_[bit(chunk, out.from)])
      events_.push(now, {std::max(now, out.free_at), id, link_free});
    else
      awaited_chunk_[id] = chunk;
  }

  void start(std::uint32_t id, std::int64_t now) {
    OutLink& out = out_links_[id];
    const Bytes size = sizes_[chunks_[out.next++]];
    ++out.in_flight;
    if (size != out.last_size) {
      out.last_size = size;
      out.last_duration = serialization(size, topology_.link(out.link).bandwidth).ps;
    }
    const std::int64_t sent = now + out.last_duration;
    require_representable(sent, out.latency);
    out.free_at = sent + (latency_occupies_ ? out.latency.ps : 0);
    events_.push(now, {sent + out.latency.ps, id, arrival});
    prepare_next(id, now);
  }

  void arrive(std::uint32_t id, std::int64_t now) {
    OutLink& out = out_links_[id];
    const ChunkNumber chunk = chunks_[out.next - out.in_flight--];
    ++arrived_;
    held_[bit(chunk, out.to)] = true;
    report_.chunk_done[chunk] = report_.completion = Time{now}; // events come by time
    const std::uint32_t end = first_out_link_[out.to.value + std::size_t{1}];
    for (std::uint32_t next = first_out_link_[out.to.value]; next < end; ++next) {
      if (awaited_chunk_[next] != chunk) continue;
      awaited_chunk_[next] = none;
      if (out_links_[next].free_at <= now)
        start(next, now);
      else
        events_.push(now, {out_links_[next].free_at, next, link_free});
    }
  }

  /// What every link has carried, in one pass over the schedule.
  void sum_up_use() {
    for (const OutLink& out : out_links_) {
      LinkUse& use = report_.links[out.link.value];
      const Link& link = topology_.link(out.link);
      const std::size_t begin = schedule_.begin[out.link.value];
      Bytes last_size;
      Time last_busy;
      for (std::size_t i = begin; i < out.end; ++i) {
        const Bytes size = sizes_[chunks_[i]];
        if (size != last_size) {
          last_size = size;
          last_busy = serialization(size, link.bandwidth);
          if (latency_occupies_) last_busy += link.latency;
        }
        use.bytes += size;
        use.busy += last_busy;
      }
      use.transfers = out.end - begin;
      report_.link_transfers += use.transfers;
    }
  }

  const Topology& topology_;
  const CompactSchedule& schedule_;
  const std::vector<ChunkNumber>& chunks_;
  bool latency_occupies_;
  WatchedSteps steps_;
  std::uint64_t arrived_ = 0; // transfers
  Report report_;
  std::vector<Bytes> sizes_;                  // per chunk
  std::vector<OutLink> out_links_;            // by sender, then link
  std::vector<std::uint32_t> first_out_link_; // per node, and one past the end
  std::vector<std::uint32_t> awaited_chunk_;  // per link: whose arrival starts it; none: no such
  std::size_t row_;
  std::vector<bool> held_; // by node, then chunk
  EventQueue events_;
};

/// Whether order across links decides nothing: no link shares bandwidth, and every node stores what
/// it sends on.
bool links_are_independent(const Topology& topology) {
  return topology.groups().empty() &&
         std::ranges::all_of(topology.nodes(), [](const Node& node) { return node.can.store; });
}

} // namespace

Report run_native_compact(const Topology& topology, const Collective& collective,
                          const CompactSchedule& schedule, const TimeModel& model,
                          const Watch& watch) {
  if (model.discipline == Discipline::fifo && links_are_independent(topology))
    return std::visit(
        [&](const auto& chunks) {
          return CompactRun(topology, collective, schedule, chunks, model, watch).run();
        },
        schedule.chunks);
  RunOptions options;
  options.watch = watch;
  return run_native(topology, collective, expanded(topology, collective, schedule), model, options);
}

} // namespace tutti
