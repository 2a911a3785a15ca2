// The native engine on a compact schedule: what a link sends next is the next entry of its own
// list, and it may go when its node holds the chunk. Memory beside the schedule: one bit per
// (chunk, node) and what is in flight; nothing per transfer.

#include "sim/engines/engine.hpp"
#include "sim/engines/event_queue.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tutti {

namespace {

template <typename ChunkNumber> class CompactRun {
public:
  CompactRun(const Topology& topology, const Collective& collective,
             const CompactSchedule& schedule, const std::vector<ChunkNumber>& chunks,
             const TimeModel& model)
      : topology_(topology), collective_(collective), schedule_(schedule), chunks_(chunks),
        latency_occupies_(model.link_busy == LinkBusy::latency_and_serialization),
        links_(topology.link_count()), row_(collective.chunks.size()),
        held_(row_ * topology.node_count()) {
    report_.engine = "native";
    report_.model = model;
    report_.links.resize(topology.link_count());
    report_.chunk_done.resize(collective.chunks.size());
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
      for (const NodeId holder : collective.held_by(ChunkId{c})) held_[bit(c, holder)] = true;
    for (std::uint32_t l = 0; l < links_.size(); ++l)
      links_[l].next = links_[l].landed = schedule.begin[l];
  }

  Report run() {
    for (std::uint32_t l = 0; l < links_.size(); ++l)
      if (can_send(LinkId{l})) start(LinkId{l}, 0);
    while (events_.next_time() != EventQueue::never) {
      const Event event = events_.pop();
      const LinkId id{event.subject};
      if (event.kind == arrival) {
        arrive(id, event.at);
      } else {
        links_[id.value].awaited = false;
        start(id, event.at);
      }
    }
    require_all_sent();
    return std::move(report_);
  }

private:
  enum Kind : std::uint32_t { arrival, link_free };

  struct LinkState {
    std::size_t next = 0, landed = 0; // positions in the schedule: to send, to arrive
    std::int64_t free_at = 0;
    Bytes last_size;
    std::int64_t last_duration = 0;
    bool awaited = false;
  };

  void require_all_sent() const {
    for (std::uint32_t l = 0; l < links_.size(); ++l)
      if (links_[l].next < schedule_.end[l])
        throw InputError(fmt::format("chunk {} never reaches {}, which has to send it to {}",
                                     chunks_[links_[l].next],
                                     topology_.node(topology_.link(LinkId{l}).from).name,
                                     topology_.node(topology_.link(LinkId{l}).to).name));
  }

  /// By node, then chunk: what an arrival looks at is all in its node's row.
  [[nodiscard]] std::size_t bit(std::size_t chunk, NodeId node) const {
    return row_ * node.value + chunk;
  }

  [[nodiscard]] bool can_send(LinkId id) const {
    const std::size_t next = links_[id.value].next;
    return next < schedule_.end[id.value] && held_[bit(chunks_[next], topology_.link(id).from)];
  }

  void start(LinkId id, std::int64_t now) {
    LinkState& state = links_[id.value];
    const Link& link = topology_.link(id);
    const Bytes size = collective_.chunks[chunks_[state.next++]].size;
    if (size != state.last_size) {
      state.last_size = size;
      state.last_duration = serialization(size, link.bandwidth).ps;
    }
    const std::int64_t sent = now + state.last_duration;
    require_representable(sent, link.latency);
    state.free_at = sent + (latency_occupies_ ? link.latency.ps : 0);
    LinkUse& use = report_.links[id.value];
    use.bytes += size;
    use.busy += Time{state.free_at - now};
    ++use.transfers;
    ++report_.link_transfers;
    events_.push(now, {sent + link.latency.ps, id.value, arrival});
    if (can_send(id)) await(id, now);
  }

  void await(LinkId id, std::int64_t now) {
    links_[id.value].awaited = true;
    events_.push(now, {links_[id.value].free_at, id.value, link_free});
  }

  void arrive(LinkId id, std::int64_t now) {
    const ChunkNumber chunk = chunks_[links_[id.value].landed++];
    const NodeId node = topology_.link(id).to;
    held_[bit(chunk, node)] = true;
    report_.chunk_done[chunk] = report_.completion = Time{now}; // events come by time
    for (const LinkId out : topology_.out_links(node)) {
      const LinkState& state = links_[out.value];
      if (state.awaited || state.next == schedule_.end[out.value] || chunks_[state.next] != chunk)
        continue;
      if (state.free_at <= now)
        start(out, now);
      else
        await(out, now);
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  const CompactSchedule& schedule_;
  const std::vector<ChunkNumber>& chunks_;
  bool latency_occupies_;
  Report report_;
  std::vector<LinkState> links_;
  std::size_t row_;
  std::vector<bool> held_;
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
                          const CompactSchedule& schedule, const TimeModel& model) {
  if (model.discipline == Discipline::fifo && links_are_independent(topology))
    return std::visit(
        [&](const auto& chunks) {
          return CompactRun(topology, collective, schedule, chunks, model).run();
        },
        schedule.chunks);
  return run_native(topology, collective, expanded(topology, collective, schedule), model);
}

} // namespace tutti
